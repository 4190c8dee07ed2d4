// TF32 with few rows or columns: `tensor_few_tf32`. Up to 64 go to tensor_decode's kernel where the
// other operand lies along k, up to 128 rows of tiles to tensor_tf32's without clusters, and all
// else to tensor_tf32.
//
// tensor_tf32's tiles have 256 rows for two blocks: 20480 x 128 x 5120, whose tiles are those of C
// transposed, leaves one block of each cluster idle and takes 238 us on an H100, cuBLAS 172.

#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor/decode_launch.h"
#include "matmul/device/tensor/decode_tf32.h"
#include "matmul/device/tensor/output.h"
#include "matmul/device/tensor_types.h"

namespace stridewise {
namespace {

constexpr OperandLayout kAlongK = OperandLayout::kKMajor;
constexpr int64_t kRowsOfLone = 128;

// Runs a call of few rows or columns whose operands both lie along k.
LaunchStatus RunDecode(const MatMulArgs& args, const DecodePlan& plan) {
  const CallOfTiles call(args, plan.transposed);
  return plan.cols == 64 ? LaunchDecode<TensorDecodeTile<float, 64, kAlongK, kAlongK>>(call, plan)
                         : LaunchDecode<TensorDecodeTile<float, 128, kAlongK, kAlongK>>(call, plan);
}

// A product whose tiles have at most 128 rows: of C or, where B is the operand in registers, of C
// transposed.
struct LoneTiles {
  LoneTiles(const MatMulArgs& args, const TensorOperands<float>& operands)
      : a_along_k(!args.a.transposed || operands.turns_a),
        b_along_k(args.b.transposed || operands.turns_b),
        c_transposed(a_along_k && !b_along_k),
        rows(c_transposed ? args.n : args.m),
        cols(c_transposed ? args.m : args.n) {}

  bool a_along_k, b_along_k, c_transposed;
  int64_t rows, cols;
};

template <OperandLayout kMajorA>
LaunchStatus RunLone(const MatMulArgs& args, const DeviceModel& device,
                     const TensorOperands<float>& operands, const LoneTiles& tiles) {
  // For a step a tile of 128 columns loads 256 lines, one of 256 columns 384.
  const auto time = [&](int64_t width) {
    return CeilDiv(CeilDiv(tiles.cols, width) * args.batch, device.multiprocessors) * (width + 128);
  };
  if (time(128) <= time(256)) {
    return LaunchTensor<TensorTile<float, float, 128, 6, 1, kMajorA, kAlongK>>(
        args, device, operands, {}, tiles.c_transposed);
  }
  return LaunchTensor<TensorTile<float, float, 256, 4, 1, kMajorA, kAlongK>>(
      args, device, operands, {}, tiles.c_transposed);
}

// Runs what is not for these kernels.
const MatMulFunctions& Fallback() {
  static const MatMulFunctions fallback = FunctionsOf("tensor_tf32");
  return fallback;
}

}  // namespace

LaunchStatus MatMulTensorFewTf32(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const DeviceModel device = DeviceOf(args);
  const Tf32DecodeCall decode(args, device);
  if (decode.IsTaken() && args.workspace_bytes >= decode.WorkspaceBytes()) {
    RETURN_IF_ERROR(decode.LaunchCopy());
    return RunDecode(decode.Packed(), decode.plan());
  }
  const TensorOperands<float> operands(args);
  const LoneTiles tiles(args, operands);
  if (tiles.rows > kRowsOfLone || HasEpilogue(args) || !TakesCopies(args, device, operands) ||
      args.workspace_bytes < operands.WorkspaceBytes()) {
    return Fallback().run(args);
  }
  return tiles.a_along_k && tiles.b_along_k
             ? RunLone<kAlongK>(args, device, operands, tiles)
             : RunLone<OperandLayout::kMnMajor>(args, device, operands, tiles);
}

int64_t MatMulTensorFewTf32WorkspaceBytes(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return 0;
  const Tf32DecodeCall decode(args, DeviceOf(args));
  return decode.IsTaken() ? decode.WorkspaceBytes() : Fallback().workspace_bytes(args);
}

}  // namespace stridewise
