// Products of floats between TF32 and FP32 by tensor cores: `split_fp8`. Each float becomes an FP16
// number and two FP8 numbers (split_fp8.h), which keep 16 bits of it; one FP16 product and two FP8
// products of them are summed.
//
// An FP16 product at 700 TFLOP/s and two FP8 products at 1400 are 350 TFLOP/s, where three FP16
// products are 233.

#include "matmul/device/split_fp8.h"
#include "matmul/device/split_launch.h"

namespace stridewise {

LaunchStatus MatMulSplitFp8(const MatMulArgs& args) { return MatMulSplit<Fp16AndFp8>(args); }

int64_t MatMulSplitFp8WorkspaceBytes(const MatMulArgs& args) {
  return MatMulSplitBytes<Fp16AndFp8>(args);
}

}  // namespace stridewise
