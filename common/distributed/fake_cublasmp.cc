// A libcublasmp.so of tests, on the host, whose ranks are threads: the functions of
// cublasmp_library.h and none of the speed. Ranks show each other their parts and read what they
// need of them. What the library would refuse is refused.

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "common/distributed/block_cyclic.h"
#include "common/distributed/cublasmp_library.h"
#include "common/distributed/fake_nccl_world.h"

namespace stridewise {
namespace {

// LocalExtent(), whose library links what a shared library of tests cannot.
int64_t CountOwned(const BlockCyclicDimension& dimension, int64_t part) {
  int64_t count = 0;
  for (int64_t i = 0; i < dimension.extent; ++i) count += dimension.Owner(i) == part ? 1 : 0;
  return count;
}

constexpr auto kInvalidValue = static_cast<CublasMpStatus>(3);
constexpr size_t kWorkspaceBytes = 64;

// A part of a matrix, column-major.
struct Shown {
  const void* data = nullptr;
  int64_t ld = 0;
};

// What the ranks of a communicator have shown in their calls, by the number of the call.
struct Table {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<int64_t, std::map<int, std::vector<Shown>>> shown;
  std::map<int64_t, int> left;
};

std::mutex tables_mutex;
std::map<const void*, std::shared_ptr<Table>>& Tables() {
  static auto& tables = *new std::map<const void*, std::shared_ptr<Table>>;
  return tables;
}

}  // namespace

struct CublasMpHandleState {};

struct CublasMpGridState {
  int64_t rows = 0, cols = 0;
  FakeNcclRank rank;
  std::shared_ptr<Table> table;
  int64_t calls = 0;
};

struct CublasMpMatrixState {
  BlockCyclicDimension rows, cols;
  int64_t ld = 0;
  CublasMpType type = kCublasMpFloat;
  CublasMpGridState* grid = nullptr;
};

namespace {

// Calls read(parts) with the parts of all ranks, which none of them changes meanwhile, and then,
// when all have read, write().
template <typename Read, typename Write>
void Together(CublasMpGridState* grid, std::vector<Shown> mine, Read read, Write write) {
  Table& table = *grid->table;
  const int64_t call = grid->calls++;
  const auto ranks = static_cast<size_t>(grid->rank.size);
  std::map<int, std::vector<Shown>> parts;
  {
    std::unique_lock<std::mutex> lock(table.mutex);
    table.shown[call][grid->rank.rank] = std::move(mine);
    table.changed.notify_all();
    table.changed.wait(lock, [&] { return table.shown[call].size() == ranks; });
    parts = table.shown[call];
  }
  read(parts);
  {
    std::unique_lock<std::mutex> lock(table.mutex);
    ++table.left[call];
    table.changed.notify_all();
    table.changed.wait(lock, [&] { return table.left[call] == grid->rank.size; });
  }
  write();
}

// Returns an element of the matrix that is number `which` of what ranks have shown.
template <typename T>
T Element(const std::map<int, std::vector<Shown>>& parts, size_t which,
          const CublasMpMatrixState& matrix, int64_t row, int64_t col) {
  const auto rank =
      static_cast<int>(matrix.rows.Owner(row) + matrix.cols.Owner(col) * matrix.grid->rows);
  const Shown& part = parts.at(rank)[which];
  return static_cast<const T*>(
      part.data)[matrix.rows.LocalIndex(row) + matrix.cols.LocalIndex(col) * part.ld];
}

// Computes the local part of `c` from value(parts, global row, global column).
template <typename T, typename Value>
void Compute(const CublasMpMatrixState& c, T* data, std::vector<Shown> mine, Value value) {
  const int64_t my_row = c.grid->rank.rank % c.grid->rows;
  const int64_t my_col = c.grid->rank.rank / c.grid->rows;
  const int64_t rows = CountOwned(c.rows, my_row);
  const int64_t cols = CountOwned(c.cols, my_col);
  std::vector<T> result(rows * cols);
  Together(
      c.grid, std::move(mine),
      [&](const std::map<int, std::vector<Shown>>& parts) {
        for (int64_t i = 0; i < rows * cols; ++i) {
          result[i] = value(parts, c.rows.GlobalIndex(my_row, i % rows),
                            c.cols.GlobalIndex(my_col, i / rows));
        }
      },
      [&] {
        for (int64_t i = 0; i < rows * cols; ++i) data[i % rows + i / rows * c.ld] = result[i];
      });
}

template <typename T>
CublasMpStatus Add(int64_t m, int64_t n, const void* alpha, const void* a, CublasMpMatrix a_matrix,
                   const void* beta, void* c, CublasMpMatrix c_matrix) {
  const T factor = *static_cast<const T*>(alpha);
  if (*static_cast<const T*>(beta) != 0) return kInvalidValue;
  if (m != c_matrix->rows.extent || n != c_matrix->cols.extent) return kInvalidValue;
  if (a_matrix->rows.extent != n || a_matrix->cols.extent != m) return kInvalidValue;
  if (a_matrix->rows.block != c_matrix->cols.block) return kInvalidValue;
  if (a_matrix->cols.block != c_matrix->rows.block) return kInvalidValue;
  Compute(*c_matrix, static_cast<T*>(c), {{a, a_matrix->ld}},
          [&](const auto& parts, int64_t row, int64_t col) {
            return factor * Element<T>(parts, 0, *a_matrix, col, row);
          });
  return kCublasMpSuccess;
}

}  // namespace

extern "C" {

CublasMpStatus cublasMpGetVersion(int* version) {
  *version = kCublasMpOfSeveralGpus;
  return kCublasMpSuccess;
}

CublasMpStatus cublasMpCreate(CublasMpHandle* handle, cudaStream_t /*stream*/) {
  *handle = new CublasMpHandleState;
  return kCublasMpSuccess;
}

CublasMpStatus cublasMpDestroy(CublasMpHandle handle) {
  delete handle;
  return kCublasMpSuccess;
}

CublasMpStatus cublasMpGridCreate(int64_t rows, int64_t cols, CublasMpGridLayout layout,
                                  NcclComm comm, CublasMpGridHandle* grid) {
  const FakeNcclRank rank = RankOfFakeNccl(comm);
  if (rows * cols != rank.size || layout != kCublasMpColumnMajor) return kInvalidValue;
  auto* const made = new CublasMpGridState{rows, cols, rank, nullptr, 0};
  const std::lock_guard<std::mutex> lock(tables_mutex);
  std::shared_ptr<Table>& table = Tables()[rank.world];
  if (table == nullptr) table = std::make_shared<Table>();
  made->table = table;
  *grid = made;
  return kCublasMpSuccess;
}

CublasMpStatus cublasMpGridDestroy(CublasMpGridHandle grid) {
  delete grid;
  return kCublasMpSuccess;
}

CublasMpStatus cublasMpMatrixDescriptorCreate(int64_t m, int64_t n, int64_t m_block,
                                              int64_t n_block, int64_t first_row, int64_t first_col,
                                              int64_t ld, CublasMpType type,
                                              CublasMpGridHandle grid, CublasMpMatrix* matrix) {
  if (m_block < 1 || n_block < 1 || first_row != 0 || first_col != 0) return kInvalidValue;
  auto made = std::make_unique<CublasMpMatrixState>();
  made->rows = {m, m_block, grid->rows};
  made->cols = {n, n_block, grid->cols};
  made->ld = ld;
  made->type = type;
  made->grid = grid;
  const int64_t local_rows = CountOwned(made->rows, grid->rank.rank % grid->rows);
  if (ld < std::max<int64_t>(local_rows, 1)) return kInvalidValue;
  *matrix = made.release();
  return kCublasMpSuccess;
}

CublasMpStatus cublasMpMatrixDescriptorDestroy(CublasMpMatrix matrix) {
  delete matrix;
  return kCublasMpSuccess;
}

CublasMpStatus cublasMpGemm_bufferSize(CublasMpHandle, CublasMpOperation, CublasMpOperation,
                                       int64_t, int64_t, int64_t, const void*, const void*, int64_t,
                                       int64_t, CublasMpMatrix a, const void*, int64_t, int64_t,
                                       CublasMpMatrix b, const void*, void*, int64_t, int64_t,
                                       CublasMpMatrix, CublasMpCompute, size_t* device_bytes,
                                       size_t* host_bytes) {
  if (a->type != kCublasMpFloat || b->type != kCublasMpFloat) return kInvalidValue;
  *device_bytes = kWorkspaceBytes;
  *host_bytes = kWorkspaceBytes;
  return kCublasMpSuccess;
}

CublasMpStatus cublasMpGemm(CublasMpHandle, CublasMpOperation a_operation,
                            CublasMpOperation b_operation, int64_t m, int64_t n, int64_t k,
                            const void* alpha, const void* a, int64_t a_row, int64_t a_col,
                            CublasMpMatrix a_matrix, const void* b, int64_t b_row, int64_t b_col,
                            CublasMpMatrix b_matrix, const void* beta, void* c, int64_t c_row,
                            int64_t c_col, CublasMpMatrix c_matrix, CublasMpCompute compute,
                            void* device, size_t device_bytes, void* host, size_t host_bytes) {
  if (a_operation != kCublasMpN || b_operation != kCublasMpN) return kInvalidValue;
  for (const int64_t first : {a_row, a_col, b_row, b_col, c_row, c_col}) {
    if (first != 1) return kInvalidValue;
  }
  if (m != a_matrix->rows.extent || k != a_matrix->cols.extent || k != b_matrix->rows.extent ||
      n != b_matrix->cols.extent || m != c_matrix->rows.extent || n != c_matrix->cols.extent) {
    return kInvalidValue;
  }
  if (compute != kCublasMpCompute32F || c_matrix->type != kCublasMpFloat) return kInvalidValue;
  if (device == nullptr || device_bytes != kWorkspaceBytes || host == nullptr ||
      host_bytes != kWorkspaceBytes || *static_cast<const float*>(beta) != 0) {
    return kInvalidValue;
  }
  const float factor = *static_cast<const float*>(alpha);
  Compute(*c_matrix, static_cast<float*>(c), {{a, a_matrix->ld}, {b, b_matrix->ld}},
          [&](const auto& parts, int64_t row, int64_t col) {
            float sum = 0;
            for (int64_t i = 0; i < k; ++i) {
              sum += Element<float>(parts, 0, *a_matrix, row, i) *
                     Element<float>(parts, 1, *b_matrix, i, col);
            }
            return factor * sum;
          });
  return kCublasMpSuccess;
}

CublasMpStatus cublasMpGeadd_bufferSize(CublasMpHandle, CublasMpOperation, int64_t, int64_t,
                                        const void*, const void*, int64_t, int64_t, CublasMpMatrix,
                                        const void*, void*, int64_t, int64_t, CublasMpMatrix,
                                        size_t* device_bytes, size_t* host_bytes) {
  *device_bytes = kWorkspaceBytes;
  *host_bytes = 0;
  return kCublasMpSuccess;
}

CublasMpStatus cublasMpGeadd(CublasMpHandle, CublasMpOperation operation, int64_t m, int64_t n,
                             const void* alpha, const void* a, int64_t a_row, int64_t a_col,
                             CublasMpMatrix a_matrix, const void* beta, void* c, int64_t c_row,
                             int64_t c_col, CublasMpMatrix c_matrix, void* device,
                             size_t device_bytes, void* host, size_t host_bytes) {
  if (operation != kCublasMpT || a_matrix->type != c_matrix->type) return kInvalidValue;
  if (a_row != 1 || a_col != 1 || c_row != 1 || c_col != 1) return kInvalidValue;
  if (device == nullptr || device_bytes != kWorkspaceBytes || host == nullptr || host_bytes != 0) {
    return kInvalidValue;
  }
  const auto add = c_matrix->type == kCublasMpFloat ? Add<float> : Add<double>;
  return add(m, n, alpha, a, a_matrix, beta, c, c_matrix);
}

}  // extern "C"

}  // namespace stridewise
