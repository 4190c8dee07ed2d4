// A transpose past the caches, for results that the caches do not hold.

#ifndef STRIDEWISE_TRANSPOSE_CPU_STREAMED_H_
#define STRIDEWISE_TRANSPOSE_CPU_STREAMED_H_

#include <cstdint>

#include "transpose/cpu/matrix_transpose.h"

namespace stridewise {

// What tiles are made for, since memory likes other accesses on other processors.
enum class StreamedTiling { kIntel, kAmd };

// Returns kAmd on AMD's processors, asked once. Others, NEON among them, have what Xeons have.
StreamedTiling TilingOfProcessor();

// A matrix and its transpose.
struct StreamedTranspose : MatrixTranspose {
  StreamedTiling tiling = TilingOfProcessor();
};

// Returns the number of tiles that a transpose is cut into.
int64_t CountStreamedTiles(const StreamedTranspose& transpose);

// Transposes tiles [first, end) on the calling thread. Other threads see the result when it
// returns.
void TransposeStreamed(const StreamedTranspose& transpose, int64_t first, int64_t end);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_CPU_STREAMED_H_
