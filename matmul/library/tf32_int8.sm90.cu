// TF32 and INT8 by tensor cores: `tensor_tf32` and `tensor_int8`. matmul/device/tensor_kernel.h is
// the kernel, matmul/device/tensor_types.h calls it.

#include <cstdint>

#include "matmul/device/int8/split_call.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor_finished_calls.h"
#include "matmul/device/tensor_int8_tiles.h"
#include "matmul/device/tensor_tf32_tiles.h"
#include "matmul/device/tensor_types.h"

namespace stridewise {
namespace {

// Returns whether the call has to be one of the entry that takes all.
template <typename Element>
bool NeedsFallback(const MatMulArgs& args, const DeviceModel& device,
                   const TensorOperands<Element>& operands) {
  return !TakesCopies(args, device, operands) || args.workspace_bytes < operands.WorkspaceBytes();
}

}  // namespace

LaunchStatus MatMulTensorTf32(const MatMulArgs& args) {
  static const MatMulFunctions fallback = FunctionsOf("tensor_mma_tf32");
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const DeviceModel device = DeviceOf(args);
  const TensorOperands<float> operands(args);
  if (NeedsFallback(args, device, operands)) return RunWithPass(fallback.run, args);
  if (HasEpilogue(args)) return MatMulTf32Finished(args, device, operands);
  return RunTf32Tiles(args, device, operands);
}

int64_t MatMulTensorTf32WorkspaceBytes(const MatMulArgs& args) {
  return CopiesWorkspaceBytes<float>(args);
}

LaunchStatus MatMulTensorInt8(const MatMulArgs& args) {
  static const MatMulFunctions fallback = FunctionsOf("tensor_mma_8bit");
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const DeviceModel device = DeviceOf(args);
  const TensorOperands<int8_t> operands(args);
  if (NeedsFallback(args, device, operands)) return RunWithPass(fallback.run, args);
  if (args.c.type != ElementType::kInt) return MatMulInt8Finished(args, device, operands);
  // Few tiles take less than the model of theirs says, which is of an H100: with this margin no
  // more than a few products become slower on an H200 (see split_plan.h).
  constexpr double kOfTiles = 0.88;
  const Int8SplitPlan split = PlanInt8Split(args, device);
  const Int8TileKind tile = PlanInt8Tile(args, device, StoresByTma<int>(args));
  if (split.us < kOfTiles * Int8TileUs(args, device, tile)) {
    return MatMulInt8Split(args, device, split, operands);
  }
  return RunInt8Tiles<int>(args, device, operands);
}

int64_t MatMulTensorInt8WorkspaceBytes(const MatMulArgs& args) {
  return CopiesWorkspaceBytes<int8_t>(args);
}

}  // namespace stridewise
