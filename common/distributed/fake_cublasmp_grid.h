// The objects of fake_cublasmp.cc, and how the ranks of a grid compute together.

#ifndef STRIDEWISE_COMMON_DISTRIBUTED_FAKE_CUBLASMP_GRID_H_
#define STRIDEWISE_COMMON_DISTRIBUTED_FAKE_CUBLASMP_GRID_H_

#include <atomic>
#include <condition_variable>
#include <cstddef>
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

inline constexpr auto kInvalidValue = static_cast<CublasMpStatus>(3);

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

// LocalExtent(), whose library links what a shared library of tests cannot.
inline int64_t CountOwned(const BlockCyclicDimension& dimension, int64_t part) {
  int64_t count = 0;
  for (int64_t i = 0; i < dimension.extent; ++i) count += dimension.Owner(i) == part ? 1 : 0;
  return count;
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

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_DISTRIBUTED_FAKE_CUBLASMP_GRID_H_
