// Launches of split_fused_kernel.h.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_LAUNCH_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_LAUNCH_H_

#include <cstdint>

#include "common/base/return_if_error.h"
#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/split_fused_kernel.h"
#include "matmul/fused_choice.h"

namespace stridewise {

inline FusedOperand FusedOperandOf(const MatMulInput& operand, int64_t mn, int64_t line,
                                   int64_t batch) {
  const int64_t stride = batch > 1 ? operand.stride : 0;
  return {static_cast<const float*>(operand.data), operand.ld, stride, static_cast<int>(mn),
          reinterpret_cast<uintptr_t>(operand.data) % sizeof(float2) == 0 &&
              (operand.ld | stride | line) % 2 == 0};
}

// Multiplies as it is chosen. REQUIRES: m, n, k and batch are not 0, nor is alpha.
template <typename Tile>
LaunchStatus LaunchFused(const MatMulArgs& args, const FusedChoice& choice) {
  FusedGemm gemm = {};
  gemm.a = FusedOperandOf(args.a, args.m, args.a.transposed ? args.m : args.k, args.batch);
  gemm.b = FusedOperandOf(args.b, args.n, args.b.transposed ? args.k : args.n, args.batch);
  gemm.m = static_cast<int>(args.m);
  gemm.n = static_cast<int>(args.n);
  gemm.k = static_cast<int>(args.k);
  gemm.split = FastDivisor(static_cast<uint32_t>(choice.split));
  gemm.whole = static_cast<int>(choice.whole);
  gemm.order = OrderOf<Tile>(args.C<float>());
  gemm.alpha = static_cast<float>(args.alpha);
  gemm.beta = static_cast<float>(args.beta);
  gemm.c = static_cast<float*>(args.c.data);
  gemm.ldc = args.c.ld;
  gemm.stride_c = args.c.stride;
  const int64_t divided =
      CeilDiv(args.m, Tile::kBlockM) * CeilDiv(args.n, Tile::kBlockN) * args.batch - choice.whole;
  const Grid grid{choice.whole + divided * choice.split};
  if (choice.partial_bytes == 0) {
    return LaunchClusters(choice.split, SplitFusedProduct<Tile>, grid, Block{Tile::kThreads},
                          Tile::kSharedBytes, args.stream, gemm);
  }
  gemm.partial = static_cast<float*>(args.workspace);
  RETURN_IF_ERROR(Launch(SplitFusedProduct<Tile>, grid, Block{Tile::kThreads}, Tile::kSharedBytes,
                         args.stream, gemm));
  return LaunchDependent(AddPartialSums<Tile>, Grid{divided * kAddingBlocks<Tile>},
                         Block{kAddingThreads}, 0, args.stream, gemm);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_FUSED_LAUNCH_H_
