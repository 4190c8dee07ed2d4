// A transpose past the caches, for results that the caches do not hold.

#ifndef STRIDEWISE_TRANSPOSE_CPU_STREAMED_H_
#define STRIDEWISE_TRANSPOSE_CPU_STREAMED_H_

#include <cstdint>

namespace stridewise {

// What tiles are made for, since memory likes other accesses on other processors.
enum class StreamedTiling { kIntel, kAmd };

// Returns kAmd on AMD's processors, asked once. Others, NEON among them, have what Xeons have.
StreamedTiling TilingOfProcessor();

// A matrix and its transpose; distances of rows in bytes. Elements have 1, 2, 4, 8 or 16 bytes.
struct StreamedTranspose {
  const uint8_t* in;
  int64_t ld_in;
  uint8_t* out;
  int64_t ld_out;
  int64_t rows;  // Of the input.
  int64_t cols;
  int64_t element_bytes;
  StreamedTiling tiling = TilingOfProcessor();
};

// Returns the number of tiles that a transpose is cut into.
int64_t CountStreamedTiles(const StreamedTranspose& transpose);

// Transposes tiles [first, end) on the calling thread. Other threads see the result when it
// returns.
void TransposeStreamed(const StreamedTranspose& transpose, int64_t first, int64_t end);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_CPU_STREAMED_H_
