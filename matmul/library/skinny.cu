// Skinny products whose operands lie in any way at all: a few rows or columns and any k, or any
// size and a k so short that what counts is to write C. See skinny_tile.h for a block's tile.
//
// A few tiles do not fill the machine. Then k is split into parts, which the blocks of a cluster
// compute; each of them adds a part of the tile, reading the others' sums in their shared memory.
// So this needs no workspace.

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdlib>
#include <cstdint>
#include <type_traits>

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
  const float* const x_data = product.x.matrix.data + index * product.x.batch_stride +
                              (X::kKMajor ? first_col * x_ld + first_k : first_k * x_ld + first_col);
  const float* const y_data = product.y.matrix.data + index * product.y.batch_stride +
                              (product.y_is_k_major ? first_row * y_ld + first_k : first_k * y_ld + first_row);
  const auto copy = [&](int chunk, float* stage) {
    const int64_t at_k = static_cast<int64_t>(chunk) * kExtentK;
    const int k_left = k - chunk * kExtentK;
    X::Copy(x_data + (X::kKMajor ? at_k : at_k * x_ld), x_ld, product.x.matrix.vectors, cols,
            k_left, stage);
    Y::Copy(y_data + (product.y_is_k_major ? at_k : at_k * y_ld), y_ld, product.y_is_k_major,
            product.y.matrix.vectors, rows, k_left, stage + X::kFloats);
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
    const float* const x_chunk = shared + to_stage * SkinnyChunks<Form>::kStageFloats;
    const float* const x = x_chunk + lane * (X::kKMajor ? X::kPitch : 1);
    const float* const y = x_chunk + X::kFloats + warp_row;
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
  // Elements are numbered as they lie in C.
  const bool by_rows = product.c_col_stride == 1;
  const auto elements = Form::kCols * (by_rows ? rows : Form::kRows);
  const auto row_of = [&](int i) { return by_rows ? i / Form::kCols : i % Form::kRows; };
  const auto col_of = [&](int i) { return by_rows ? i % Form::kCols : i / Form::kRows; };
  const auto store = [&](int row, int col, float sum) {
    if (row < rows && col < cols) {
      product.epilogue.Store(sum, c, row * product.c_row_stride + col * product.c_col_stride);
    }
  };
  for (int i = threadIdx.x; i < elements; i += Form::kThreads) {
    const int row = row_of(i);
    const int col = col_of(i);
    float* const first = shared + row * kPitch + col;
    float sum = *first;
#pragma unroll
    for (int other = 1; other < Form::kSlices; ++other) {
      sum += first[other * Form::kRows * kPitch];
    }
    if (product.parts == 1) {
      store(row, col, sum);
    } else {
      *first = sum;
    }
  }
  if (product.parts == 1) return;
  SyncCluster();
  for (int i = static_cast<int>(threadIdx.x) + part * Form::kThreads; i < elements;
       i += static_cast<int>(product.parts) * Form::kThreads) {
    const int row = row_of(i);
    const int col = col_of(i);
    float sum = 0;
#pragma unroll 4
    for (int other = 0; other < static_cast<int>(product.parts); ++other) {
      sum += LoadFromBlock(shared + row * kPitch + col, other);
    }
    store(row, col, sum);
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

// Returns the number of parts of k, of which one takes as long as another.
int PartsOf(int64_t tiles, int64_t chunks, const DeviceModel& device) {
#ifdef STRIDEWISE_HOST_EXECUTOR
  return 1;
#else
  if (const char* e = getenv("SKINNY_PARTS")) return (int)std::min<int64_t>(atoi(e), std::max<int64_t>(chunks, 1));
  if (device.compute_capability < 90) return 1;
  int best = 1;
  double best_cost = 0;
  for (int parts = 1; parts <= kMaxClusterBlocks && parts <= chunks; ++parts) {
    const auto blocks = static_cast<double>(CeilDiv(tiles * parts, device.multiprocessors));
    const double alone = blocks < 2 ? 1.4 : blocks < 3 ? 1.1 : 1;
    const double cost = blocks * static_cast<double>(CeilDiv(chunks, parts)) * alone +
                        (parts > 1 ? 4 : 0) + blocks * 2;
    if (parts == 1 || cost < best_cost) {
      best = parts;
      best_cost = cost;
    }
  }
  return best;
#endif
}

template <typename Form>
LaunchStatus LaunchForm(SkinnyTilePlan plan, const MatMulArgs& args) {
  SkinnyTileProduct& product = plan.product;
  product.row_tiles = static_cast<uint32_t>(CeilDiv(product.y.matrix.mn, Form::kRows));
  const int64_t tiles = CeilDiv(product.x.matrix.mn, Form::kCols) * product.row_tiles;
  const int64_t chunks = CeilDiv(product.k, Form::kExtentK);
  const int parts = PartsOf(tiles * args.batch, chunks, DeviceOf(args));
  product.parts = static_cast<uint32_t>(parts);
  product.k_of_part = static_cast<int>(
      std::min<int64_t>(CeilDiv(chunks, parts) * Form::kExtentK, std::max(product.k, 1)));
  const bool gathers = Form::kSlices > 1 || parts > 1 || product.c_col_stride != 1;
  const int64_t stages = std::min<int64_t>(CeilDiv(product.k_of_part, Form::kExtentK), Form::kStages);
  const int64_t floats = std::max<int64_t>(stages * SkinnyChunks<Form>::kStageFloats,
                                           gathers ? Form::kGatherFloats : 0);
  const int64_t layers = CeilDiv(args.batch, kMaxGridYZ);
  return LaunchClusters(parts, SkinnyTiles<Form>,
                        Grid{tiles * parts, CeilDiv(args.batch, layers), layers},
                        Block{Form::kThreads}, floats * sizeof(float), args.stream, product);
}

template <int kWarpRows, int kRowWarps, int kBlocks>
LaunchStatus LaunchRows(const SkinnyTilePlan& plan, const MatMulArgs& args) {
  constexpr auto kK = OperandLayout::kKMajor;
  constexpr auto kMn = OperandLayout::kMnMajor;
  return plan.x_layout == kK
             ? LaunchForm<SkinnyForm<kWarpRows, kRowWarps, kBlocks, kK>>(plan, args)
             : LaunchForm<SkinnyForm<kWarpRows, kRowWarps, kBlocks, kMn>>(plan, args);
}

}  // namespace

LaunchStatus MatMulSkinny(const MatMulArgs& args) {
  const SkinnyTilePlan plan(args);
  const int64_t rows = plan.product.y.matrix.mn;
  const int64_t tiles = CeilDiv(plan.product.x.matrix.mn, 128) * args.batch;
  int form;
  if (plan.product.k <= 96) {
    form = rows <= 16 || CeilDiv(rows, 16) * tiles <= 132 ? 104
           : rows <= 32 || CeilDiv(rows, 32) * tiles <= 264 ? 108
                                                            : 116;
  } else {
    form = rows <= 8 ? 8 : rows <= 16 ? 16 : rows <= 24 ? 24 : rows <= 32 ? 32 : rows <= 48 ? 224 : 232;
  }
#ifndef STRIDEWISE_HOST_EXECUTOR
  if (const char* e = getenv("SKINNY_FORM")) form = atoi(e);
#endif
  switch (form) {
    case 104: return LaunchRows<4, 4, 8>(plan, args);
    case 108: return LaunchRows<8, 4, 6>(plan, args);
    case 116: return LaunchRows<16, 4, 4>(plan, args);
    case 8: return LaunchRows<8, 1, 3>(plan, args);
    case 16: return LaunchRows<16, 1, 3>(plan, args);
    case 24: return LaunchRows<24, 1, 3>(plan, args);
    case 32: return LaunchRows<32, 1, 2>(plan, args);
    case 224: return LaunchRows<24, 2, 3>(plan, args);
    default: return LaunchRows<32, 2, 2>(plan, args);
  }
}

}  // namespace stridewise
