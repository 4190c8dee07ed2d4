// How a product is divided among threads.

#ifndef STRIDEWISE_MATMUL_CPU_THREADS_H_
#define STRIDEWISE_MATMUL_CPU_THREADS_H_

#include <cstdint>

namespace stridewise {

// A grid of parts of C, one for each thread.
struct ThreadGrid {
  int64_t rows = 1;
  int64_t cols = 1;
};

// Returns the grid for a product on at most `threads` threads; fewer where a thread would have less
// than 2 million multiplications and additions.
ThreadGrid ChooseThreadGrid(int64_t m, int64_t n, int64_t k, int threads);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_CPU_THREADS_H_
