// Products of floats, rounded to TF32, with up to 64 rows or columns as TensorDecode takes them:
// where the large operand lies along k, as wgmma needs it. The few are turned first where they do
// not. tensor_tf32's tiles have 256 rows for two blocks, of which 64 columns leave most idle:
// 4096 x 64 x 14336 takes 165 us so on an H100, and cuBLAS 95.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_DECODE_TF32_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_DECODE_TF32_H_

#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "common/base/matrix.h"
#include "common/gpu/device_model.h"
#include "matmul/args.h"
#include "matmul/device/operand_packing.h"
#include "matmul/device/tensor/decode_plan.h"
#include "matmul/device/tensor_map.h"

namespace stridewise {

class Tf32DecodeCall {
 public:
  Tf32DecodeCall(const MatMulArgs& args, const DeviceModel& device)
      : args_(args),
        few_are_columns_(args.n < args.m),
        few_(few_are_columns_ ? args.B<float>() : args.A<float>(),
             MatrixCount(args.batch, Few().stride),
             /*transposes=*/Few().transposed != few_are_columns_) {
    if (!Takes(device)) return;
    plan_ = PlanTensorDecode(PackedIn(nullptr), device, kDecodeTf32Cols);
  }

  // Returns whether TensorDecode takes the call, with a workspace of WorkspaceBytes().
  bool IsTaken() const { return plan_.cols > 0; }
  int64_t WorkspaceBytes() const { return few_.Bytes(); }

  const DecodePlan& plan() const { return plan_; }

  // Queues the copy of the few, if they need one, to the call's workspace.
  absl::Status LaunchCopy() const { return few_.Launch(args_.workspace, args_.stream); }

  // Returns the call with its few along k.
  MatMulArgs Packed() const { return PackedIn(args_.workspace); }

 private:
  const MatMulInput& Few() const { return few_are_columns_ ? args_.b : args_.a; }
  const MatMulInput& Many() const { return few_are_columns_ ? args_.a : args_.b; }

  bool Takes(const DeviceModel& device) const {
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    // What a copy of the few has to be worth.
    constexpr int64_t kLeastElements = 1 << 22;
    const int64_t many = few_are_columns_ ? args_.m : args_.n;
    const bool along_k = Many().transposed != few_are_columns_;
    const ConstMatrix<float> stored = few_are_columns_ ? args_.A<float>() : args_.B<float>();
    return device.compute_capability == 90 && TensorDecodeTakes(args_) && args_.k > 0 &&
           args_.k <= kMost && many <= kMost && static_cast<float>(args_.alpha) != 0 && along_k &&
           HasTensorMap(stored, MatrixCount(args_.batch, Many().stride)) && few_.IsOneLaunch() &&
           (few_.Bytes() == 0 || many * args_.k * args_.batch >= kLeastElements);
  }

  MatMulArgs PackedIn(const void* workspace) const {
    MatMulArgs args = args_;
    if (few_.Bytes() == 0) return args;
    const ConstMatrix<float> packed = few_.Packed(workspace);
    MatMulInput& few = few_are_columns_ ? args.b : args.a;
    few.data = packed.data;
    few.ld = packed.ld;
    few.stride = few_.PackedMatrices().stride;
    few.transposed = few_are_columns_;
    return args;
  }

  MatMulArgs args_;
  bool few_are_columns_;
  OperandPacking<float> few_;
  DecodePlan plan_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_DECODE_TF32_H_
