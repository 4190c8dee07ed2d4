// Skinny products whose operands lie in any way at all: a few rows or columns and any k, or any
// size and a k so short that what counts is to write C. See skinny_tile.h for a block's tile,
// skinny_tile_kernel.h for what computes it and skinny_tile_plan.h for which tiles a call takes.

#include <algorithm>
#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/skinny_tile.h"
#include "matmul/device/skinny_tile_kernel.h"
#include "matmul/device/skinny_tile_plan.h"

namespace stridewise {
namespace {

// Returns the floats of all stages for this k, of which an MN-major X is copied by `width` at once.
// Where no stage is used twice the last one is as long as its chunk: eight blocks instead of five
// on a multiprocessor for 16 rows and a k of 39.
template <typename Form>
int64_t StageFloats(int64_t k, int64_t width) {
  using X = typename SkinnyChunks<Form>::X;
  constexpr int64_t kStageFloats = SkinnyChunks<Form>::kStageFloats;
  const int64_t chunks = CeilDiv(k, Form::kExtentK);
  if (chunks > Form::kStages) return Form::kStages * kStageFloats;
  const int64_t last_k = k - (chunks - 1) * Form::kExtentK;
  const int64_t last_floats =
      kStageFloats - (Form::kExtentK - X::CopiedK(last_k, width)) * X::kFloatsOfK;
  return (chunks - 1) * kStageFloats + (chunks > 0 ? last_floats : 0);
}

template <typename Form>
LaunchStatus LaunchForm(SkinnyTilePlan plan, int parts, const MatMulArgs& args) {
  SkinnyTileProduct& product = plan.product;
  product.row_tiles = static_cast<uint32_t>(CeilDiv(product.y.matrix.mn, Form::kRows));
  const int64_t tiles = CeilDiv(product.x.matrix.mn, Form::kCols) * product.row_tiles;
  const int64_t chunks = CeilDiv(product.k, Form::kExtentK);
  product.parts = static_cast<uint32_t>(parts);
  product.k_of_part = static_cast<int>(
      std::min<int64_t>(CeilDiv(chunks, parts) * Form::kExtentK, std::max(product.k, 1)));
  const bool gathers = Form::kSlices > 1 || parts > 1 || product.c_col_stride != 1;
  const int64_t stage_floats =
      StageFloats<Form>(product.k_of_part, product.x.matrix.vectors ? kVector : 1);
  const int64_t floats = std::max<int64_t>(stage_floats, gathers ? Form::kGatherFloats : 0);
  const int64_t layers = CeilDiv(args.batch, kMaxGridYZ);
  return LaunchClusters(parts, SkinnyTiles<Form>,
                        Grid{tiles * parts, CeilDiv(args.batch, layers), layers},
                        Block{Form::kThreads}, floats * sizeof(float), args.stream, product);
}

template <int kLaneCols, int kWarpRows, int kRowWarps, int kBlocks>
LaunchStatus LaunchTiles(const SkinnyTilePlan& plan, int parts, const MatMulArgs& args) {
  constexpr auto kK = OperandLayout::kKMajor;
  constexpr auto kMn = OperandLayout::kMnMajor;
  return plan.x_layout == kK
             ? LaunchForm<SkinnyForm<kLaneCols, kWarpRows, kRowWarps, kBlocks, kK>>(plan, parts,
                                                                                    args)
             : LaunchForm<SkinnyForm<kLaneCols, kWarpRows, kRowWarps, kBlocks, kMn>>(plan, parts,
                                                                                     args);
}

}  // namespace

LaunchStatus MatMulSkinny(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const SkinnyTilePlan plan(args);
  const int64_t rows = plan.product.y.matrix.mn;
  // Where k is short, all warps have rows of their own: there are no slices to add.
  constexpr int kShort = 64;
  if (plan.product.k <= kShort && (rows > 8 || plan.product.k <= kSkinnyExtentK)) {
    const DeviceModel device = DeviceOf(args);
    const int64_t col_tiles = CeilDiv(plan.product.x.matrix.mn, 128) * args.batch;
    if (rows <= 16 || CeilDiv(rows, 16) * col_tiles <= device.multiprocessors) {
      return LaunchTiles<4, 4, 4, 8>(plan, 1, args);
    }
    if (rows <= 32 || CeilDiv(rows, 32) * col_tiles <= 2 * device.multiprocessors) {
      return LaunchTiles<4, 8, 4, 6>(plan, 1, args);
    }
    return LaunchTiles<4, 16, 4, 4>(plan, 1, args);
  }
  const SkinnyTileChoice choice = FastestTiles(plan, DeviceOf(args));
  if (choice.tiles == &kTiles8) return LaunchTiles<4, 8, 1, 3>(plan, choice.parts, args);
  if (choice.tiles == &kTiles16) return LaunchTiles<4, 16, 1, 3>(plan, choice.parts, args);
  if (choice.tiles == &kTiles24) return LaunchTiles<4, 24, 1, 3>(plan, choice.parts, args);
  return LaunchTiles<8, 12, 2, 2>(plan, choice.parts, args);
}

}  // namespace stridewise
