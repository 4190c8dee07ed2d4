// Products of a k so short that all there is to do is to write C: outer products, and sums of a
// few.
//
// Kernels with pipelines fill and drain them for each tile, and a tile of 16 rows is over before
// the next one's operands are there. Here a block loads its rows of op(A) and columns of op(B)
// once, over all of k, into shared memory; then each thread keeps its columns of op(B) in registers
// and goes down the rows, with a load and a store for each row and nothing to wait for. The grid
// has about as many blocks as the device runs at once, so that all loads of the call are in flight
// together.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "common/base/return_if_error.h"
#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/vector_access.h"
#include "matmul/outer_plan.h"

namespace stridewise {
namespace {

// The argument.
struct OuterProduct {
  const float* a;
  const float* b;
  int64_t lda, ldb;
  int64_t m, n;
  int k;
  bool a_k_major, b_k_major;  // Whether k is the index along a row of the stored operand.
  int rows_of_block;
  float* c;
  int64_t ldc;
  Epilogue<Float32> epilogue;
  int64_t stride_a, stride_b, stride_c;
};

// A plan's lanes and columns of a lane (outer_plan.h), for k of at most kExtent.
template <int kExtent, int kLanesOfRow, int kColsOfLane>
struct OuterForm {
  static constexpr int kExtentK = kExtent;
  static constexpr int kLanes = kLanesOfRow;
  static constexpr int kLaneCols = kColsOfLane;
  static constexpr int kCols = kLanes * kLaneCols;
  static_assert(kExtentK % kVector == 0, "rows of op(A) are read by 16 bytes");
  static_assert(kOuterMostRows * kExtentK % kOuterThreads == 0, "threads load equal parts");
  static_assert(kWarpSize % kLanes == 0, "a warp has whole rows");
};

// Where an element lies in an operand's tile.
struct TileCoord {
  int mn;
  int k;
};

// Returns the place of the thread's load number `i`: neighbours in memory for neighbouring threads.
template <int kExtentK, int kMostExtent>
__device__ inline TileCoord CoordOfLoad(bool k_major, int i) {
  const uint32_t number = threadIdx.x + i * kOuterThreads;
  return k_major
             ? TileCoord{static_cast<int>(number / kExtentK), static_cast<int>(number % kExtentK)}
             : TileCoord{static_cast<int>(number % kMostExtent),
                         static_cast<int>(number / kMostExtent)};
}

// Loads the thread's part of `extent` rows of op(A), or columns of op(B), over all of k; 0 beyond.
template <int kExtentK, int kMostExtent, int kLoads>
__device__ inline void LoadPart(const float* operand, int64_t ld, bool k_major, int extent, int k,
                                float (&values)[kLoads]) {
#pragma unroll
  for (int i = 0; i < kLoads; ++i) {
    const TileCoord at = CoordOfLoad<kExtentK, kMostExtent>(k_major, i);
    const int64_t offset = k_major ? at.mn * ld + at.k : at.k * ld + at.mn;
    values[i] = at.mn < extent && at.k < k ? operand[offset] : 0.0f;
  }
}

// A block has `rows_of_block` rows; its grid has x for rows, y for columns, z for the batch.
// kReadC: the epilogue's ReadsC(), a kernel of its own since it needs twice the registers.
template <typename Form, bool kReadC>
__global__ void __launch_bounds__(kOuterThreads) Outer(OuterProduct product) {
  constexpr int kExtentK = Form::kExtentK;
  constexpr int kCols = Form::kCols;
  // Pitches that keep what a warp stores in different banks.
  constexpr int kPitchA = kExtentK + kVector;
  constexpr int kPitchB = kCols + 1;
  __shared__ float4 a_vectors[kOuterMostRows * kPitchA / kVector];
  __shared__ float b_tile[kExtentK * kPitchB];
  auto* const a_tile = reinterpret_cast<float*>(a_vectors);
  const int64_t first_row = static_cast<int64_t>(blockIdx.x) * product.rows_of_block;
  const int64_t first_col = static_cast<int64_t>(blockIdx.y) * kCols;
  const auto rows =
      static_cast<int>(min(product.m - first_row, static_cast<int64_t>(product.rows_of_block)));
  const auto cols = static_cast<int>(min(product.n - first_col, static_cast<int64_t>(kCols)));
  const float* const a = product.a + blockIdx.z * product.stride_a +
                         (product.a_k_major ? first_row * product.lda : first_row);
  const float* const b = product.b + blockIdx.z * product.stride_b +
                         (product.b_k_major ? first_col * product.ldb : first_col);
  // All loads of the block are in flight at once.
  constexpr int kLoadsA = kOuterMostRows * kExtentK / kOuterThreads;
  constexpr int kLoadsB = (kCols * kExtentK + kOuterThreads - 1) / kOuterThreads;
  float a_part[kLoadsA];
  float b_part[kLoadsB];
  LoadPart<kExtentK, kOuterMostRows>(a, product.lda, product.a_k_major, rows, product.k, a_part);
  LoadPart<kExtentK, kCols>(b, product.ldb, product.b_k_major, cols, product.k, b_part);
#pragma unroll
  for (int i = 0; i < kLoadsA; ++i) {
    const TileCoord at = CoordOfLoad<kExtentK, kOuterMostRows>(product.a_k_major, i);
    a_tile[at.mn * kPitchA + at.k] = a_part[i];
  }
#pragma unroll
  for (int i = 0; i < kLoadsB; ++i) {
    const TileCoord at = CoordOfLoad<kExtentK, kCols>(product.b_k_major, i);
    if (at.mn < kCols && at.k < kExtentK) b_tile[at.k * kPitchB + at.mn] = b_part[i];
  }
  __syncthreads();
  const auto lane = static_cast<int>(threadIdx.x) % Form::kLanes;
  float b_values[Form::kLaneCols][kExtentK];
#pragma unroll
  for (int i = 0; i < Form::kLaneCols; ++i) {
#pragma unroll
    for (int at_k = 0; at_k < kExtentK; ++at_k) {
      b_values[i][at_k] = b_tile[at_k * kPitchB + lane + i * Form::kLanes];
    }
  }

  float* const c = product.c + blockIdx.z * product.stride_c + first_row * product.ldc + first_col;
  constexpr int kRowsAtOnce = kOuterThreads / Form::kLanes;
  const int first = static_cast<int>(threadIdx.x) / Form::kLanes;
  // Stores the thread's elements of a row, whose old values are `old` where they count.
  const auto store_row = [&](int row, const float* old) {
    float a_values[kExtentK];
#pragma unroll
    for (int i = 0; i < kExtentK; i += kVector) LoadFour(a_tile + row * kPitchA + i, a_values + i);
#pragma unroll
    for (int i = 0; i < Form::kLaneCols; ++i) {
      const int col = lane + i * Form::kLanes;
      if (col >= cols) break;
      float sum = 0;
#pragma unroll
      for (int at_k = 0; at_k < kExtentK; ++at_k) {
        sum = fma(a_values[at_k], b_values[i][at_k], sum);
      }
      c[row * product.ldc + col] = product.epilogue.Apply(sum, old + i, kReadC);
    }
  };
  if constexpr (!kReadC) {
#pragma unroll 2
    for (int row = first; row < rows; row += kRowsAtOnce) store_row(row, nullptr);
  } else {
    // The compiler lets no load pass a store: what C was is loaded for four rows before these are
    // stored, or there would be a trip to memory for each element.
    constexpr int kAhead = 4;
#pragma unroll 1
    for (int row = first; row < rows; row += kAhead * kRowsAtOnce) {
      float old[kAhead][Form::kLaneCols] = {};
#pragma unroll
      for (int h = 0; h < kAhead; ++h) {
        const int at = row + h * kRowsAtOnce;
#pragma unroll
        for (int i = 0; i < Form::kLaneCols; ++i) {
          const int col = lane + i * Form::kLanes;
          if (at < rows && col < cols) old[h][i] = c[at * product.ldc + col];
        }
      }
#pragma unroll
      for (int h = 0; h < kAhead; ++h) {
        if (row + h * kRowsAtOnce < rows) store_row(row + h * kRowsAtOnce, old[h]);
      }
    }
  }
}

// REQUIRES: at most kMaxGridYZ tiles of columns and multiplications.
template <int kExtentK>
LaunchStatus LaunchOuter(const MatMulArgs& args, OuterProduct product, int64_t batch) {
  const OuterPlan plan = PlanOuter(product.m, product.n, batch, DeviceOf(args).multiprocessors);
  product.rows_of_block = plan.rows_of_block;
  const auto launch = [&](auto form) {
    using Form = decltype(form);
    return Launch(product.epilogue.beta == 0 ? Outer<Form, false> : Outer<Form, true>,
                  Grid{plan.row_blocks, plan.col_blocks, batch}, Block{kOuterThreads}, 0,
                  args.stream, product);
  };
  if (plan.lanes == kWarpSize) return launch(OuterForm<kExtentK, kWarpSize, 4>());
  if (plan.lane_cols == 4) return launch(OuterForm<kExtentK, 8, 4>());
  return launch(OuterForm<kExtentK, 8, 1>());
}

}  // namespace

// A grid has no room for more columns than kPart, nor for more multiplications than kMaxGridYZ.
LaunchStatus MatMulOuter(const MatMulArgs& args) {
  static const MatMulFunctions fallback = FunctionsOf("general_tile");
  if (args.k > kOuterMostK) return fallback.run(args);
  constexpr int64_t kPart = 8 * kMaxGridYZ;
  const Gemm<Float32> gemm = GemmOf<Float32>(args);
  for (int64_t col = 0; col < args.n; col += kPart) {
    for (int64_t index = 0; index < args.batch; index += kMaxGridYZ) {
      const OuterProduct product = {
          gemm.a.data + index * args.a.stride,
          gemm.b.data + index * args.b.stride + (args.b.transposed ? col * args.b.ld : col),
          args.a.ld,
          args.b.ld,
          args.m,
          std::min(kPart, args.n - col),
          gemm.k,
          !args.a.transposed,
          args.b.transposed,
          0,
          gemm.c.data + index * args.c.stride + col,
          args.c.ld,
          gemm.epilogue,
          args.a.stride,
          args.b.stride,
          args.c.stride};
      const int64_t batch = std::min(kMaxGridYZ, args.batch - index);
      RETURN_IF_ERROR(gemm.k <= 4   ? LaunchOuter<4>(args, product, batch)
                      : gemm.k <= 8 ? LaunchOuter<8>(args, product, batch)
                                    : LaunchOuter<kOuterMostK>(args, product, batch));
    }
  }
  return LaunchStatus();
}

}  // namespace stridewise
