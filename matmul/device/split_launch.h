// Calls of split_kernel.h: each operand becomes a scheme's parts (split_operand.h), and products of
// them are summed to one of FP32's accuracy. Where the numbers of a tile do not allow that, the
// kernel computes the tile on the FP32 units instead: no result is worse than the bound of an FP32
// product of the same k, and the host waits for nothing. docs/fp32_split.md derives the bounds.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_LAUNCH_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_LAUNCH_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "common/base/status_macros.h"
#include "common/gpu/launch.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/split_kernel.h"
#include "matmul/device/split_operand.h"
#include "matmul/device/tensor_launch.h"
#include "matmul/split_choice.h"

namespace stridewise {

namespace {  // Each file that includes this has kernels of its own.

// Shared memory of a block that splits, at most: three blocks fit on a multiprocessor. Where that
// does not hold a block's part of a strip, two that hold more take 0.84 to 0.95 of the time, and
// one that holds all of 128 KB 1.2 times as long.
constexpr int64_t kMostCachedQuads = (72 << 10) / 16;
constexpr int64_t kMostCachedQuadsOfStrip = (107 << 10) / 16;

// Splits both operands, `first` by the first blocks.
template <typename Scheme>
__device__ inline void SplitBoth(const SplitSource& first, const SplitSource& second,
                                 float4* cache) {
  const auto first_blocks = static_cast<uint32_t>(first.blocks);
  const bool is_first = blockIdx.x < first_blocks;
  const SplitSource source = is_first ? first : second;
  SplitBlock<Scheme>(source, blockIdx.x - (is_first ? 0 : first_blocks), cache);
}

// With registers for three blocks INT8 is 4 % faster at 4096 than with more, and TF32 5 % at 2048;
// FP16 is 2 % faster at 8192 with registers for four than for five.
template <typename Scheme>
constexpr int kSplitBlocks = Scheme::kForm.part_bytes == 2 && !Scheme::kForm.k_major ? 4 : 3;

// Launched with clusters of SplitSource::cluster blocks.
template <typename Scheme>
__global__ void __launch_bounds__(kSplitThreads, kSplitBlocks<Scheme>)
    SplitOperands(SplitSource first, SplitSource second) {
  extern __shared__ float4 cache[];
  LetNextKernelBegin();
  SplitBoth<Scheme>(first, second, cache);
}

// Does the same where the scheme that was chosen for the call is this one.
template <typename Scheme>
__global__ void __launch_bounds__(kSplitThreads, kSplitBlocks<Scheme>)
    SplitOperandsIfChosen(SplitSource first, SplitSource second, IfChosen chosen) {
  extern __shared__ float4 cache[];
  LetNextKernelBegin();
  if (chosen()) SplitBoth<Scheme>(first, second, cache);
}

// Returns the blocks that divide a strip of the operand's columns. Few of short ones, whose blocks
// would wait for each other more than they read: 366 matrices of 65 x 1114 take 85 us on an H200
// with one, 358 with eight. And 16 where a part of eight would not fit into shared memory: rows and
// columns of 8192 take 329 us instead of 358.
template <typename Scheme>
int ClusterFor(const SplitSource& source, const DeviceModel& device) {
  constexpr int kUsual = 8;
  constexpr int kMostRows = 192;  // Of a block, where fewer than kUsual divide a strip.
  if (source.scale_rows) return 1;
  const int64_t strips = int64_t{source.count} * source.strips;
  int cluster = 1;
  while (cluster < kUsual &&
         (source.rows > cluster * kMostRows || strips * cluster < 2 * device.multiprocessors)) {
    cluster *= 2;
  }
  const int64_t quads = int64_t{RowsOfPart<Scheme>(source.rows, cluster)} * source.strip_cols / 4;
  return quads > kMostCachedQuads ? kMostSplitCluster : cluster;
}

// Returns the rows that a block, or each of its warps, splits one behind the other: two long ones
// (rows and columns of 4096 take 81 us so on an H200 instead of 86), and more short ones, which
// would else wait for a load each; but few enough that blocks fill the device.
int RowsTogether(const SplitSource& source, const DeviceModel& device) {
  constexpr int64_t kShortRow = 256;
  const bool by_warps = source.cols <= kWarpRowCols;
  if (by_warps && source.cols > kShortRow) return 1;
  const int64_t at_once = by_warps ? kSplitWarps : 1;
  const int64_t rows_of_block = int64_t{source.count} * source.rows / (8 * device.multiprocessors);
  const int64_t fit = kMostCachedQuads / CeilDiv(source.cols, 4);
  const int64_t most = !by_warps ? 2 : source.cols > kShortRow / 2 ? 4 : kMostRowsTogether;
  return static_cast<int>(std::clamp<int64_t>(std::min(rows_of_block, fit) / at_once, 1, most));
}

// Plans the split of an operand into memory from `workspace` on.
template <typename Scheme>
SplitSource SourceOf(const ConstMatrix<float>& stored, int64_t stride, bool scale_rows,
                     const SplitLayout& layout, char* workspace) {
  SplitSource source = {};
  source.data = stored.data;
  source.ld = stored.ld;
  source.stride = layout.count > 1 ? stride : 0;
  source.rows = static_cast<int>(stored.rows);
  source.cols = static_cast<int>(stored.cols);
  source.count = static_cast<int>(layout.count);
  source.scale_rows = scale_rows;
  source.vectors = reinterpret_cast<uintptr_t>(stored.data) % kVectorBytes == 0 &&
                   (stored.ld | source.stride) % 4 == 0;
  source.turned = Scheme::kForm.k_major && !scale_rows;
  source.out_ld = static_cast<int>(layout.out_ld);
  source.parts = workspace;
  source.part_bytes = layout.part_bytes;
  source.scales = reinterpret_cast<SplitScale*>(workspace + layout.scales);
  const bool wide =
      !Scheme::kForm.k_major && source.rows <= kWideStripRows && source.cols > kStripCols;
  source.strip_cols = wide ? kWideStripCols : kStripCols;
  source.strips = static_cast<int>(CeilDiv(source.cols, source.strip_cols));
  return source;
}

// Divides an operand among blocks, which come in clusters of this number.
template <typename Scheme>
void DivideAmongBlocks(const DeviceModel& device, int cluster, SplitSource* source) {
  source->cluster = cluster;
  if (source->scale_rows) {
    const int64_t rows = int64_t{source->count} * source->rows;
    const int64_t quads = std::min(CeilDiv(source->cols, 4), kMostCachedQuads);
    const int64_t at_once = source->cols > kWarpRowCols ? 1 : kSplitWarps;
    source->cached_quads = static_cast<int>(quads);
    source->rows_together = RowsTogether(*source, device);
    const int64_t blocks = CeilDiv(rows, source->rows_together * at_once);
    source->blocks = CeilDiv(blocks, cluster) * cluster;
  } else {
    source->part_rows = RowsOfPart<Scheme>(source->rows, cluster);
    const int64_t quads = int64_t{source->part_rows} * source->strip_cols / 4;
    source->cached_quads = static_cast<int>(std::min(quads, kMostCachedQuadsOfStrip));
    source->blocks = int64_t{source->count} * source->strips * cluster;
  }
}

// The operands of a call.
struct SplitSources {
  SplitSource a, b;
};

template <typename Scheme>
SplitSources SourcesOf(const MatMulArgs& args, const DeviceModel& device) {
  constexpr const SplitForm& form = Scheme::kForm;
  auto* const workspace = static_cast<char*>(args.workspace);
  const SplitLayout a = SplitLayoutOfA(args, form);
  const SplitLayout b = SplitLayoutOfB(args, form);
  SplitSources of = {
      SourceOf<Scheme>(args.A<float>(), args.a.stride, !args.a.transposed, a, workspace),
      SourceOf<Scheme>(args.B<float>(), args.b.stride, args.b.transposed, b, workspace + a.bytes)};
  of.b.second = true;
  const int cluster = std::max(ClusterFor<Scheme>(of.a, device), ClusterFor<Scheme>(of.b, device));
  DivideAmongBlocks<Scheme>(device, cluster, &of.a);
  DivideAmongBlocks<Scheme>(device, cluster, &of.b);
  return of;
}

// Returns the dynamic shared memory of a block that splits the operand.
int64_t SharedBytes(const SplitSource& source) {
  const bool warps = source.scale_rows && source.cols <= kWarpRowCols;
  return int64_t{sizeof(float4)} * source.cached_quads * (warps ? kSplitWarps : 1) *
         (source.scale_rows ? source.rows_together : 1);
}

// Returns the operands in the order in which they are split: strips of columns come before rows. A
// block of a strip takes longer, 10 of the 28 us at 2048, and would run alone at the end.
std::pair<const SplitSource*, const SplitSource*> InOrder(const SplitSources& of) {
  if (of.a.scale_rows && !of.b.scale_rows) return {&of.b, &of.a};
  return {&of.a, &of.b};
}

template <typename Kernel, typename... Chosen>
LaunchStatus LaunchSplitKernel(Kernel kernel, const SplitSource& first, const SplitSource& second,
                               cudaStream_t stream, Chosen... chosen) {
  return LaunchClusters(first.cluster, kernel, Grid{first.blocks + second.blocks},
                        Block{kSplitThreads}, std::max(SharedBytes(first), SharedBytes(second)),
                        stream, first, second, chosen...);
}

// Queues the split; `chosen`, if any, is the IfChosen under which it is done.
template <typename Scheme, typename... Chosen>
LaunchStatus LaunchSplit(const SplitSources& of, cudaStream_t stream, Chosen... chosen) {
  const auto [first, second] = InOrder(of);
  if constexpr (sizeof...(Chosen) == 0) {
    return LaunchSplitKernel(SplitOperands<Scheme>, *first, *second, stream);
  } else {
    return LaunchSplitKernel(SplitOperandsIfChosen<Scheme>, *first, *second, stream, chosen...);
  }
}

// Makes the maps of an operand's parts.
template <typename Tile, typename Scheme = typename Tile::Scheme>
absl::StatusOr<SplitMaps<Scheme>> MapsOf(const SplitSource& source, uint32_t box_rows) {
  using Element = typename Scheme::Element;
  const int rows = source.turned ? source.cols : source.rows;
  const int cols = source.turned ? source.rows : source.cols;
  const MatrixCount matrices(source.count, static_cast<int64_t>(rows) * source.out_ld);
  SplitMaps<Scheme> maps;
  const char* part = source.parts;
  for (CUtensorMap& map : maps.part) {
    const ConstMatrix<Element> matrix = {reinterpret_cast<const Element*>(part), rows, cols,
                                         source.out_ld};
    ASSIGN_OR_RETURN(
        map, OperandMapOf<Tile::kRowBytes>(TensorOperand<Element>{matrix, matrices}, box_rows));
    part += source.part_bytes;
  }
  return maps;
}

Fp32Operand InFp32(const SplitSource& source) {
  return {source.data, source.scale_rows ? source.ld : 1, source.scale_rows ? 1 : source.ld,
          source.stride};
}

template <typename Tile, typename... Chosen>
LaunchStatus LaunchTile(const MatMulArgs& args, const DeviceModel& device, const SplitSources& of,
                        Chosen... chosen) {
  using Scheme = typename Tile::Scheme;
  ASSIGN_OR_RETURN(const SplitMaps<Scheme> a, MapsOf<Tile>(of.a, Tile::kBoxRowsA));
  ASSIGN_OR_RETURN(const SplitMaps<Scheme> b, MapsOf<Tile>(of.b, Tile::kBoxRowsB));
  SplitGemm gemm = {};
  static_cast<TensorGemm&>(gemm) = TensorGemmOf<Tile>(args, of.a.count > 1, of.b.count > 1);
  gemm.a_in_fp32 = InFp32(of.a);
  gemm.b_in_fp32 = InFp32(of.b);
  gemm.scales_of_a = of.a.scales;
  gemm.scales_of_b = of.b.scales;
  const int64_t rows = CeilDiv(args.m, Tile::kBlockM * Tile::kCluster);
  const int64_t cols = CeilDiv(args.n, Tile::kBlockN);
  gemm.tiles = static_cast<int>(rows * cols * args.batch);
  gemm.order = TileOrder(rows, cols);
  ASSIGN_OR_RETURN(const CUtensorMap c, StoreMapOf<Tile>(args, gemm, a.part[0]));
  const auto launch = [&](auto kernel) {
    return LaunchDependentClusters(Tile::kCluster, kernel, PersistentGrid<Tile>(gemm, device),
                                   Block{kTensorThreads}, Tile::kSharedBytes, args.stream, a, b, c,
                                   gemm, chosen...);
  };
  if constexpr (sizeof...(Chosen) == 0) {
    return launch(SplitProduct<Tile>);
  } else {
    return launch(SplitProductIfChosen<Tile>);
  }
}

// Stages are as many as shared memory holds.
template <typename Scheme, OperandLayout kMajorA, OperandLayout kMajorB, typename... Chosen>
LaunchStatus LaunchTileOf(const MatMulArgs& args, const DeviceModel& device, SplitTileCols tile,
                          const SplitSources& of, Chosen... chosen) {
  if constexpr (Scheme::kForm.mixed) {
    if (tile == SplitTileCols::k192) {
      return LaunchTile<SplitTile<Scheme, 192, 4, 2, false, kMajorA, kMajorB>>(args, device, of,
                                                                               chosen...);
    }
    return LaunchTile<SplitTile<Scheme, 128, 5, 1, false, kMajorA, kMajorB>>(args, device, of,
                                                                             chosen...);
  } else if constexpr (Scheme::kForm.part_bytes == 1) {
    return LaunchTile<SplitTile<Scheme, 128, 4, 1, true, kMajorA, kMajorB>>(args, device, of,
                                                                            chosen...);
  } else {
    constexpr bool kPairs = Scheme::kForm.parts == 2;
    if (tile == SplitTileCols::k64) {
      return LaunchTile<SplitTile<Scheme, 64, kPairs ? 4 : 2, 1, true, kMajorA, kMajorB>>(
          args, device, of, chosen...);
    }
    if constexpr (kPairs) {
      if constexpr (Scheme::kForm.part_bytes == 2) {
        if (tile == SplitTileCols::k128InPairs) {
          return LaunchTile<SplitTile<Scheme, 128, 3, 2, true, kMajorA, kMajorB>>(args, device, of,
                                                                                  chosen...);
        }
      }
      if (tile == SplitTileCols::k192) {
        return LaunchTile<SplitTile<Scheme, 192, 2, 2, false, kMajorA, kMajorB>>(args, device, of,
                                                                                 chosen...);
      }
    }
    return LaunchTile<SplitTile<Scheme, 128, kPairs ? 3 : 2, 1, true, kMajorA, kMajorB>>(
        args, device, of, chosen...);
  }
}

// Runs what this kernel does not take, or has no workspace for.
[[maybe_unused]] const MatMulFunctions& Fallback() {
  static const MatMulFunctions fallback = FunctionsOf("auto");
  return fallback;
}

[[maybe_unused]] MatMulArgs InFp32(MatMulArgs args) {
  args.precision = MatMulPrecision::kFp32;
  return args;
}

// Queues the product of operands that are split, as LaunchSplit() does.
template <typename Scheme, typename... Chosen>
LaunchStatus LaunchProduct(const MatMulArgs& args, const DeviceModel& device,
                           const SplitSources& of, Chosen... chosen) {
  const SplitTileCols tile = ChooseSplit(args, device, Scheme::kForm).tile;
  return ForLayouts(args, [&](auto a, auto b) {
    return LaunchTileOf<Scheme, decltype(a)::value, decltype(b)::value>(args, device, tile, of,
                                                                        chosen...);
  });
}

// Runs a call by a scheme, whose operands `split` splits.
template <typename Scheme>
LaunchStatus MatMulSplit(const MatMulArgs& args,
                         LaunchStatus (*split)(const SplitSources& of,
                                               cudaStream_t stream) = LaunchSplit<Scheme>) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const DeviceModel device = DeviceOf(args);
  if (!CanSplit(args, device, Scheme::kForm)) return Fallback().run(InFp32(args));
  const SplitSources of = SourcesOf<Scheme>(args, device);
  RETURN_IF_ERROR(split(of, args.stream));
  return LaunchProduct<Scheme>(args, device, of);
}

// Returns the workspace of such a call.
template <typename Scheme>
int64_t MatMulSplitBytes(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return 0;
  MatMulArgs any = args;
  any.workspace_bytes = std::numeric_limits<int64_t>::max();
  if (CanSplit(any, DeviceOf(args), Scheme::kForm)) return SplitWorkspaceBytes(args, Scheme::kForm);
  return Fallback().workspace_bytes == nullptr ? 0 : Fallback().workspace_bytes(InFp32(args));
}

}  // namespace
}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_LAUNCH_H_
