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

// Large parts begin with multiples of a vector of floats, as tiles do.
inline constexpr int64_t kPartUnit = 16;

// Returns the first row or column of part `part` of `parts`; the extent itself for the part after
// the last.
int64_t FirstOfPart(int64_t extent, int64_t part, int64_t parts);

// Returns what a product takes, in operations: its own, and 16 for each element of its matrices.
double WorkOfProduct(int64_t m, int64_t n, int64_t k);

// Returns the grid for a product on at most `threads` threads: one for less than a million
// operations of work, and fewer where a thread would have less than 300000.
ThreadGrid ChooseThreadGrid(int64_t m, int64_t n, int64_t k, int threads);

// Returns the grid into which each of `batch` products is divided, so that `threads` threads, which
// take one part after the other, are done soonest.
ThreadGrid ChooseBatchGrid(int64_t m, int64_t n, int64_t batch, int64_t threads);

// Returns into how many parts along k a product is divided, each summed by one thread, where that
// is faster than the grid: C is small, and every part of a grid would read most of A and B. 1:
// none. So is a large A that is stored transposed (`transposed_a`) and multiplied with few vectors.
int64_t ChooseDepthParts(int64_t m, int64_t n, int64_t k, int threads, bool transposed_a);

// Returns the height of the chunks that `threads` threads take in turn from m rows, of each of
// which work_of_row multiply-adds are computed at once: several for each thread, of whole panels of
// so many rows, at most 64 unless they are short.
int64_t ChunkRows(int64_t m, int64_t work_of_row, int64_t threads, int64_t panel = 8);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_CPU_THREADS_H_
