// The transpose of blocks that lie in the caches, or that are read from memory once: of any shape,
// in registers, on the calling thread.

#ifndef STRIDEWISE_TRANSPOSE_CPU_BLOCK_H_
#define STRIDEWISE_TRANSPOSE_CPU_BLOCK_H_

#include <cstdint>

#include "transpose/cpu/matrix_transpose.h"

namespace stridewise {

// A block and its transpose.
struct BlockTranspose : MatrixTranspose {
  // What is this number of bytes behind the elements of the input is fetched to the caches.
  int64_t ahead = 0;
  // Likewise behind what is written, but not behind the block: where stores fill parts of two
  // lines, the processor fetches the second one only when it is stored to, which is several times
  // as slow.
  int64_t ahead_out = 0;
  // Whether it goes through all columns of a line of rows, then the next; else down all rows first.
  bool along_rows = false;
};

// Transposes `count` blocks, whose distances are in bytes.
void TransposeBlocks(const BlockTranspose& first, int64_t count = 1, int64_t stride_in = 0,
                     int64_t stride_out = 0);

// Transposes a block of at most a line of rows, and writes of each row of the output only what lies
// before the first line that begins in it, or, where `behind`, only the rest.
void TransposeEdge(const BlockTranspose& edge, bool behind);

// Copies bytes, whole lines of the destination past the caches. Other threads see them after
// EndStreaming().
void StreamCopy(const uint8_t* from, uint8_t* to, int64_t bytes);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_CPU_BLOCK_H_
