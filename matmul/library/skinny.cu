// Skinny products whose operands lie in any way at all: a few rows or columns and any k, or any
// size and a k so short that what counts is to write C. See skinny_tile.h for a block's tile.
//
// A few tiles do not fill the machine. Then k is split into parts, which the blocks of a cluster
// compute; each of them adds a part of the tile, reading the others' sums in their shared memory.
// So this needs no workspace.

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/cluster.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/skinny_tile.h"

namespace stridewise {
namespace {

template <typename Form>
__global__ void __launch_bounds__(Form::kThreads, Form::kBlocksPerMultiprocessor)
    SkinnyTiles(SkinnyTileProduct product) {
  using X = typename SkinnyChunks<Form>::X;
  using Y = typename SkinnyChunks<Form>::Y;
  constexpr int kExtentK = Form::kExtentK;
  constexpr int kStages = Form::kStages;
  extern __shared__ float4 memory[];
  auto* const shared = reinterpret_cast<float*>(memory);
  const int64_t index = static_cast<int64_t>(blockIdx.z) * gridDim.y + blockIdx.y;
  if (index >= product.batch) return;
  const auto part = static_cast<int>(blockIdx.x % product.parts);
  const uint32_t tile = blockIdx.x / product.parts;
  const int64_t first_row = static_cast<int64_t>(tile % product.row_tiles) * Form::kRows;
  const int64_t first_col = static_cast<int64_t>(tile / product.row_tiles) * Form::kCols;
  const auto rows = static_cast<int>(min(product.y.matrix.mn - first_row, int64_t{Form::kRows}));
  const auto cols = static_cast<int>(min(product.x.matrix.mn - first_col, int64_t{Form::kCols}));
  const int64_t first_k = static_cast<int64_t>(part) * product.k_of_part;
  const auto k =
      static_cast<int>(max(min(product.k - first_k, int64_t{product.k_of_part}), int64_t{0}));
  const int64_t x_ld = product.x.matrix.ld;
  const int64_t y_ld = product.y.matrix.ld;
  const float* const x_data =
      product.x.matrix.data + index * product.x.batch_stride +
      (X::kKMajor ? first_col * x_ld + first_k : first_k * x_ld + first_col);
  const float* const y_data =
      product.y.matrix.data + index * product.y.batch_stride +
      (product.y_is_k_major ? first_row * y_ld + first_k : first_k * y_ld + first_row);
  const auto copy = [&](int chunk, float* stage) {
    const int64_t at_k = static_cast<int64_t>(chunk) * kExtentK;
    const int k_left = min(k - chunk * kExtentK, kExtentK);
    X::Copy(x_data + (X::kKMajor ? at_k : at_k * x_ld), x_ld, product.x.matrix.vectors, cols,
            k_left, stage + Y::kFloats);
    Y::Copy(y_data + (product.y_is_k_major ? at_k : at_k * y_ld), y_ld, product.y_is_k_major,
            product.y.matrix.vectors, rows, k_left, stage);
  };

  const int chunks = k / kExtentK + (k % kExtentK != 0);
  const auto lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const auto warp = static_cast<int>(threadIdx.x) / kWarpSize;
  const int warp_row = warp % Form::kRowWarps * Form::kWarpRows;
  const int slice = warp / Form::kRowWarps;
  float sums[Form::kWarpRows][Form::kLaneCols] = {};
  // Each round copies a chunk and multiplies an earlier one; the first kStages - 1 only copy.
  int to_stage = 0;
#pragma unroll 1
  for (int next = 0; next < chunks + kStages - 1; ++next) {
    const int chunk = next - (kStages - 1);
    if (chunk >= 0) {
      __pipeline_wait_prior(kStages - 2);
      __syncthreads();  // This chunk has arrived, and no thread reads the one before.
    }
    if (next < chunks) copy(next, shared + to_stage * SkinnyChunks<Form>::kStageFloats);
    __pipeline_commit();
    to_stage = to_stage == kStages - 1 ? 0 : to_stage + 1;
    if (chunk < 0) continue;
    // The oldest stage is the one that is copied to next.
    const float* const stage = shared + to_stage * SkinnyChunks<Form>::kStageFloats;
    const float* const x = stage + Y::kFloats + lane * (X::kKMajor ? X::kPitch : 1);
    const float* const y = stage + warp_row;
    const int extent_k = min(k - chunk * kExtentK, kExtentK);
#pragma unroll 1
    for (int i = slice * kVector; i < extent_k; i += Form::kSlices * kVector) {
      MultiplyFour<Form>(x, y, i, sums);
    }
  }

  float* const c = product.c + index * product.c_batch_stride + first_row * product.c_row_stride +
                   first_col * product.c_col_stride;
  if (Form::kSlices == 1 && product.parts == 1 && product.c_col_stride == 1) {
#pragma unroll
    for (int row = 0; row < Form::kWarpRows; ++row) {
      if (warp_row + row >= rows) break;
#pragma unroll
      for (int i = 0; i < Form::kLaneCols; ++i) {
        const int col = lane + i * kWarpSize;
        if (col < cols) {
          product.epilogue.Store(sums[row][i], c, (warp_row + row) * product.c_row_stride + col);
        }
      }
    }
    return;
  }

  constexpr int kPitch = Form::kGatherPitch;
  __syncthreads();  // No thread reads the last chunk.
#pragma unroll
  for (int row = 0; row < Form::kWarpRows; ++row) {
#pragma unroll
    for (int i = 0; i < Form::kLaneCols; ++i) {
      shared[(slice * Form::kRows + warp_row + row) * kPitch + lane + i * kWarpSize] = sums[row][i];
    }
  }
  __syncthreads();
  // From here on the tile is vectors of four columns of a row.
  constexpr int kVectorsOfRow = Form::kCols / kVector;
  constexpr int kVectors = Form::kRows * kVectorsOfRow;
  const auto at = [&](int vector) {
    return shared + vector / kVectorsOfRow * kPitch + vector % kVectorsOfRow * kVector;
  };
  const auto store = [&](int vector, const float(&four)[kVector]) {
    const int row = vector / kVectorsOfRow;
    const int col = vector % kVectorsOfRow * kVector;
    if (row >= rows) return;
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      if (col + i >= cols) return;
      product.epilogue.Store(four[i], c,
                             row * product.c_row_stride + (col + i) * product.c_col_stride);
    }
  };
  const auto thread = static_cast<int>(threadIdx.x);
  if (product.parts == 1 && product.c_col_stride != 1) {
    // Neighbours in C lie down a column of the tile.
#pragma unroll 4
    for (int i = thread; i < Form::kRows * Form::kCols; i += Form::kThreads) {
      const int row = i % Form::kRows;
      const int col = i / Form::kRows;
      float sum = 0;
#pragma unroll
      for (int slice_of = 0; slice_of < Form::kSlices; ++slice_of) {
        sum += shared[(slice_of * Form::kRows + row) * kPitch + col];
      }
      if (row < rows && col < cols) {
        product.epilogue.Store(sum, c, row * product.c_row_stride + col * product.c_col_stride);
      }
    }
    return;
  }
  if (Form::kSlices > 1 || product.parts == 1) {
#pragma unroll 4
    for (int vector = thread; vector < kVectors; vector += Form::kThreads) {
      float sum[kVector];
      LoadFour(at(vector), sum);
#pragma unroll
      for (int other = 1; other < Form::kSlices; ++other) {
        float more[kVector];
        LoadFour(at(vector) + other * Form::kRows * kPitch, more);
#pragma unroll
        for (int i = 0; i < kVector; ++i) sum[i] += more[i];
      }
      if (product.parts == 1) {
        store(vector, sum);
      } else {
        StoreFour(at(vector), sum);
      }
    }
    if (product.parts == 1) return;
  }
  SyncCluster();
  const auto parts = static_cast<int>(product.parts);
  for (int vector = thread + part * Form::kThreads; vector < kVectors;
       vector += parts * Form::kThreads) {
    float sum[kVector] = {};
    constexpr int kAtOnce = 4;
    for (int other = 0; other < parts; other += kAtOnce) {
      float more[kAtOnce][kVector];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        LoadFourFromBlock(at(vector), min(other + i, parts - 1), more[i]);
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (other + i >= parts) break;
#pragma unroll
        for (int j = 0; j < kVector; ++j) sum[j] += more[i][j];
      }
    }
    store(vector, sum);
  }
  SyncCluster();  // No block ends while another one reads its sums.
}

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

struct Choice {
  const TileChoice* tiles;
  int parts;
};

// Returns the tiles and the parts of k with the least predicted time.
Choice FastestTiles(const SkinnyTilePlan& plan, const DeviceModel& device) {
  static constexpr const TileChoice* kAll[] = {&kTiles8, &kTiles16, &kTiles24, &kTiles24Wide};
  const int most_parts = device.compute_capability < 90 ? 1 : kMaxClusterBlocks;
  // Divisions take most of the time of a choice: none is made twice.
  const SkinnyTileProduct& product = plan.product;
  const int64_t chunks = CeilDiv(product.k, kSkinnyExtentK);
  const auto last = static_cast<int>(std::min<int64_t>(most_parts, std::max<int64_t>(chunks, 1)));
  int64_t chunks_of_part[kMaxClusterBlocks + 1] = {};
  for (int parts = 1; parts <= last; ++parts) chunks_of_part[parts] = CeilDiv(chunks, parts);
  Choice best = {kAll[0], 1};
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
  const Choice choice = FastestTiles(plan, DeviceOf(args));
  if (choice.tiles == &kTiles8) return LaunchTiles<4, 8, 1, 3>(plan, choice.parts, args);
  if (choice.tiles == &kTiles16) return LaunchTiles<4, 16, 1, 3>(plan, choice.parts, args);
  if (choice.tiles == &kTiles24) return LaunchTiles<4, 24, 1, 3>(plan, choice.parts, args);
  return LaunchTiles<8, 12, 2, 2>(plan, choice.parts, args);
}

}  // namespace stridewise
