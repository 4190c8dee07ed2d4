// Work on the rows of large matrices of the host, on as many threads as host implementations use.

#ifndef STRIDEWISE_COMMON_BASE_PARALLEL_ROWS_H_
#define STRIDEWISE_COMMON_BASE_PARALLEL_ROWS_H_

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

#include "common/base/host_threads.h"

namespace stridewise {

// Calls run(first, last) for ranges that together are 0 to rows - 1, at the same time on threads of
// their own, and returns when all have returned. `cols` elements make a row's work: a thread has a
// million of them or more, which takes it a millisecond, twenty times what starting it takes.
template <typename Run>
void ForRowsInParallel(int64_t rows, int64_t cols, const Run& run) {
  constexpr int64_t kElementsOfThread = int64_t{1} << 20;
  const int64_t threads = std::clamp<int64_t>(rows * cols / kElementsOfThread, 1,
                                              std::min<int64_t>(HostThreads(), rows + 1));
  std::vector<std::thread> others;
  for (int64_t i = 1; i < threads; ++i) {
    others.emplace_back([&, i] { run(rows * i / threads, rows * (i + 1) / threads); });
  }
  run(int64_t{0}, rows / threads);
  for (std::thread& other : others) other.join();
}

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_PARALLEL_ROWS_H_
