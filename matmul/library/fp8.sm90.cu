// FP8 by tensor cores: `tensor_fp8`, whose sums are promoted to FP32 every 128 of k, and
// `tensor_fp8_fast`, which leaves them to the tensor cores, with 13 fractional bits.
// matmul/device/tensor_accumulation.h says how, matmul/device/tensor_types.h calls the kernel.

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>
#include <utility>

#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor_types.h"

namespace stridewise {
namespace {

template <typename Element, typename Out, int kColumns, int kStages, TensorSums kSums>
using Fp8Tile = TensorTile<Element, Out, kColumns, kStages, 2, OperandLayout::kKMajor,
                           OperandLayout::kKMajor, kSums>;

// The same for C transposed, which may have 176 columns.
template <typename Element, typename Out, int kColumns>
using TurnedFp8Tile = TensorTile<Element, Out, kColumns, 4, 2, OperandLayout::kKMajor,
                                 OperandLayout::kKMajor, TensorSums::kPromoted, /*kIsTurned=*/true>;

// Returns whether StoreTurned() can store C.
template <typename Out>
bool TakesTurned(const MatMulArgs& args) {
  const ConstMatrix<Out> c = args.C<Out>();
  return args.beta == 0 && HasStoreMap(c, MatrixCount(args.batch, args.c.stride));
}

// Runs promoted sums without factors of blocks. Their two sets of accumulators leave registers for
// 192 columns; 4096 x 4096 is 384 tiles of 176, which fill the last round of clusters.
template <typename Element, typename Out>
LaunchStatus RunPromoted(const MatMulArgs& args, const DeviceModel& device,
                         const TensorOperands<Element>& operands, const TensorScales& scales) {
  const double wide = RoundsTime(args, device, 192, 1);
  if (wide >= RoundsTime(args, device, 128, 1)) {
    return LaunchTensor<Fp8Tile<Element, Out, 128, 6, TensorSums::kPromoted>>(args, device,
                                                                              operands, scales);
  }
  if constexpr (sizeof(Out) == 2) {
    if (TakesTurned<Out>(args)) {
      MatMulArgs turned = args;
      std::swap(turned.m, turned.n);
      return RoundsTime(turned, device, 176, 1) < RoundsTime(turned, device, 192, 1)
                 ? LaunchTensor<TurnedFp8Tile<Element, Out, 176>>(args, device, operands, scales,
                                                                  /*c_transposed=*/true)
                 : LaunchTensor<TurnedFp8Tile<Element, Out, 192>>(args, device, operands, scales,
                                                                  /*c_transposed=*/true);
    }
  }
  return LaunchTensor<Fp8Tile<Element, Out, 192, 4, TensorSums::kPromoted>>(args, device, operands,
                                                                            scales);
}

template <typename Element, typename Out>
LaunchStatus Run(const MatMulArgs& args, bool fast) {
  const DeviceModel device = DeviceOf(args);
  const TensorOperands<Element> operands(args);
  if (!TakesCopies(args, device, operands) || args.workspace_bytes < operands.WorkspaceBytes()) {
    static const MatMulFunctions fallback = FunctionsOf("tensor_mma_8bit");
    return fallback.run(args);
  }
  const TensorScales scales = ScalesOf(args);
  // Factors of blocks are those of promoted sums.
  if (fast && scales.blocks_of_k == 0) {
    return LaunchTensor<Fp8Tile<Element, Out, 256, 4, TensorSums::kTensorCores>>(args, device,
                                                                                 operands, scales);
  }
  if (scales.blocks_of_k == 0) {
    return RunPromoted<Element, Out>(args, device, operands, scales);
  }
  // 128 columns, as wide as the blocks.
  return LaunchTensor<Fp8Tile<Element, Out, 128, 6, TensorSums::kPromoted>>(args, device, operands,
                                                                            scales);
}

template <typename Element>
LaunchStatus RunFor(const MatMulArgs& args, bool fast) {
  switch (args.c.type) {
    case ElementType::kBf16:
      return Run<Element, __nv_bfloat16>(args, fast);
    case ElementType::kFp16:
      return Run<Element, __half>(args, fast);
    default:
      return Run<Element, float>(args, fast);
  }
}

LaunchStatus RunFp8(const MatMulArgs& args, bool fast) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  return args.a.type == ElementType::kE4m3 ? RunFor<__nv_fp8_e4m3>(args, fast)
                                           : RunFor<__nv_fp8_e5m2>(args, fast);
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
