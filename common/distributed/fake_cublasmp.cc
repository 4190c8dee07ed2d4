// A libcublasmp.so of tests, on the host, whose ranks are threads: the functions of
// cublasmp_library.h and none of the speed. Ranks show each other their parts and read what they
// need of them. What the library would refuse is refused. Each call asks for workspaces whose sizes
// depend on its arguments, and writes all of both.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
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

// What a call does wrong; see FakeCublasMpDoes().
enum Fault : int { kNone = 0, kWritesBesideWorkspace = 1, kNeverEnds = 2 };
std::atomic<int> fault{kNone};
std::atomic<int> late_uses{0};
std::atomic<int> lonely_ends{0};

// All objects that were not destroyed: those of calls that never end are no leak.
std::mutex objects_mutex;
std::set<const void*>& Objects() {
  static auto& objects = *new std::set<const void*>;
  return objects;
}
template <typename T>
T* Made(T* object) {
  const std::lock_guard<std::mutex> lock(objects_mutex);
  Objects().insert(object);
  return object;
}
template <typename T>
void Destroy(T* object) {
  const std::lock_guard<std::mutex> lock(objects_mutex);
  Objects().erase(object);
  delete object;
}

// What a call that never ends still has.
std::mutex held_mutex;
std::vector<std::pair<char*, size_t>>& Held() {
  static auto& held = *new std::vector<std::pair<char*, size_t>>;
  return held;
}

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
  std::vector<NcclComm> comms;  // Of all ranks that made a grid.
  int ending = 0;               // Ranks that are ending theirs.
};

std::mutex tables_mutex;
std::map<const void*, std::shared_ptr<Table>>& Tables() {
  static auto& tables = *new std::map<const void*, std::shared_ptr<Table>>;
  return tables;
}

}  // namespace

struct CublasMpHandleState {
  std::atomic<int>* queued = nullptr;  // fake_nccl.cc says what a stream is.
};

struct CublasMpGridState {
  int64_t rows = 0, cols = 0;
  NcclComm comm = nullptr;
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

// Returns the bytes of a workspace, of which a call with other arguments asks for others.
size_t WorkspaceBytes(std::initializer_list<int64_t> extents,
                      std::initializer_list<const void*> arguments) {
  uint64_t hash = 1;
  for (const int64_t extent : extents) hash = hash * 31 + static_cast<uint64_t>(extent);
  for (const void* const argument : arguments) {
    hash = hash * 31 + reinterpret_cast<uintptr_t>(argument) / 4;
  }
  return 1 + hash % 5000;
}

// Uses the workspaces of a call. Returns false, if they are not those that it asked for.
bool UseWorkspaces(CublasMpHandle handle, size_t asked, void* device, size_t device_bytes,
                   void* host, size_t host_bytes) {
  if (device == nullptr || device_bytes != asked || host == nullptr || host_bytes != asked) {
    return false;
  }
  std::memset(device, 0x11, device_bytes);
  std::memset(host, 0x22, host_bytes);
  if (fault == kWritesBesideWorkspace) static_cast<char*>(host)[host_bytes] = 0x33;
  if (fault != kNeverEnds) return true;
  ++*handle->queued;
  const std::lock_guard<std::mutex> lock(held_mutex);
  Held().emplace_back(static_cast<char*>(host), host_bytes);
  return true;
}

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

// From now on calls write a byte behind their workspace on the host (1), leave work on the stream
// that never ends (2), or do nothing wrong (0).
void FakeCublasMpDoes(int wrong) { fault = wrong; }

// Writes to the workspaces of calls that never ended, which must still be there.
void FakeCublasMpWritesLate() {
  const std::lock_guard<std::mutex> lock(held_mutex);
  for (const auto& [data, bytes] : Held()) std::memset(data, 0x44, bytes);
}

// Returns how many objects were destroyed after a communicator of their grid's ranks.
int FakeCublasMpLateUses() { return late_uses; }

// Returns how many grids were destroyed while another of their ranks did something else.
int FakeCublasMpLonelyEnds() { return lonely_ends; }

CublasMpStatus cublasMpGetVersion(int* version) {
  *version = kCublasMpOfSeveralGpus;
  return kCublasMpSuccess;
}

CublasMpStatus cublasMpCreate(CublasMpHandle* handle, cudaStream_t stream) {
  *handle = Made(new CublasMpHandleState{reinterpret_cast<std::atomic<int>*>(stream)});
  return kCublasMpSuccess;
}

CublasMpStatus cublasMpDestroy(CublasMpHandle handle) {
  Destroy(handle);
  return kCublasMpSuccess;
}

CublasMpStatus cublasMpGridCreate(int64_t rows, int64_t cols, CublasMpGridLayout layout,
                                  NcclComm comm, CublasMpGridHandle* grid) {
  const FakeNcclRank rank = RankOfFakeNccl(comm);
  if (rows * cols != rank.size || layout != kCublasMpColumnMajor) return kInvalidValue;
  auto* const made = new CublasMpGridState{rows, cols, comm, rank, nullptr, 0};
  const std::lock_guard<std::mutex> lock(tables_mutex);
  std::shared_ptr<Table>& table = Tables()[rank.world];
  if (table == nullptr) table = std::make_shared<Table>();
  made->table = table;
  table->comms.push_back(comm);
  *grid = Made(made);
  return kCublasMpSuccess;
}

// All ranks enter it together.
CublasMpStatus cublasMpGridDestroy(CublasMpGridHandle grid) {
  Table& table = *grid->table;
  {
    std::unique_lock<std::mutex> lock(table.mutex);
    ++table.ending;
    table.changed.notify_all();
    const bool all = table.changed.wait_for(lock, std::chrono::seconds(2),
                                            [&] { return table.ending >= grid->rank.size; });
    if (!all) ++lonely_ends;
  }
  for (const NcclComm comm : table.comms) {
    if (!IsFakeNcclAlive(comm)) ++late_uses;
  }
  Destroy(grid);
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
  *matrix = Made(made.release());
  return kCublasMpSuccess;
}

CublasMpStatus cublasMpMatrixDescriptorDestroy(CublasMpMatrix matrix) {
  if (!IsFakeNcclAlive(matrix->grid->comm)) ++late_uses;
  Destroy(matrix);
  return kCublasMpSuccess;
}

CublasMpStatus cublasMpGemm_bufferSize(CublasMpHandle, CublasMpOperation, CublasMpOperation,
                                       int64_t m, int64_t n, int64_t k, const void* alpha,
                                       const void* a, int64_t, int64_t, CublasMpMatrix a_matrix,
                                       const void* b, int64_t, int64_t, CublasMpMatrix b_matrix,
                                       const void* beta, void* c, int64_t, int64_t,
                                       CublasMpMatrix c_matrix, CublasMpCompute,
                                       size_t* device_bytes, size_t* host_bytes) {
  if (a_matrix->type != kCublasMpFloat || b_matrix->type != kCublasMpFloat) return kInvalidValue;
  *device_bytes = *host_bytes =
      WorkspaceBytes({m, n, k}, {alpha, a, a_matrix, b, b_matrix, beta, c, c_matrix});
  return kCublasMpSuccess;
}

CublasMpStatus cublasMpGemm(CublasMpHandle handle, CublasMpOperation a_operation,
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
  const size_t asked =
      WorkspaceBytes({m, n, k}, {alpha, a, a_matrix, b, b_matrix, beta, c, c_matrix});
  if (!UseWorkspaces(handle, asked, device, device_bytes, host, host_bytes) ||
      *static_cast<const float*>(beta) != 0) {
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

CublasMpStatus cublasMpGeadd_bufferSize(CublasMpHandle, CublasMpOperation, int64_t m, int64_t n,
                                        const void* alpha, const void* a, int64_t, int64_t,
                                        CublasMpMatrix a_matrix, const void* beta, void* c, int64_t,
                                        int64_t, CublasMpMatrix c_matrix, size_t* device_bytes,
                                        size_t* host_bytes) {
  *device_bytes = *host_bytes = WorkspaceBytes({m, n}, {alpha, a, a_matrix, beta, c, c_matrix});
  return kCublasMpSuccess;
}

CublasMpStatus cublasMpGeadd(CublasMpHandle handle, CublasMpOperation operation, int64_t m,
                             int64_t n, const void* alpha, const void* a, int64_t a_row,
                             int64_t a_col, CublasMpMatrix a_matrix, const void* beta, void* c,
                             int64_t c_row, int64_t c_col, CublasMpMatrix c_matrix, void* device,
                             size_t device_bytes, void* host, size_t host_bytes) {
  if (operation != kCublasMpT || a_matrix->type != c_matrix->type) return kInvalidValue;
  if (a_row != 1 || a_col != 1 || c_row != 1 || c_col != 1) return kInvalidValue;
  const size_t asked = WorkspaceBytes({m, n}, {alpha, a, a_matrix, beta, c, c_matrix});
  if (!UseWorkspaces(handle, asked, device, device_bytes, host, host_bytes)) return kInvalidValue;
  const auto add = c_matrix->type == kCublasMpFloat ? Add<float> : Add<double>;
  return add(m, n, alpha, a, a_matrix, beta, c, c_matrix);
}

}  // extern "C"

}  // namespace stridewise
