// Products whose tiles fit: the extents of a tile are chosen for each call (fitted_plan.h), so that
// little of it lies outside C, where the fixed tiles of the `stream_k` kernels leave a third or
// more of their work there. For batches of small and odd matrices.
//
// A block computes one tile of one multiplication, all of its k extent. The main loop is that of
// tile_mma.h; the last step takes only the pairs of k that there are.

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "common/base/return_if_error.h"
#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/accumulators.h"
#include "matmul/device/fitted_copy.h"
#include "matmul/device/fitted_plan.h"
#include "matmul/device/fitted_tile.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/tile_store.h"
#include "matmul/tile_limits.h"

namespace stridewise {
namespace {

// A block's tile, and what of it lies in C.
struct TileInBatch {
  int64_t index;  // The multiplication.
  int64_t row, col;
  int rows, cols;

  __device__ TileInBatch(const Gemm<Float32>& gemm, const FittedGeometry& tile) {
    const uint32_t tiles = tile.tiles_m * tile.tiles_n;
    const uint32_t in_matrix = blockIdx.x % tiles;
    index = blockIdx.x / tiles;
    row = int64_t{in_matrix % tile.tiles_m} * tile.rows;
    col = int64_t{in_matrix / tile.tiles_m} * tile.cols;
    rows = static_cast<int>(min(gemm.a.mn - row, int64_t{tile.rows}));
    cols = static_cast<int>(min(gemm.b.mn - col, int64_t{tile.cols}));
  }
};

// Returns the operand's element at which the tile begins at k = 0.
__device__ inline const float* FirstOf(const Operand<float>& operand, int64_t matrix, int64_t mn,
                                       bool k_major) {
  return operand.data + (matrix + (k_major ? mn * operand.ld : mn));
}

// Adds the products of all k steps.
template <typename Tile>
__device__ inline void MultiplyFitted(const Gemm<Float32>& gemm, const FittedGeometry& tile,
                                      const TileInBatch& at, const FittedCoord<Tile>& coord,
                                      float* shared, Accumulators<Tile>& accumulators) {
  constexpr int kPitch = Tile::kPitch;
  constexpr int kLastStage = (Tile::kStages - 1) * Tile::kStageFloats;
  const auto thread = static_cast<int>(threadIdx.x);
  FittedCopier<Tile> copy_a(gemm.a,
                            FirstOf(gemm.a, at.index * gemm.stride_a, at.row, tile.a_k_major),
                            tile.a_k_major, at.rows, tile.lanes_a, 0, thread);
  FittedCopier<Tile> copy_b(gemm.b,
                            FirstOf(gemm.b, at.index * gemm.stride_b, at.col, tile.b_k_major),
                            tile.b_k_major, at.cols, tile.lanes_b, tile.rows, thread);
  // Slices take equal parts of whole steps.
  const auto rows_of = [](int k_left) {
    return Tile::kSlices == 1 ? min(Tile::kStepK, (k_left + 1) & ~1) : Tile::kStepK;
  };
  int copy_left = gemm.k;
  const auto copy_next = [&](float* stage) {
    if (copy_left > 0) {
      const FittedStep step = {rows_of(copy_left), copy_left};
      copy_a.Copy(step, stage);
      copy_b.Copy(step, stage);
      copy_left -= Tile::kStepK;
    }
    __pipeline_commit();
  };
  if (at.rows < tile.rows || at.cols < tile.cols) {
    const int floats =
        min(Tile::kStages, (gemm.k + Tile::kStepK - 1) / Tile::kStepK) * Tile::kStageFloats;
    for (int i = thread * kVector; i < floats; i += Tile::kThreads * kVector) {
      *reinterpret_cast<float4*>(shared + i) = make_float4(0, 0, 0, 0);
    }
    __syncthreads();
  }
  int write = 0;
  for (; write < kLastStage; write += Tile::kStageFloats) copy_next(shared + write);
  __pipeline_wait_prior(Tile::kStages - 2);
  __syncthreads();

  // A thread's vectors of rows, and of columns, lie half of the tile apart.
  const int a_first = coord.slice * Tile::kSliceK * kPitch + coord.row;
  const int b_first = coord.slice * Tile::kSliceK * kPitch + tile.rows + coord.col;
  const float *a, *a_second, *b, *b_second;
  const auto start_at = [&](int stage) {
    a = shared + stage + a_first;
    b = shared + stage + b_first;
    a_second = a + tile.rows / 2;
    b_second = b + tile.cols / 2;
  };
  const auto load = [&](int offset, Fragment<Tile>& fragment) {
    LoadFour(a + offset, &fragment.a[0]);
    if constexpr (Tile::kThreadM > kVector) LoadFour(a_second + offset, &fragment.a[kVector]);
    LoadFour(b + offset, &fragment.b[0]);
    if constexpr (Tile::kThreadN > kVector) LoadFour(b_second + offset, &fragment.b[kVector]);
  };
  // Warps without an active thread only copy.
  const bool works =
      thread / kWarpSize * kWarpSize < tile.squares_m * tile.squares_n * 4 * Tile::kSlices;
  Fragment<Tile> even;
  Fragment<Tile> odd;
  int read = 0;
  start_at(read);
  load(0, even);
#pragma unroll 1
  for (int k_left = gemm.k; k_left > 0; k_left -= Tile::kStepK) {
    copy_next(shared + write);
    write = write == kLastStage ? 0 : write + Tile::kStageFloats;
    if (works) {
#pragma unroll 1
      for (int pairs = rows_of(k_left) / Tile::kSlices / 2; pairs > 1; --pairs) {
        load(kPitch, odd);
        accumulators.Add(even);
        load(2 * kPitch, even);
        a += 2 * kPitch;
        b += 2 * kPitch;
        a_second += 2 * kPitch;
        b_second += 2 * kPitch;
        accumulators.Add(odd);
      }
      load(kPitch, odd);
      accumulators.Add(even);
    }
    __pipeline_wait_prior(Tile::kStages - 2);
    __syncthreads();
    // After the last step the same stage again: there must be something to read.
    if (k_left > Tile::kStepK) read = read == kLastStage ? 0 : read + Tile::kStageFloats;
    start_at(read);
    if (works) {
      load(0, even);
      accumulators.Add(odd);
    }
  }
  __syncthreads();
}

// Stores the accumulators' tile at `c` through the epilogue: a row of each thread's vectors at a
// time is staged in shared memory, where the slices are added, and stored in whole rows.
template <typename Tile>
__device__ inline void StoreFitted(const Gemm<Float32>& gemm, const FittedGeometry& tile,
                                   const TileInBatch& at, const FittedCoord<Tile>& coord,
                                   float* shared, Accumulators<Tile>& accumulators) {
  const auto thread = static_cast<int>(threadIdx.x);
  const int lane = thread % kWarpSize;
  const int log_rows = 5 - tile.lanes_c;
  const int first_row = (thread / kWarpSize << log_rows) + (lane >> tile.lanes_c);
  const int first_col = lane & ((1 << tile.lanes_c) - 1);
  const int rows = tile.squares_m * 2 * kVector;  // Of a pass.
  const int slice_floats = rows * tile.out_pitch;
  const bool reads_c = gemm.epilogue.ReadsC();
  float* const c = gemm.c.data + (at.index * gemm.stride_c + at.row * gemm.c.ld + at.col);
#pragma unroll
  for (int pass = 0; pass < Tile::kThreadM / kVector; ++pass) {
    if (pass > 0) __syncthreads();
    if (coord.active) {
      float* const out =
          shared + coord.slice * slice_floats + coord.row * tile.out_pitch + coord.col;
#pragma unroll
      for (int i = 0; i < kVector; ++i) {
        float* const to = out + i * tile.out_pitch;
        const float* const from = accumulators.at[pass * kVector + i];
        *reinterpret_cast<float4*>(to) = Exchanged(from);
        if constexpr (Tile::kThreadN > kVector) {
          *reinterpret_cast<float4*>(to + tile.cols / 2) = Exchanged(from + kVector);
        }
      }
    }
    __syncthreads();
    const int rows_left = min(rows, at.rows - pass * rows);
    for (int row = first_row; row < rows_left; row += Tile::kWarps << log_rows) {
      const float* const from = shared + row * tile.out_pitch;
      float* const c_row = c + int64_t{pass * rows + row} * gemm.c.ld;
      if (tile.c_vectors) {
        for (int col = first_col * kVector; col < at.cols; col += kVector << tile.lanes_c) {
          float four[kVector] = {};
          float old[kVector] = {};
#pragma unroll
          for (int slice = 0; slice < Tile::kSlices; ++slice) {
            AddExchanged(*reinterpret_cast<const float4*>(from + slice * slice_floats + col), four);
          }
          if (reads_c) LoadFour(c_row + col, old);
#pragma unroll
          for (int i = 0; i < kVector; ++i) {
            four[i] = gemm.epilogue.Apply(four[i], &old[i], reads_c);
          }
          StoreFour(c_row + col, four);
        }
      } else {
#pragma unroll 2
        for (int col = first_col; col < at.cols; col += 1 << tile.lanes_c) {
          float sum = from[col ^ 1];
#pragma unroll
          for (int slice = 1; slice < Tile::kSlices; ++slice) {
            sum += from[slice * slice_floats + (col ^ 1)];
          }
          c_row[col] = gemm.epilogue.Apply(sum, &c_row[col], reads_c);
        }
      }
    }
  }
}

template <typename Tile>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kMinBlocks)
    Fitted(Gemm<Float32> gemm, FittedGeometry tile) {
  extern __shared__ float4 memory[];
  auto* const shared = reinterpret_cast<float*>(memory);
  const TileInBatch at(gemm, tile);
  const FittedCoord<Tile> coord(tile, static_cast<int>(threadIdx.x));
  if (gemm.epilogue.ReadsC()) {
    const float* const c = gemm.c.data + (at.index * gemm.stride_c + at.row * gemm.c.ld + at.col);
    for (int row = static_cast<int>(threadIdx.x); row < at.rows; row += Tile::kThreads) {
      PrefetchRow(c + row * gemm.c.ld, at.cols);
    }
  }
  Accumulators<Tile> accumulators;
  accumulators.Clear();
  if (gemm.k > 0) MultiplyFitted(gemm, tile, at, coord, shared, accumulators);
  StoreFitted(gemm, tile, at, coord, shared, accumulators);
}

}  // namespace

LaunchStatus MatMulFitted(const MatMulArgs& args) {
  RETURN_IF_ERROR(CheckTileLd(args));
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const auto gemm = GemmOf<Float32>(args);
  const FittedArrangement most = ChooseFitted(args, gemm, DeviceOf(args));
  return ForFittedTile(most.policy, [&](auto policy) {
    using Tile = decltype(policy);
    const auto tile = FittedGeometryOf<Tile>(args, gemm, most);
    return Launch(Fitted<Tile>, Grid{FittedBlocks(tile, args.batch)}, Block{Tile::kThreads},
                  static_cast<size_t>(FittedSharedBytes<Tile>(tile, gemm.k)), args.stream, gemm,
                  tile);
  });
}

}  // namespace stridewise
