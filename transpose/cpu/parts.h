// How the matrices of a batch in the caches are divided among threads.

#ifndef STRIDEWISE_TRANSPOSE_CPU_PARTS_H_
#define STRIDEWISE_TRANSPOSE_CPU_PARTS_H_

#include <cstdint>

#include "transpose/cpu/batch.h"

namespace stridewise {

// Parts of each matrix.
struct Parts {
  int64_t rows = 1;
  int64_t cols = 1;

  int64_t count() const { return rows * cols; }
};

// Returns the parts with which the thread that has the most to do reads and writes the fewest
// lines. Parts of columns become whole rows of the output, which no other thread writes to, and are
// taken where there are enough columns; parts of rows where there are few, since pieces of a row of
// the input that are shorter than a line are read by several threads.
Parts ChooseParts(const BatchTranspose& batch, int threads);

// Transposes part `index` of a matrix on the calling thread. Parts of rows end where a line of
// each row of the output ends, which may be at another row of the input in each column, so that no
// line is written by two threads.
void TransposePart(const BlockTranspose& matrix, const Parts& parts, int64_t index);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_CPU_PARTS_H_
