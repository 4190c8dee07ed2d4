// How a product is divided among threads.

#ifndef STRIDEWISE_MATMUL_CPU_THREADS_H_
#define STRIDEWISE_MATMUL_CPU_THREADS_H_

#include <cstdint>

namespace stridewise {

// Parts of a product, one for each thread: of C, and `depth` along k, whose sums are added up.
struct ThreadGrid {
  int64_t rows = 1;
  int64_t cols = 1;
  int64_t depth = 1;

  int64_t parts() const { return rows * cols * depth; }
};

// What decides how a product is divided: its extents, and how operands are stored.
struct ProductShape {
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  bool transposed_a = false;
  bool transposed_b = false;
  bool is_bf16 = false;
};

// Large parts begin with multiples of a vector of floats, as tiles do.
inline constexpr int64_t kPartUnit = 16;

// Returns the first row or column of part `part` of `parts`; the extent itself for the part after
// the last.
int64_t FirstOfPart(int64_t extent, int64_t part, int64_t parts);

// Returns what a product takes, in operations: its own, and 16 for each element of its matrices.
double WorkOfProduct(int64_t m, int64_t n, int64_t k);

// Returns the grid of parts of C for a product on at most `threads` threads: one part for less than
// a million operations of work, and at most 16 where a part would have less than 300000.
ThreadGrid ChooseThreadGrid(const ProductShape& shape, int threads);

// Returns a grid with parts along k where that is faster than the grid `without` them: C is small,
// and every part of it would read most of A and B, or short pieces of B's rows. Else `without`.
ThreadGrid ChooseDepthGrid(const ProductShape& shape, const ThreadGrid& without, int threads);

// Returns the grid into which each of `batch` products is divided, so that `threads` threads, which
// take one part after the other, are done soonest.
ThreadGrid ChooseBatchGrid(int64_t m, int64_t n, int64_t batch, int64_t threads);

// Returns the height of the chunks that `threads` threads take in turn from m rows, of each of
// which work_of_row multiply-adds are computed at once: several for each thread, of whole panels of
// `panel` rows, at most 64 unless they are short.
int64_t ChunkRows(int64_t m, int64_t work_of_row, int64_t threads, int64_t panel = 8);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_CPU_THREADS_H_
