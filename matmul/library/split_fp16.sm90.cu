// FP32 products by tensor cores: `split_fp16`. Each operand becomes two FP16 matrices
// (matmul/device/split_operand.h), and three products of them are summed to one of FP32's accuracy
// (split_kernel.h). Where the numbers of a tile do not allow that, the kernel computes the tile on
// the FP32 units instead: no result is worse than the bound of an FP32 product of the same k, and
// the host waits for nothing. docs/fp32_split.md derives the bound.
//
// Three FP16 products at 750 TFLOP/s are 250 TFLOP/s of FP32, where the FP32 units have 67. A
// product of 4096 takes 609 us, 76 of them for the split; cuBLAS 2675.

#include <algorithm>
#include <cstdint>
#include <limits>

#include "common/base/status_macros.h"
#include "common/gpu/launch.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/split_kernel.h"
#include "matmul/device/split_operand.h"
#include "matmul/device/tensor_map.h"

namespace stridewise {
namespace {

// From this k on the bound is below that of an FP32 product.
constexpr int64_t kLeastSplitK = 128;
// Counts of split_operand.h are exact to here.
constexpr int64_t kMostSplitK = int64_t{1} << 18;

// Shared memory of a block that splits, at most: two blocks fit on a multiprocessor.
#ifndef CACHEKB
#define CACHEKB 96
#endif
constexpr int64_t kMostCachedQuads = (CACHEKB << 10) / 16;

constexpr int64_t kWorkspaceAlignment = 256;

// Splits both operands, A by the first blocks. Launched with clusters of kSplitCluster blocks.
__global__ void __launch_bounds__(kSplitThreads) SplitOperands(SplitSource a, SplitSource b) {
  extern __shared__ float4 cache[];
  LetNextKernelBegin();
  const bool first = blockIdx.x < a.blocks;
  const SplitSource source = first ? a : b;
  const int64_t block = static_cast<int64_t>(blockIdx.x) - (first ? 0 : a.blocks);
  if (LoadsWholeQuads(source, block)) {
    SplitBlock<true>(source, block, cache);
  } else {
    SplitBlock<false>(source, block, cache);
  }
}

// The tiles to choose among, and the time of an element of them beside the widest tile's, as
// measured at 2048 and 4096 on an H200.
struct SplitShape {
  int cols;
  int stages;
  int cluster;
  bool separate;
  double cost;
};
constexpr SplitShape kWide = {192, 2, 2, false, 1.0};
constexpr SplitShape kMiddle = {128, 3, 1, true, 1.03};
constexpr SplitShape kNarrow = {64, 4, 1, true, 1.14};

constexpr int64_t kBlockRows = kConsumers * kMmaRows;
constexpr int kBandRows = 8;

// Returns the time of the product in elements of the widest tile for each multiprocessor.
double Time(const MatMulArgs& args, const DeviceModel& device, const SplitShape& shape) {
  const int64_t clusters = std::max(1, device.multiprocessors / shape.cluster);
  const int64_t tiles =
      CeilDiv(args.m, kBlockRows * shape.cluster) * CeilDiv(args.n, shape.cols) * args.batch;
  // The first loads and the store of a tile take as long as 16 columns more of 2048 of k.
  return static_cast<double>(CeilDiv(tiles, clusters)) *
         (shape.cols * shape.cost * static_cast<double>(args.k) + 16 * 2048);
}

// An operand as it is stored, and where its halves lie.
struct SplitPlan {
  SplitSource source;
  int64_t bytes;  // Of the halves and scales.
};

int64_t Aligned(int64_t bytes) { return CeilDiv(bytes, kWorkspaceAlignment) * kWorkspaceAlignment; }

// Plans the split of an operand into memory from `workspace` on.
SplitPlan PlanOf(const ConstMatrix<float>& stored, int64_t batch, int64_t stride, bool scale_rows,
                 char* workspace) {
  const MatrixCount matrices(batch, stride);
  SplitPlan plan = {};
  SplitSource& source = plan.source;
  source.data = stored.data;
  source.ld = stored.ld;
  source.stride = matrices.stride;
  source.rows = static_cast<int>(stored.rows);
  source.cols = static_cast<int>(stored.cols);
  source.count = static_cast<int>(matrices.count);
  source.scale_rows = scale_rows;
  source.vectors = reinterpret_cast<uintptr_t>(stored.data) % kVectorBytes == 0 &&
                   (stored.ld | matrices.stride) % 4 == 0;
  source.out_ld = static_cast<int>(CeilDiv(stored.cols, 8) * 8);
  const int64_t half_bytes =
      Aligned(matrices.count * stored.rows * source.out_ld * int64_t{sizeof(__half)});
  const int64_t scale_bytes = Aligned(matrices.count * (scale_rows ? stored.rows : stored.cols) *
                                      int64_t{sizeof(SplitScale)});
  plan.bytes = 2 * half_bytes + scale_bytes;
  if (workspace != nullptr) {
    source.hi = reinterpret_cast<__half*>(workspace);
    source.lo = reinterpret_cast<__half*>(workspace + half_bytes);
    source.scales = reinterpret_cast<SplitScale*>(workspace + 2 * half_bytes);
  }
  int64_t quads = CeilDiv(stored.rows, kSplitCluster) * kStripQuads;
  int64_t blocks = matrices.count * CeilDiv(stored.cols, kStripCols) * kSplitCluster;
  if (scale_rows) {
    quads = CeilDiv(stored.cols, 4);
    blocks = matrices.count * stored.rows;
    if (stored.cols <= kWarpRowCols) blocks = CeilDiv(blocks, kSplitWarps);
    blocks = CeilDiv(blocks, kSplitCluster) * kSplitCluster;
  }
  source.cached_quads = static_cast<int>(std::min(quads, kMostCachedQuads));
  source.blocks = blocks;
  return plan;
}

struct SplitPlans {
  SplitPlan a, b;
  int64_t bytes() const { return a.bytes + b.bytes; }
};

SplitPlans PlansOf(const MatMulArgs& args) {
  auto* const workspace = static_cast<char*>(args.workspace);
  SplitPlans plans;
  plans.a = PlanOf(args.A<float>(), args.batch, args.a.stride, !args.a.transposed, workspace);
  plans.b = PlanOf(args.B<float>(), args.batch, args.b.stride, args.b.transposed,
                   workspace == nullptr ? nullptr : workspace + plans.a.bytes);
  return plans;
}

// Returns the dynamic shared memory of a block that splits the operand.
int64_t SharedBytes(const SplitSource& source) {
  const bool warps = source.scale_rows && source.cols <= kWarpRowCols;
  return int64_t{sizeof(float4)} * source.cached_quads * (warps ? kSplitWarps : 1);
}

LaunchStatus LaunchSplit(const SplitPlans& plans, cudaStream_t stream) {
  const SplitSource& a = plans.a.source;
  const SplitSource& b = plans.b.source;
  return LaunchClusters(kSplitCluster, SplitOperands, Grid{a.blocks + b.blocks},
                        Block{kSplitThreads}, std::max(SharedBytes(a), SharedBytes(b)), stream, a,
                        b);
}

// Whether the call can be split at all; its workspace is another question.
bool Applies(const MatMulArgs& args, const DeviceModel& device) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  return device.compute_capability == 90 && args.k >= kLeastSplitK && args.k <= kMostSplitK &&
         static_cast<float>(args.alpha) != 0 && args.m < kMost && args.n < kMost &&
         args.batch <= kMost &&
         CeilDiv(args.m, kBlockRows) * CeilDiv(args.n, kNarrow.cols) <= kMost / args.batch &&
         args.batch * std::max(args.m, args.n) <= kMost / 8;
}

// Makes the maps of an operand's halves.
absl::StatusOr<SplitMaps> MapsOf(const SplitSource& source, uint32_t box_rows) {
  const MatrixCount matrices(source.count, static_cast<int64_t>(source.rows) * source.out_ld);
  const auto map = [&](const __half* half) {
    const ConstMatrix<__half> matrix = {half, source.rows, source.cols, source.out_ld};
    return TensorMapOf(matrix, matrices, box_rows, kSwizzleBytes / sizeof(__half),
                       CU_TENSOR_MAP_SWIZZLE_128B);
  };
  SplitMaps maps;
  ASSIGN_OR_RETURN(maps.hi, map(source.hi));
  ASSIGN_OR_RETURN(maps.lo, map(source.lo));
  return maps;
}

Fp32Operand InFp32(const SplitSource& source) {
  return {source.data, source.scale_rows ? source.ld : 1, source.scale_rows ? 1 : source.ld,
          source.stride};
}

template <typename Tile>
LaunchStatus LaunchTile(const MatMulArgs& args, const DeviceModel& device,
                        const SplitPlans& plans) {
  const SplitSource& split_a = plans.a.source;
  const SplitSource& split_b = plans.b.source;
  constexpr uint32_t kRowsOfA =
      Tile::kMajorA == OperandLayout::kKMajor ? Tile::kBlockM : Tile::kBlockK;
  constexpr uint32_t kRowsOfB =
      (Tile::kMajorB == OperandLayout::kKMajor ? Tile::kBlockN : Tile::kBlockK) / Tile::kCluster;
  ASSIGN_OR_RETURN(const SplitMaps a, MapsOf(split_a, kRowsOfA));
  ASSIGN_OR_RETURN(const SplitMaps b, MapsOf(split_b, kRowsOfB));
  const MatrixCount of_c(args.batch, args.c.stride);
  const ConstMatrix<float> out = {args.C<float>().data, args.m, args.n, args.c.ld};
  SplitGemm gemm = {};
  gemm.m = static_cast<int>(args.m);
  gemm.n = static_cast<int>(args.n);
  gemm.k = static_cast<int>(args.k);
  gemm.batch = static_cast<int>(args.batch);
  gemm.a_moves = split_a.count > 1 ? 1 : 0;
  gemm.b_moves = split_b.count > 1 ? 1 : 0;
  gemm.alpha = static_cast<float>(args.alpha);
  gemm.beta = static_cast<float>(args.beta);
  gemm.c = args.c.data;
  gemm.ldc = args.c.ld;
  gemm.stride_c = args.c.stride;
  gemm.store_by_tma = gemm.beta == 0 && HasTensorMap(out, of_c);
  gemm.band = kBandRows;
  gemm.a_in_fp32 = InFp32(split_a);
  gemm.b_in_fp32 = InFp32(split_b);
  gemm.scales_of_a = split_a.scales;
  gemm.scales_of_b = split_b.scales;
  CUtensorMap c = a.hi;  // Any, where it is not used.
  if (gemm.store_by_tma) {
    ASSIGN_OR_RETURN(
        c, TensorMapOf(out, of_c, kMmaRows, Tile::kOutElements, CU_TENSOR_MAP_SWIZZLE_128B));
  }
  const int64_t tiles =
      CeilDiv(args.m, Tile::kBlockM * Tile::kCluster) * CeilDiv(args.n, Tile::kBlockN) * args.batch;
  const int64_t clusters =
      std::min<int64_t>(tiles, std::max(1, device.multiprocessors / Tile::kCluster));
  return LaunchDependentClusters(Tile::kCluster, SplitProduct<Tile>,
                                 Grid{clusters * Tile::kCluster}, Block{kTensorThreads},
                                 Tile::kSharedBytes, args.stream, a, b, c, gemm);
}

template <OperandLayout kMajorA, OperandLayout kMajorB>
LaunchStatus LaunchShape(const MatMulArgs& args, const DeviceModel& device,
                         const SplitPlans& plans) {
  const auto launch = [&](auto tile) { return LaunchTile<decltype(tile)>(args, device, plans); };
  const double wide = Time(args, device, kWide);
  const double middle = Time(args, device, kMiddle);
  const double narrow = Time(args, device, kNarrow);
  if (narrow < std::min(wide, middle)) {
    return launch(SplitTile<kNarrow.cols, kNarrow.stages, kNarrow.cluster, kNarrow.separate,
                            kMajorA, kMajorB>());
  }
  if (middle < wide) {
    return launch(SplitTile<kMiddle.cols, kMiddle.stages, kMiddle.cluster, kMiddle.separate,
                            kMajorA, kMajorB>());
  }
  return launch(
      SplitTile<kWide.cols, kWide.stages, kWide.cluster, kWide.separate, kMajorA, kMajorB>());
}

// Runs what this kernel does not take, or has no workspace for.
const MatMulFunctions& Fallback() {
  static const MatMulFunctions fallback = FunctionsOf("auto");
  return fallback;
}

}  // namespace

LaunchStatus MatMulSplitFp16(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const DeviceModel device = DeviceOf(args);
  if (!Applies(args, device)) return Fallback().run(args);
  const SplitPlans plans = PlansOf(args);
  if (plans.bytes() > args.workspace_bytes) return Fallback().run(args);
  RETURN_IF_ERROR(LaunchSplit(plans, args.stream));
  return ForLayouts(args, [&](auto a, auto b) {
    return LaunchShape<decltype(a)::value, decltype(b)::value>(args, device, plans);
  });
}

int64_t MatMulSplitFp16WorkspaceBytes(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return 0;
  if (!Applies(args, DeviceOf(args))) {
    return Fallback().workspace_bytes == nullptr ? 0 : Fallback().workspace_bytes(args);
  }
  return PlansOf(args).bytes();
}

}  // namespace stridewise
