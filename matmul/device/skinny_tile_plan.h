// What skinny.cu makes of a call: which operand is the large one, the tiles, and the parts of k.

#ifndef STRIDEWISE_MATMUL_DEVICE_SKINNY_TILE_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_SKINNY_TILE_PLAN_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/args.h"
#include "matmul/device/cluster.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/skinny_tile.h"

namespace stridewise {
namespace {

struct SkinnyTilePlan {
  SkinnyTileProduct product;
  OperandLayout x_layout;

  explicit SkinnyTilePlan(const MatMulArgs& args) {
    const Gemm<Float32> gemm = GemmOf<Float32>(args);
    // C is written along its rows where its columns fill tiles.
    const bool x_is_b = args.n >= args.m || (args.n >= 128 && args.k <= 128);
    const SkinnyTileOperand a = {gemm.a, gemm.stride_a};
    const SkinnyTileOperand b = {gemm.b, gemm.stride_b};
    const auto a_layout = args.a.transposed ? OperandLayout::kMnMajor : OperandLayout::kKMajor;
    const auto b_layout = args.b.transposed ? OperandLayout::kKMajor : OperandLayout::kMnMajor;
    product.x = x_is_b ? b : a;
    product.y = x_is_b ? a : b;
    x_layout = x_is_b ? b_layout : a_layout;
    product.y_is_k_major = (x_is_b ? a_layout : b_layout) == OperandLayout::kKMajor;
    product.c = gemm.c.data;
    product.c_row_stride = x_is_b ? gemm.c.ld : 1;
    product.c_col_stride = x_is_b ? 1 : gemm.c.ld;
    product.c_batch_stride = gemm.stride_c;
    product.epilogue = gemm.epilogue;
    product.batch = args.batch;
    product.k = gemm.k;
  }
};

// The tiles that there are, and what they cost on an H200, fitted to 2,500 times: a chunk of a
// block that has a multiprocessor to itself, and a chunk where blocks fill it, in microseconds.
struct TileChoice {
  int cols, rows, blocks;
  double chunk_alone, chunk_shared;
};
constexpr TileChoice kTiles8 = {128, 8, 3, 0.63, 0.434};
constexpr TileChoice kTiles16 = {128, 16, 3, 0.191, 0.749};
constexpr TileChoice kTiles24 = {128, 24, 3, 1.132, 0.94};
constexpr TileChoice kTiles24Wide = {256, 24, 2, 1.937, 1.775};

// Returns the time of the plan with `tile_count` tiles like these, each in `parts` parts of
// `chunks_of_part` chunks, in microseconds. The mean error of the fit is 9 %; where the tiles and
// parts are chosen by it, the time is 1.045 times the best one's.
double PredictedTime(const SkinnyTilePlan& plan, const TileChoice& tiles, int64_t tile_count,
                     int parts, int64_t chunks_of_part, int multiprocessors) {
  constexpr double kLaunch = 1.758;
  constexpr double kCluster = 0.925;
  constexpr double kBlockOfCluster = 0.132;
  constexpr double kRound = 3.874;  // A block's first loads, and its stores.
  const int64_t blocks = tile_count * parts;
  const auto chunks = static_cast<double>(chunks_of_part);
  const double slower = (plan.product.x.matrix.vectors ? 1 : 1.249) *
                        (plan.x_layout == OperandLayout::kKMajor ? 1.068 : 1);
  const auto round = [&](int64_t blocks_of_each) {
    return kRound + chunks * slower *
                        std::max(tiles.chunk_alone,
                                 static_cast<double>(blocks_of_each) * tiles.chunk_shared);
  };
  const int64_t slots = int64_t{multiprocessors} * tiles.blocks;
  const int64_t last = blocks % slots;
  return kLaunch + (parts > 1 ? kCluster + kBlockOfCluster * parts : 0) +
         static_cast<double>(blocks / slots) * round(tiles.blocks) +
         (last > 0 ? round(CeilDiv(last, multiprocessors)) : 0);
}

struct SkinnyTileChoice {
  const TileChoice* tiles;
  int parts;
};

// Returns the tiles and the parts of k with the least predicted time.
SkinnyTileChoice FastestTiles(const SkinnyTilePlan& plan, const DeviceModel& device) {
  static constexpr const TileChoice* kAll[] = {&kTiles8, &kTiles16, &kTiles24, &kTiles24Wide};
  const int most_parts = device.compute_capability < 90 ? 1 : kMaxClusterBlocks;
  // Divisions take most of the time of a choice: none is made twice.
  const SkinnyTileProduct& product = plan.product;
  const int64_t chunks = CeilDiv(product.k, kSkinnyExtentK);
  const auto last = static_cast<int>(std::min<int64_t>(most_parts, std::max<int64_t>(chunks, 1)));
  int64_t chunks_of_part[kMaxClusterBlocks + 1] = {};
  for (int parts = 1; parts <= last; ++parts) chunks_of_part[parts] = CeilDiv(chunks, parts);
  SkinnyTileChoice best = {kAll[0], 1};
  double best_time = std::numeric_limits<double>::infinity();
  for (const TileChoice* tiles : kAll) {
    const int64_t tile_count = CeilDiv(product.x.matrix.mn, tiles->cols) *
                               CeilDiv(product.y.matrix.mn, tiles->rows) * product.batch;
    for (int parts = 1; parts <= last; ++parts) {
      const double time = PredictedTime(plan, *tiles, tile_count, parts, chunks_of_part[parts],
                                        device.multiprocessors);
      if (time < best_time) {
        best_time = time;
        best = {tiles, parts};
      }
    }
  }
  return best;
}

}  // namespace
}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SKINNY_TILE_PLAN_H_
