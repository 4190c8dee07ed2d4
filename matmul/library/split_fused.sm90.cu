// FP32 products by tensor cores: `split_fused`. Each float becomes two FP16 numbers on its way to
// shared memory, and three products of them are summed, as in `split_fp16`, by one kernel: for
// batches of small products, and operands that are used few times. A workspace is for the sums of
// blocks that divide a tile's k, where clusters would leave multiprocessors idle.

#include <cstdint>
#include <limits>

#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/split_fused_launch.h"
#include "matmul/fused_choice.h"

namespace stridewise {
namespace {

template <OperandLayout kMajorA, OperandLayout kMajorB>
LaunchStatus LaunchShape(const MatMulArgs& args, const FusedChoice& choice) {
  switch (choice.tile) {
    case FusedTileShape::k128x128:
      return LaunchFused<FusedTile<2, kMajorA, kMajorB>>(args, choice);
    case FusedTileShape::k256x64:
      return LaunchFused<FusedTile<4, kMajorA, kMajorB>>(args, choice);
    case FusedTileShape::k64x256:
      return LaunchFused<FusedTile<1, kMajorA, kMajorB>>(args, choice);
  }
  return LaunchStatus();
}

}  // namespace

LaunchStatus MatMulSplitFused(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const DeviceModel device = DeviceOf(args);
  if (!CanFuse(args, device)) {
    MatMulArgs in_fp32 = args;
    in_fp32.precision = MatMulPrecision::kFp32;
    static const MatMulFunctions fallback = FunctionsOf("auto");
    return fallback.run(in_fp32);
  }
  const FusedChoice choice = ChooseFused(args, device);
  return ForLayouts(args, [&](auto a, auto b) {
    return LaunchShape<decltype(a)::value, decltype(b)::value>(args, choice);
  });
}

int64_t MatMulSplitFusedWorkspaceBytes(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return 0;
  MatMulArgs any = args;
  any.workspace_bytes = std::numeric_limits<int64_t>::max();
  const DeviceModel device = DeviceOf(args);
  return CanFuse(any, device) ? ChooseFused(any, device).partial_bytes : 0;
}

}  // namespace stridewise
