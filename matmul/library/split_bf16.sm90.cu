// FP32 products by tensor cores: `split_bf16_6` and `split_bf16_9`. Each float becomes three BF16
// numbers (split_triple.h), and six or all nine products of them are summed: half or a third of the
// rate of `split_fp16`, for numbers of a row that may lie 2^60 apart.

#include "matmul/device/split_launch.h"
#include "matmul/device/split_triple.h"

namespace stridewise {

LaunchStatus MatMulSplitBf16Six(const MatMulArgs& args) { return MatMulSplit<Bf16Triple<6>>(args); }
int64_t MatMulSplitBf16SixWorkspaceBytes(const MatMulArgs& args) {
  return MatMulSplitBytes<Bf16Triple<6>>(args);
}

LaunchStatus MatMulSplitBf16Nine(const MatMulArgs& args) {
  return MatMulSplit<Bf16Triple<9>>(args);
}
int64_t MatMulSplitBf16NineWorkspaceBytes(const MatMulArgs& args) {
  return MatMulSplitBytes<Bf16Triple<9>>(args);
}

}  // namespace stridewise
