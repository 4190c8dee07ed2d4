// FP8 by tensor cores: `tensor_fp8`, whose sums are promoted to FP32 every 128 of k, and
// `tensor_fp8_fast`, which leaves them to the tensor cores, with 13 fractional bits, and so has
// registers for 256 columns. On an H200 that takes .93 of the time at 4096 and 1.19 times it at
// 1024, which is 16 such tiles: a caller who lets it choose gets promoted sums there.
// matmul/device/tensor_accumulation.h says how, matmul/device/tensor_types.h calls the kernel.

#include <cuda_fp8.h>

#include <algorithm>
#include <cstdint>

#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor_finished_calls.h"
#include "matmul/device/tensor_fp8_tiles.h"
#include "matmul/device/tensor_types.h"

namespace stridewise {
namespace {

// Returns whether a call that may have either sums is faster with fast ones. At 2048 to 8192 their
// rounds take 4 % more beside those of promoted sums than their columns say.
bool FastPays(const MatMulArgs& args, const DeviceModel& device) {
  constexpr double kOfFast = 1.04;
  return kOfFast * RoundsTime(args, device, 256, 1) <
         std::min(RoundsTime(args, device, 192, 1), RoundsTime(args, device, 128, 1));
}

template <typename Element>
LaunchStatus RunSame(const MatMulArgs& args, const DeviceModel& device, bool fast) {
  const TensorOperands<Element> operands(args);
  const TensorScales scales = ScalesOf(args);
  return ForFp8Outputs(args, [&](auto out) {
    using Out = decltype(out);
    // Factors of blocks are those of promoted sums.
    if (fast && scales.blocks_of_k == 0 &&
        (args.precision != MatMulPrecision::kFastSums || FastPays(args, device))) {
      return LaunchTensor<Fp8Tile<Element, Out, 256, 4, TensorSums::kTensorCores>>(
          args, device, operands, scales, /*c_transposed=*/false);
    }
    return RunPromoted<Element, Element, Out>(args, device, operands, scales);
  });
}

LaunchStatus RunFp8(const MatMulArgs& args, bool fast) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const DeviceModel device = DeviceOf(args);
  // What has to be copied depends on an element's bytes alone.
  const TensorOperands<uint8_t> operands(args);
  if (!TakesCopies(args, device, operands) || args.workspace_bytes < operands.WorkspaceBytes()) {
    static const MatMulFunctions fallback = FunctionsOf("tensor_mma_8bit");
    return RunWithPass(fallback.run, args);
  }
  if (args.a.type != args.b.type) return MatMulFp8Mixed(args, device);
  if (HasEpilogue(args)) return MatMulFp8Finished(args, device);
  return args.a.type == ElementType::kE4m3 ? RunSame<__nv_fp8_e4m3>(args, device, fast)
                                           : RunSame<__nv_fp8_e5m2>(args, device, fast);
}

}  // namespace

LaunchStatus MatMulTensorFp8(const MatMulArgs& args) { return RunFp8(args, false); }
LaunchStatus MatMulTensorFp8Fast(const MatMulArgs& args) { return RunFp8(args, true); }

int64_t MatMulTensorFp8WorkspaceBytes(const MatMulArgs& args) {
  return CopiesWorkspaceBytes<uint8_t>(args);
}
int64_t MatMulTensorFp8FastWorkspaceBytes(const MatMulArgs& args) {
  return CopiesWorkspaceBytes<uint8_t>(args);
}

}  // namespace stridewise
