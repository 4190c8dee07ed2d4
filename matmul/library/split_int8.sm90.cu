// FP32 products by tensor cores: `split_int8`. Each float becomes three INT8 numbers
// (split_slices.h), and six products of them are summed exactly: half the time of six FP16
// products, and without promotions.
//
// Six INT8 products at 1600 TOP/s are 267 TFLOP/s of FP32. The error is relative to the largest
// element of a row, so that k is 2048 or more, and tiles of rows that are not flat take the FP32
// units.

#include "matmul/device/split_launch.h"
#include "matmul/device/split_slices.h"

namespace stridewise {

LaunchStatus MatMulSplitInt8(const MatMulArgs& args) { return MatMulSplit<Int8Slices>(args); }

int64_t MatMulSplitInt8WorkspaceBytes(const MatMulArgs& args) {
  return MatMulSplitBytes<Int8Slices>(args);
}

}  // namespace stridewise
