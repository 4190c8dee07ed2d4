// What ldmatrix, stmatrix, movmatrix and mma compute, once all lanes of a warp have come to them.

#ifndef STRIDEWISE_COMMON_EXECUTOR_WARP_MATRICES_H_
#define STRIDEWISE_COMMON_EXECUTOR_WARP_MATRICES_H_

#include "common/executor/lane.h"
#include "common/executor/ptx/opcode.h"

namespace stridewise::executor {

// Of the 8x8 matrices of 16-bit elements.
inline constexpr int kMatrixRows = 8;
inline constexpr int kMatrixRowBytes = 16;

// Executes an instruction of matrices with the operands of a warp's `count` lanes: those that hold
// results are set, and rows in shared memory are read or written without a check. Other
// instructions do nothing.
void ExecuteMatrices(const PtxOpcode& opcode, Lane* lanes, int count);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_WARP_MATRICES_H_
