// BF16 and FP16 by mma.sync for what the TMA cannot address: any alignment and leading dimension,
// k = 0 and alpha = 0, and GPUs of compute capability 8.0 and newer. matmul/device/tensor/general.h
// is the kernel; here a call's tile and split are chosen.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "common/gpu/launch.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/tensor/general.h"
#include "matmul/device/tensor/output.h"
#include "matmul/device/tensor/plan.h"

namespace stridewise {
namespace {

template <typename Tile>
LaunchStatus RunTile(const MatMulArgs& args, int split) {
  GeneralGemm gemm = {};
  gemm.a = GeneralOperandA(args);
  gemm.b = GeneralOperandB(args);
  gemm.c = OutputOf(args);
  gemm.k = gemm.c.alpha == 0 ? 0 : args.k;
  gemm.batch = args.batch;
  gemm.split = split;
  gemm.out_bytes = static_cast<int>(ElementBytes(args.c.type));
  const int64_t tiles =
      CeilDiv(args.m, Tile::kBlockM) * CeilDiv(args.n, Tile::kBlockN) * args.batch;
  const int64_t most = std::numeric_limits<int32_t>::max() / split;
  return LaunchClusters(split, TensorGeneral<Tile>, Grid{std::min(tiles, most) * split},
                        Block{Tile::kThreads}, Tile::kSharedBytes, args.stream, gemm);
}

template <typename Element>
LaunchStatus Run(const MatMulArgs& args, const DeviceModel& device) {
  const int split = PlanTensorGeneral(args, device).split;
  return RunTile<GeneralTile<Element, 64, 64, 32, 16>>(args, split);
}

}  // namespace

LaunchStatus MatMulTensorGeneral(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const DeviceModel device = DeviceOf(args);
  return args.a.type == ElementType::kBf16 ? Run<__nv_bfloat16>(args, device)
                                           : Run<__half>(args, device);
}

}  // namespace stridewise
