// FP32 products by tensor cores: `split_tf32`. Each float becomes two TF32 numbers (split_tf32.h),
// and three products of them are summed: half the rate of `split_fp16`, for numbers of a row that
// may lie 2^60 apart.
//
// Three TF32 products at 400 TFLOP/s are 133 TFLOP/s of FP32. The parts take twice as much memory
// as the operands.

#include "matmul/device/split_launch.h"
#include "matmul/device/split_tf32.h"

namespace stridewise {

LaunchStatus MatMulSplitTf32(const MatMulArgs& args) { return MatMulSplit<Tf32Pair>(args); }

int64_t MatMulSplitTf32WorkspaceBytes(const MatMulArgs& args) {
  return MatMulSplitBytes<Tf32Pair>(args);
}

}  // namespace stridewise
