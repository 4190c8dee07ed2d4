// Transposes of batches of matrices in host memory, out of place, on several threads.

#ifndef STRIDEWISE_TRANSPOSE_CPU_BATCH_H_
#define STRIDEWISE_TRANSPOSE_CPU_BATCH_H_

#include <cstdint>

#include "transpose/cpu/block.h"

namespace stridewise {

// `count` matrices of one shape, whose distances are in bytes.
struct BatchTranspose {
  BlockTranspose first;
  int64_t count = 1;
  int64_t stride_in = 0;
  int64_t stride_out = 0;

  // Of a matrix, without gaps.
  int64_t bytes() const { return first.rows * first.cols * first.element_bytes; }

  // Of all matrices, read and written ones together.
  double moved_bytes() const {
    return 2.0 * static_cast<double>(bytes()) * static_cast<double>(count);
  }
};

// Returns the batch of a call. `Args` has the members of TransposeArgs that say where matrices lie;
// its distances are in elements.
template <typename Args>
BatchTranspose BatchOf(const Args& args) {
  const int64_t bytes = args.element_bytes;
  const MatrixTranspose first = {static_cast<const uint8_t*>(args.in),
                                 args.ld_in * bytes,
                                 static_cast<uint8_t*>(args.out),
                                 args.ld_out * bytes,
                                 args.rows,
                                 args.cols,
                                 bytes};
  return {{first}, args.batch, args.stride_in * bytes, args.stride_out * bytes};
}

// Returns on how many of at most `most` threads these bytes are moved, read and written ones
// together.
int ThreadsForBytes(double bytes, int most);

// Returns whether these bytes, read and written ones together, are moved past the caches.
bool LeavesCaches(double bytes);

// Transposes a batch on at most `threads` threads of OpenMP: in the caches where it fits in, else
// past them.
void TransposeBatch(const BatchTranspose& batch, int threads);

// Transposes a batch of square matrices in place. REQUIRES: in == out, and the same distances on
// both sides.
void TransposeInPlace(const BatchTranspose& batch, int threads);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_CPU_BATCH_H_
