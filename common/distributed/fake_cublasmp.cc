// A libcublasmp.so of tests, on the host, whose ranks are threads: the functions of
// cublasmp_library.h and none of the speed. Ranks show each other their parts and read what they
// need of them. What the library would refuse is refused. Here are its objects;
// fake_cublasmp_calls.cc computes.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>

#include "common/distributed/cublasmp_library.h"
#include "common/distributed/fake_cublasmp_grid.h"
#include "common/distributed/fake_nccl_world.h"

namespace stridewise {
namespace {

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

std::mutex tables_mutex;
std::map<const void*, std::shared_ptr<Table>>& Tables() {
  static auto& tables = *new std::map<const void*, std::shared_ptr<Table>>;
  return tables;
}

}  // namespace

extern "C" {

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

}  // extern "C"

}  // namespace stridewise
