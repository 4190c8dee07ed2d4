// BF16 and FP16 by tensor cores: `tensor_tile`. matmul/device/tensor_kernel.h is the kernel; here a
// call is planned: which tile, in which order, and what the TMA has to know.
//
// A product of 4096 has 137 GFLOP, which take 139 us at the 989 TFLOP/s of 1.83 GHz; under random
// data the card runs into its 700 W and at 1.6 GHz. cuBLAS takes 173 us, this kernel 175.

#include <algorithm>
#include <cstdint>

#include "common/base/status_macros.h"
#include "common/gpu/launch.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor/plan.h"
#include "matmul/device/tensor/wgmma_widths.h"
#include "matmul/device/tensor_kernel.h"
#include "matmul/device/tensor_map.h"

namespace stridewise {
namespace {

// Clusters of these rows share a column of B's tiles in the L2: 4, 6, 8 and 16 differ by 1 %.
constexpr int kBandRows = 8;

template <typename Tile>
LaunchStatus LaunchTile(const MatMulArgs& args, const DeviceModel& device) {
  using Element = typename Tile::Element;
  using Out = typename Tile::Out;
  const MatrixCount of_a(args.batch, args.a.stride);
  const MatrixCount of_b(args.batch, args.b.stride);
  const MatrixCount of_c(args.batch, args.c.stride);
  constexpr CUtensorMapSwizzle kSwizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  constexpr uint32_t kRow = Tile::kRowElements;
  constexpr uint32_t kRowsOfA =
      Tile::kMajorA == OperandLayout::kKMajor ? Tile::kBlockM : Tile::kBlockK;
  constexpr uint32_t kRowsOfB =
      Tile::kMajorB == OperandLayout::kKMajor ? Tile::kBlockN / Tile::kCluster : Tile::kBlockK;
  ASSIGN_OR_RETURN(const CUtensorMap a,
                   TensorMapOf(args.A<Element>(), of_a, kRowsOfA, kRow, kSwizzle));
  ASSIGN_OR_RETURN(const CUtensorMap b,
                   TensorMapOf(args.B<Element>(), of_b, kRowsOfB, kRow, kSwizzle));
  const ConstMatrix<Out> out = {args.C<Out>().data, args.m, args.n, args.c.ld};
  TensorGemm gemm = {};
  gemm.m = static_cast<int>(args.m);
  gemm.n = static_cast<int>(args.n);
  gemm.k = static_cast<int>(args.k);
  gemm.batch = static_cast<int>(args.batch);
  gemm.a_moves = of_a.count > 1 ? 1 : 0;
  gemm.b_moves = of_b.count > 1 ? 1 : 0;
  gemm.alpha = static_cast<float>(args.alpha);
  gemm.beta = static_cast<float>(args.beta);
  gemm.c = args.c.data;
  gemm.ldc = args.c.ld;
  gemm.stride_c = args.c.stride;
  gemm.store_by_tma = gemm.beta == 0 && HasStoreMap(out, of_c);
  gemm.band = kBandRows;
  CUtensorMap c = a;  // Any, where it is not used.
  if (gemm.store_by_tma) {
    ASSIGN_OR_RETURN(c, TensorMapOf(out, of_c, kMmaRows, Tile::kOutElements, kSwizzle));
  }
  const int64_t tiles =
      CeilDiv(args.m, Tile::kBlockM * Tile::kCluster) * CeilDiv(args.n, Tile::kBlockN) * args.batch;
  const int64_t clusters =
      std::min<int64_t>(tiles, std::max(1, device.multiprocessors / Tile::kCluster));
  return LaunchClusters(Tile::kCluster, TensorProduct<Tile>, Grid{clusters * Tile::kCluster},
                        Block{kTensorThreads}, Tile::kSharedBytes, args.stream, a, b, c, gemm);
}

template <typename Element, typename Out, OperandLayout kMajorA, OperandLayout kMajorB>
LaunchStatus LaunchShape(const MatMulArgs& args, const DeviceModel& device) {
  switch (PlanTensorTile(args, device).cols) {
    case 64:
      return LaunchTile<TensorTile<Element, Out, 64, 8, 1, kMajorA, kMajorB>>(args, device);
    case 128:
      return LaunchTile<TensorTile<Element, Out, 128, 6, 2, kMajorA, kMajorB>>(args, device);
    case 192: {
      // Three panels of MN-major B cannot be divided by two blocks.
      constexpr int kCluster = kMajorB == OperandLayout::kKMajor ? 2 : 1;
      return LaunchTile<TensorTile<Element, Out, 192, 4, kCluster, kMajorA, kMajorB>>(args, device);
    }
    default:
      return LaunchTile<TensorTile<Element, Out, 256, 4, 2, kMajorA, kMajorB>>(args, device);
  }
}

template <typename Element, typename Out>
LaunchStatus Run(const MatMulArgs& args, const DeviceModel& device) {
  return ForLayouts(args, [&](auto a, auto b) {
    return LaunchShape<Element, Out, decltype(a)::value, decltype(b)::value>(args, device);
  });
}

// Runs what this kernel does not take.
const MatMulFunctions& Fallback() {
  static const MatMulFunctions fallback = FunctionsOf("tensor_general");
  return fallback;
}

template <typename Element>
LaunchStatus RunFor(const MatMulArgs& args) {
  const DeviceModel device = DeviceOf(args);
  if (!TmaTakes(args, device)) return Fallback().run(args);
  return args.c.type == ElementType::kFloat ? Run<Element, float>(args, device)
                                            : Run<Element, Element>(args, device);
}

}  // namespace

LaunchStatus MatMulTensorTile(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  return args.a.type == ElementType::kBf16 ? RunFor<__nv_bfloat16>(args) : RunFor<__half>(args);
}

}  // namespace stridewise
