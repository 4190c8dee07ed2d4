// FP32 products by tensor cores: `split_fp16`. Each float becomes two FP16 numbers (split_pair.h),
// and three products of them are summed.
//
// Three FP16 products at 750 TFLOP/s are 250 TFLOP/s of FP32, where the FP32 units have 67. A
// product of 4096 takes 649 us, some 100 of them for the split; cuBLAS 2690.

#include "matmul/device/split_by_work.h"
#include "matmul/device/split_launch.h"
#include "matmul/device/split_pair.h"

namespace stridewise {

LaunchStatus MatMulSplitFp16(const MatMulArgs& args) {
  return MatMulSplit<Fp16Pair>(args, LaunchSplitByWork<Fp16Pair>);
}

int64_t MatMulSplitFp16WorkspaceBytes(const MatMulArgs& args) {
  return MatMulSplitBytes<Fp16Pair>(args);
}

}  // namespace stridewise
