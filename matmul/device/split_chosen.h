// The choice between two schemes of split_scheme.h for a whole call, made on the device: the parts
// of INT8, which are written first, are multiplied where they are good enough for all rows of op(A)
// and columns of op(B). Else the operands are split again, as pairs of FP16, into the same memory.
// Kernels of both schemes are queued, and those of the one that was not chosen end at once, so that
// the host learns nothing and the call can be captured into a graph.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_CHOSEN_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_CHOSEN_H_

#include <cstdint>

#include "matmul/device/split_scheme.h"

namespace stridewise {

// The word that says which scheme the call takes: 1 where all rows are flat enough for INT8.
using RowsAreFlat = uint32_t;

// Whether the kernel that is given it has something to do.
struct IfChosen {
  const RowsAreFlat* rows_are_flat;
  RowsAreFlat wanted;

  __device__ bool operator()() const { return *rows_are_flat == wanted; }
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_CHOSEN_H_
