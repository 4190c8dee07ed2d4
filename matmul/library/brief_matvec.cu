// Batches of short matrix-vector products, in all four forms and of any alignment: one row or one
// column of C each, that last hardly longer than a launch.
//
// `matvec` gives a block 32 columns of one product, or warps 128 k of a row: of seven columns or 47
// k most lanes load for nothing, and a batch has many such blocks. Here the results of all products
// are numbered, and as many lanes share one as have something to load (brief_matvec_plan.h). All
// loads of a thread are in flight at once, so that the call takes one trip to memory, and there is
// one reduction of a few steps.
//
// As in matvec.cu, C is y * X with a vector y. Where X is K-major, neighbouring lanes have
// neighbouring k of one row of X, or of a few rows, for which they load y once. Where it is
// MN-major, they have neighbouring columns.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/brief_matvec_plan.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tile_order.h"

namespace stridewise {
namespace {

// The kernels' argument; the fields that a thread reads first come first.
struct BriefVectors {
  FastDivisor of_product;  // Groups of rows, or columns, of a product.
  uint32_t total;          // Of the batch's groups, or columns.
  int k;
  const float* x;
  const float* y;
  int64_t x_ld;
  int64_t y_stride;  // Between the elements of y.
  int64_t x_batch_stride, y_batch_stride;
  int cols;       // Of X: the elements of a result.
  int log_lanes;  // K-major: that share a group of rows.
  int log_cols;   // MN-major: of a block.
  float* c;
  int64_t c_stride, c_batch_stride;
  Epilogue<Float32> epilogue;

  __device__ float* Result(uint32_t product, int64_t col) const {
    return c + product * c_batch_stride + col * c_stride;
  }
};

// X is K-major. 2^log_lanes lanes have kRows rows, and kLoads loads of each in flight.
template <int kRows, int kLoads>
__global__ void __launch_bounds__(kBriefRowsThreads) BriefRows(BriefVectors vectors) {
  __shared__ float warp_sums[kBriefRowsThreads / kWarpSize][kRows];
  const auto thread = static_cast<int>(threadIdx.x);
  const int lanes = 1 << vectors.log_lanes;
  const int lane = thread & (lanes - 1);
  const uint32_t number = blockIdx.x * (kBriefRowsThreads >> vectors.log_lanes) +
                          static_cast<uint32_t>(thread >> vectors.log_lanes);
  // Groups beyond the last one are that one again, and are not stored.
  const uint32_t group = min(number, vectors.total - 1);
  const uint32_t product = vectors.of_product.Quotient(group);
  const int64_t row = int64_t{group - product * vectors.of_product.divisor()} * kRows;
  const int rows = static_cast<int>(min(vectors.cols - row, int64_t{kRows}));
  const bool stores = lane < rows && number < vectors.total;
  float* const result = vectors.Result(product, row + lane);
  const float* x = vectors.x + product * vectors.x_batch_stride + row * vectors.x_ld + lane;
  const float* y = vectors.y + product * vectors.y_batch_stride + lane * vectors.y_stride;
  float sums[kRows] = {};
#pragma unroll 1
  for (int left = vectors.k - lane; left > 0; left -= kLoads * lanes) {
    float values[kRows][kLoads];
    float factors[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const bool exists = i * lanes < left;
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
        values[r][i] = exists && r < rows ? x[r * vectors.x_ld + i * lanes] : 0.0f;
      }
      factors[i] = exists ? y[i * lanes * vectors.y_stride] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) sums[r] = fma(values[r][i], factors[i], sums[r]);
    }
    x += kLoads * lanes;
    y += kLoads * lanes * vectors.y_stride;
  }
#pragma unroll 1
  for (int mask = min(lanes, kWarpSize) / 2; mask > 0; mask /= 2) {
#pragma unroll
    for (int r = 0; r < kRows; ++r) sums[r] += __shfl_xor_sync(~0u, sums[r], mask);
  }
  float sum = sums[0];
  if (lanes > kWarpSize) {
    const int warp = thread / kWarpSize;
    if (thread % kWarpSize == 0) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) warp_sums[warp][r] = sums[r];
    }
    __syncthreads();
    if (!stores) return;
    sum = 0;
    for (int i = 0; i < lanes / kWarpSize; ++i) sum += warp_sums[warp + i][lane];
  } else {
#pragma unroll
    for (int r = 1; r < kRows; ++r) {
      if (lane == r) sum = sums[r];
    }
  }
  if (stores) vectors.epilogue.Store(sum, result);
}

// X is MN-major. A block has 2^log_cols columns, each of which has a thread in each group of
// threads; the groups have neighbouring k. A thread has kLoads loads in flight.
template <int kLoads>
__global__ void __launch_bounds__(kBriefColumnsThreads) BriefColumns(BriefVectors vectors) {
  __shared__ float parts[kBriefColumnsThreads];
  const auto thread = static_cast<int>(threadIdx.x);
  const int log_cols = vectors.log_cols;
  const int group = thread >> log_cols;
  const int groups = kBriefColumnsThreads >> log_cols;
  const uint32_t first = blockIdx.x << log_cols;
  // Columns beyond the last one are that one again, and are not stored.
  const uint32_t number = min(first + (thread & ((1 << log_cols) - 1)), vectors.total - 1);
  const uint32_t product = vectors.of_product.Quotient(number);
  const int64_t col = number - product * vectors.of_product.divisor();
  const float* x = vectors.x + product * vectors.x_batch_stride + group * vectors.x_ld + col;
  const float* y = vectors.y + product * vectors.y_batch_stride + group * vectors.y_stride;
  const int64_t x_step = groups * vectors.x_ld;
  const int64_t y_step = groups * vectors.y_stride;
  float part = 0;
#pragma unroll 1
  for (int left = vectors.k - group; left > 0; left -= kLoads * groups) {
    float values[kLoads];
    float factors[kLoads];
#pragma unroll
    for (int i = 0; i < kLoads; ++i) {
      const bool exists = i * groups < left;
      values[i] = exists ? x[i * x_step] : 0.0f;
      factors[i] = exists ? y[i * y_step] : 0.0f;
    }
#pragma unroll
    for (int i = 0; i < kLoads; ++i) part = fma(values[i], factors[i], part);
    x += kLoads * x_step;
    y += kLoads * y_step;
  }
  parts[thread] = part;
  __syncthreads();
  // As many lanes as there are for each column, up to a warp, add its groups' sums.
  const int log_lanes = min(5, kLogBriefColumnsThreads - log_cols);
  const int lane = thread & ((1 << log_lanes) - 1);
  const int col_of_sum = thread >> log_lanes;
  float sum = 0;
  if (col_of_sum < 1 << log_cols) {
    for (int i = lane; i < groups; i += 1 << log_lanes) sum += parts[(i << log_cols) + col_of_sum];
  }
#pragma unroll 1
  for (int mask = 1 << log_lanes >> 1; mask > 0; mask /= 2) {
    sum += __shfl_xor_sync(~0u, sum, mask);
  }
  const uint32_t stored = first + col_of_sum;
  if (lane > 0 || col_of_sum >= 1 << log_cols || stored >= vectors.total) return;
  const uint32_t product_of_sum = vectors.of_product.Quotient(stored);
  vectors.epilogue.Store(
      sum, vectors.Result(product_of_sum,
                          int64_t{stored - product_of_sum * vectors.of_product.divisor()}));
}

// Returns the kernels' argument but for what the plan says.
BriefVectors VectorsOf(const MatMulArgs& args, const BriefMatVecPlan& plan, bool k_major) {
  const Gemm<Float32> gemm = GemmOf<Float32>(args);
  const bool is_row = args.m == 1;
  const Operand<float>& x = is_row ? gemm.b : gemm.a;
  const Operand<float>& y = is_row ? gemm.a : gemm.b;
  // Y's neighbours along k lie together, or a leading dimension apart.
  const bool y_is_k_major = is_row ? !args.a.transposed : args.b.transposed;
  return {FastDivisor(static_cast<uint32_t>(plan.groups)),
          static_cast<uint32_t>(plan.groups * args.batch), gemm.k, x.data, y.data,
          // A single column without gaps is a row.
          k_major && x.mn == 1 ? gemm.k : x.ld, y_is_k_major ? 1 : y.ld,
          is_row ? gemm.stride_b : gemm.stride_a, is_row ? gemm.stride_a : gemm.stride_b,
          static_cast<int>(x.mn), plan.log_lanes, plan.log_cols, gemm.c.data,
          is_row ? 1 : gemm.c.ld, gemm.stride_c, gemm.epilogue};
}

}  // namespace

LaunchStatus MatMulBriefMatVec(const MatMulArgs& args) {
  static const MatMulFunctions fallback = FunctionsOf("matvec");
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  if (std::min(args.m, args.n) > 1 || !FitsBriefMatVecPlan(std::max(args.m, args.n), args.batch)) {
    return fallback.run(args);
  }
  const bool k_major = BriefMatVecIsKMajor(args);
  const BriefMatVecPlan plan =
      PlanBriefMatVec(std::max(args.m, args.n), args.k, args.batch, k_major, DeviceOf(args));
  const BriefVectors vectors = VectorsOf(args, plan, k_major);
  const auto launch = [&](auto kernel, int threads) {
    return Launch(kernel, Grid{plan.blocks}, Block{threads}, 0, args.stream, vectors);
  };
  if (k_major) {
    return plan.rows == 1   ? launch(BriefRows<1, 4>, kBriefRowsThreads)
           : plan.rows == 2 ? launch(BriefRows<2, 4>, kBriefRowsThreads)
                            : launch(BriefRows<4, 1>, kBriefRowsThreads);
  }
  return plan.loads == 2   ? launch(BriefColumns<2>, kBriefColumnsThreads)
         : plan.loads == 4 ? launch(BriefColumns<4>, kBriefColumnsThreads)
                           : launch(BriefColumns<16>, kBriefColumnsThreads);
}

}  // namespace stridewise
