// Matrix-vector products in all four forms, of any alignment, and batches of them: one row or one
// column of C, bound by reading the matrix.
//
// As in skinny_block.h, C is y * X with a vector y. Where X is K-major, a warp multiplies a few of
// its rows, which are contiguous, by y; where it is MN-major, lanes have columns of their own, and
// groups of lanes different k. There is nothing to keep in shared memory, and there are registers
// enough for what is in flight.
//
// k is split among the warps of a block and, where that leaves multiprocessors idle, among the
// blocks of a cluster: no workspace, and no second kernel, which would cost as much as a small
// product.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "common/base/return_if_error.h"
#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/cluster.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/vector_access.h"

namespace stridewise {
namespace {

// The argument; the fields that a thread reads first come first.
struct MatVecProduct {
  const float* x;
  const float* y;
  int64_t x_ld;
  int64_t y_stride;  // Between the elements of y.
  int64_t cols;      // Of X: the elements of the result.
  int k;
  int k_of_part;   // The k of a block.
  int k_of_slice;  // K-major: the k of a warp.
  uint32_t parts;
  uint32_t slices;  // K-major: the warps that have the same columns.
  float* c;
  int64_t c_stride;
  Epilogue<Float32> epilogue;
  int64_t batch, x_batch_stride, y_batch_stride, c_batch_stride;
};

constexpr int kMaxCols = 32;  // Of a block's result.

// Adds the `sums` of all blocks of the cluster, of which there are `cols` in shared memory, and
// stores the results from `first_col` on. All threads call it after a barrier.
__device__ inline void StoreSums(const MatVecProduct& product, int64_t index, int64_t first_col,
                                 int cols, float sum, float* sums) {
  const auto thread = static_cast<int>(threadIdx.x);
  float* const c = product.c + index * product.c_batch_stride;
  if (product.parts > 1) {
    if (thread < cols) sums[thread] = sum;
    SyncCluster();
    if (blockIdx.x % product.parts == 0 && thread < cols) {
      sum = 0;
#pragma unroll 4
      for (int part = 0; part < static_cast<int>(product.parts); ++part) {
        sum += LoadFromBlock(sums + thread, part);
      }
    }
    SyncCluster();  // No block ends while another one reads its sums.
    if (blockIdx.x % product.parts != 0) return;
  }
  if (thread < cols && first_col + thread < product.cols) {
    product.epilogue.Store(sum, c, (first_col + thread) * product.c_stride);
  }
}

// X is K-major. A warp has kCols columns of C at a time, and loads kWidth neighbours at once.
template <int kWarpCols, int kLoadWidth>
struct RowsForm {
  static constexpr int kThreads = 256;
  static constexpr int kWarps = kThreads / kWarpSize;
  static constexpr int kCols = kWarpCols;
  static constexpr int kWidth = kLoadWidth;
  static constexpr int kAtOnce = (kWidth == kVector ? 8 : 16) / kCols;  // Loads of a row.
  static constexpr int kStepK = kWarpSize * kWidth * kAtOnce;
  static constexpr int kWarpsOfMultiprocessor = 24;  // For the registers that nvcc uses.
};

template <int kWidth>
__device__ inline void LoadWide(const float* from, float (&to)[kWidth]) {
  if constexpr (kWidth == kVector) {
    LoadFour(from, to);
  } else {
    to[0] = *from;
  }
}

template <typename Form>
__global__ void __launch_bounds__(Form::kThreads) MatVecRows(MatVecProduct product) {
  constexpr int kCols = Form::kCols;
  constexpr int kWidth = Form::kWidth;
  constexpr int kAtOnce = Form::kAtOnce;
  __shared__ float warp_sums[Form::kWarps][kCols];
  __shared__ float sums[kMaxCols];
  const int64_t index = static_cast<int64_t>(blockIdx.z) * gridDim.y + blockIdx.y;
  if (index >= product.batch) return;
  const auto lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const auto warp = threadIdx.x / kWarpSize;
  const uint32_t groups = Form::kWarps / product.slices;  // Of warps with the same columns.
  const auto part = static_cast<int>(blockIdx.x % product.parts);
  const int64_t first_col = static_cast<int64_t>(blockIdx.x / product.parts) * groups * kCols;
  const int64_t col = first_col + warp / product.slices * kCols;
  const int64_t first_k = static_cast<int64_t>(part) * product.k_of_part +
                          static_cast<int64_t>(warp % product.slices) * product.k_of_slice;
  const auto extent_k =
      static_cast<int>(min(int64_t{product.k_of_slice}, max(product.k - first_k, int64_t{0})));
  const float* const y = product.y + index * product.y_batch_stride + first_k * product.y_stride;
  // Rows beyond the last one are that one again, and their sums are not stored.
  const float* x[kCols];
#pragma unroll
  for (int i = 0; i < kCols; ++i) {
    x[i] = product.x + index * product.x_batch_stride + first_k +
           min(col + i, product.cols - 1) * product.x_ld;
  }
  const bool y_vectors = kWidth == kVector && product.y_stride == 1 &&
                         reinterpret_cast<uintptr_t>(y) % kVectorBytes == 0;
  float acc[kCols] = {};
#pragma unroll 1
  for (int first = 0; first < extent_k; first += Form::kStepK) {
    // All loads stand before the first use and have no conditions. Beyond the last k that one is
    // loaded again, and replaced by 0 lest Inf * 0 be added.
    int at[kAtOnce];
    float values[kCols][kAtOnce][kWidth];
    float factors[kAtOnce][kWidth];
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
      at[j] = min(first + (j * kWarpSize + lane) * kWidth, extent_k - kWidth);
#pragma unroll
      for (int i = 0; i < kCols; ++i) LoadWide<kWidth>(x[i] + at[j], values[i][j]);
    }
    if (y_vectors) {
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) LoadWide<kWidth>(y + at[j], factors[j]);
    } else {
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
#pragma unroll
        for (int e = 0; e < kWidth; ++e) factors[j][e] = y[(at[j] + e) * product.y_stride];
      }
    }
    if (extent_k - first < Form::kStepK) {
#pragma unroll
      for (int j = 0; j < kAtOnce; ++j) {
        if (first + (j * kWarpSize + lane) * kWidth < extent_k) continue;
#pragma unroll
        for (int e = 0; e < kWidth; ++e) {
          factors[j][e] = 0;
#pragma unroll
          for (int i = 0; i < kCols; ++i) values[i][j][e] = 0;
        }
      }
    }
#pragma unroll
    for (int j = 0; j < kAtOnce; ++j) {
#pragma unroll
      for (int i = 0; i < kCols; ++i) {
#pragma unroll
        for (int e = 0; e < kWidth; ++e) acc[i] = fma(values[i][j][e], factors[j][e], acc[i]);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < kCols; ++i) {
#pragma unroll
    for (int offset = kWarpSize / 2; offset > 0; offset /= 2) {
      acc[i] += __shfl_xor_sync(~0u, acc[i], offset);
    }
    if (lane == i) warp_sums[warp][i] = acc[i];
  }
  __syncthreads();
  const int cols = static_cast<int>(groups) * kCols;
  float sum = 0;
  if (static_cast<int>(threadIdx.x) < cols) {
    const uint32_t first = threadIdx.x / kCols * product.slices;
    for (uint32_t i = 0; i < product.slices; ++i) sum += warp_sums[first + i][threadIdx.x % kCols];
  }
  StoreSums(product, index, first_col, cols, sum, sums);
}

// X is MN-major. A block has kMaxCols columns, kWidth of them a lane, and a group of lanes for each
// of kGroups neighbouring k. A thread has kAtOnce loads in flight.
template <int kLoadWidth, int kLoadsAtOnce, int kBlocks, int kThreadsOfBlock = 512>
struct ColumnsForm {
  static constexpr int kThreads = kThreadsOfBlock;
  static constexpr int kWidth = kLoadWidth;
  static constexpr int kLanes = kMaxCols / kWidth;
  static constexpr int kGroups = kThreads / kLanes;
  static constexpr int kWarps = kThreads / kWarpSize;
  static constexpr int kAtOnce = kLoadsAtOnce;
  static constexpr int kBlocksPerMultiprocessor = kBlocks;
};

template <typename Form>
__global__ void __launch_bounds__(Form::kThreads, Form::kBlocksPerMultiprocessor)
    MatVecColumns(MatVecProduct product) {
  constexpr int kWidth = Form::kWidth;
  constexpr int kLanes = Form::kLanes;
  constexpr int kGroups = Form::kGroups;
  constexpr int kAtOnce = Form::kAtOnce;
  __shared__ float warp_sums[Form::kWarps][kMaxCols];
  __shared__ float sums[kMaxCols];
  const int64_t index = static_cast<int64_t>(blockIdx.z) * gridDim.y + blockIdx.y;
  if (index >= product.batch) return;
  const auto lane = static_cast<int>(threadIdx.x % kLanes);
  const auto group = static_cast<int>(threadIdx.x / kLanes);
  const auto part = static_cast<int>(blockIdx.x % product.parts);
  const int64_t first_col = static_cast<int64_t>(blockIdx.x / product.parts) * kMaxCols;
  const int64_t first_k = static_cast<int64_t>(part) * product.k_of_part;
  const auto left =
      static_cast<int>(min(product.k - first_k, static_cast<int64_t>(product.k_of_part)));
  // Threads beyond the last column load that one again, and store nothing.
  const float* const x = product.x + index * product.x_batch_stride + first_k * product.x_ld +
                         min(first_col + lane * kWidth, product.cols - kWidth);
  const float* const y = product.y + index * product.y_batch_stride + first_k * product.y_stride;
  float acc[kWidth] = {};
  int k = group;
  for (int rest = left; rest > 0; rest -= kAtOnce * kGroups) {
    // All loads stand before the first use and have no conditions. Beyond the last k that one is
    // loaded again, and replaced by 0 lest Inf * 0 be added.
    float values[kAtOnce][kWidth];
    float factors[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const int existing = k + min(i * kGroups, left - 1 - k);
      LoadWide<kWidth>(x + existing * product.x_ld, values[i]);
      factors[i] = y[existing * product.y_stride];
    }
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i) {
      const bool exists = i * kGroups < left - k;
#pragma unroll
      for (int e = 0; e < kWidth; ++e) {
        acc[e] = fma(exists ? values[i][e] : 0, exists ? factors[i] : 0, acc[e]);
      }
    }
    k += kAtOnce * kGroups;
  }
#pragma unroll
  for (int e = 0; e < kWidth; ++e) {
#pragma unroll
    for (int offset = kLanes; offset < kWarpSize; offset *= 2) {
      acc[e] += __shfl_xor_sync(~0u, acc[e], offset);
    }
    if (threadIdx.x % kWarpSize < kLanes) {
      warp_sums[threadIdx.x / kWarpSize][lane * kWidth + e] = acc[e];
    }
  }
  __syncthreads();
  float sum = 0;
  if (threadIdx.x < kMaxCols) {
#pragma unroll
    for (int warp = 0; warp < Form::kWarps; ++warp) sum += warp_sums[warp][threadIdx.x];
  }
  StoreSums(product, index, first_col, kMaxCols, sum, sums);
}

struct MatVecPlan {
  MatVecProduct product;
  OperandLayout layout;  // The layout of X.
  bool vectors;          // Whether X is made of vectors.

  explicit MatVecPlan(const MatMulArgs& args) {
    const Gemm<Float32> gemm = GemmOf<Float32>(args);
    const bool is_row = args.m == 1;
    const Operand<float>& x = is_row ? gemm.b : gemm.a;
    const Operand<float>& y = is_row ? gemm.a : gemm.b;
    // Y's neighbours along k lie together, or a leading dimension apart.
    const bool y_is_k_major = is_row ? !args.a.transposed : args.b.transposed;
    layout = (is_row ? args.b.transposed : !args.a.transposed) ? OperandLayout::kKMajor
                                                               : OperandLayout::kMnMajor;
    vectors = x.vectors;
    product.x = x.data;
    product.y = y.data;
    product.x_ld = x.ld;
    product.y_stride = y_is_k_major ? 1 : y.ld;
    product.cols = x.mn;
    product.k = gemm.k;
    product.c = gemm.c.data;
    product.c_stride = is_row ? 1 : gemm.c.ld;
    product.epilogue = gemm.epilogue;
    product.batch = args.batch;
    product.x_batch_stride = is_row ? gemm.stride_b : gemm.stride_a;
    product.y_batch_stride = is_row ? gemm.stride_a : gemm.stride_b;
    product.c_batch_stride = gemm.stride_c;
    if (x.mn == 1 && x.ld == 1) {  // A column without gaps is a row.
      layout = OperandLayout::kKMajor;
      vectors = false;
    }
  }
};

// Returns the parts of k, for clusters, that let `slots` blocks compute `tiles` tiles in the fewest
// rounds of loads; a part has at least one of a tile's `rounds`.
int PartsOf(int64_t tiles, int64_t rounds, int64_t slots, const DeviceModel& device) {
#ifdef STRIDEWISE_HOST_EXECUTOR
  (void)tiles, (void)rounds, (void)slots, (void)device;
  return 1;
#else
  if (device.compute_capability < 90) return 1;
  constexpr int64_t kClusterRounds = 1;  // The time of a cluster's barriers.
  int best = 1;
  int64_t best_cost = 0;
  for (int parts = 1; parts <= kMaxClusterBlocks && parts <= rounds; ++parts) {
    const int64_t cost = CeilDiv(tiles * parts, slots) * (CeilDiv(rounds, parts) + 1) +
                         (parts > 1 ? kClusterRounds : 0);
    if (parts == 1 || cost < best_cost) {
      best = parts;
      best_cost = cost;
    }
  }
  return best;
#endif
}

Grid GridOf(int64_t tiles, int64_t parts, int64_t batch) {
  const int64_t layers = CeilDiv(batch, kMaxGridYZ);
  return {tiles * parts, CeilDiv(batch, layers), layers};
}

template <typename Form>
LaunchStatus LaunchRows(MatVecPlan plan, const MatMulArgs& args) {
  MatVecProduct& product = plan.product;
  const DeviceModel device = DeviceOf(args);
  // The warps that fill the machine come from splitting k, down to one round of loads each.
  const int64_t groups = CeilDiv(product.cols, Form::kCols) * args.batch;
  const int64_t rounds = std::max<int64_t>(CeilDiv(product.k, Form::kStepK), 1);
  const int64_t wanted = int64_t{device.multiprocessors} * Form::kWarpsOfMultiprocessor;
  int64_t slices = 1;
  while (slices < Form::kWarps && slices < rounds && groups * slices * 2 <= wanted) slices *= 2;
  const int64_t tiles = CeilDiv(product.cols, Form::kWarps / slices * Form::kCols);
  const int64_t slots = wanted / Form::kWarps;
  const int64_t parts = slices < Form::kWarps
                            ? 1
                            : PartsOf(tiles * args.batch, CeilDiv(rounds, slices), slots, device);
  product.slices = static_cast<uint32_t>(slices);
  product.parts = static_cast<uint32_t>(parts);
  product.k_of_slice =
      static_cast<int>(CeilDiv(CeilDiv(product.k, slices * parts), kWarpSize * Form::kWidth) *
                       kWarpSize * Form::kWidth);
  product.k_of_part = static_cast<int>(std::min(product.k_of_slice * slices, int64_t{product.k}));
  return LaunchClusters(static_cast<int>(parts), MatVecRows<Form>, GridOf(tiles, parts, args.batch),
                        Block{Form::kThreads}, 0, args.stream, product);
}

template <typename Form>
LaunchStatus LaunchColumns(MatVecPlan plan, const MatMulArgs& args) {
  MatVecProduct& product = plan.product;
  const DeviceModel device = DeviceOf(args);
  const int64_t tiles = CeilDiv(product.cols, kMaxCols);
  const int64_t rounds = CeilDiv(product.k, int64_t{Form::kGroups} * Form::kAtOnce);
  const int64_t slots = int64_t{device.multiprocessors} * Form::kBlocksPerMultiprocessor;
  const int64_t parts = PartsOf(tiles * args.batch, rounds, slots, device);
  product.parts = static_cast<uint32_t>(parts);
  product.k_of_part = static_cast<int>(CeilDiv(product.k, parts));
  return LaunchClusters(static_cast<int>(parts), MatVecColumns<Form>,
                        GridOf(tiles, parts, args.batch), Block{Form::kThreads}, 0, args.stream,
                        product);
}

}  // namespace

// Products of more rows and columns are computed correctly too, a launch for each row or column.
LaunchStatus MatMulMatVec(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  if (args.m > 1 && args.n > 1) {
    const bool by_rows = args.m <= args.n;
    MatMulArgs one = args;
    (by_rows ? one.m : one.n) = 1;
    for (int64_t i = 0; i < std::min(args.m, args.n); ++i) {
      MatMulInput& y = by_rows ? one.a : one.b;
      y = Advanced(by_rows ? args.a : args.b, i * (y.transposed == by_rows ? 1 : y.ld));
      one.c = Advanced(args.c, i * (by_rows ? args.c.ld : 1));
      RETURN_IF_ERROR(MatMulMatVec(one));
    }
    return LaunchStatus();
  }
  const MatVecPlan plan(args);
  if (plan.layout == OperandLayout::kKMajor) {
    // Few rows are not worth a group of four.
    const bool few = plan.product.cols * args.batch < 2048;
    if (plan.vectors) {
      return few ? LaunchRows<RowsForm<1, kVector>>(plan, args)
                 : LaunchRows<RowsForm<4, kVector>>(plan, args);
    }
    return few ? LaunchRows<RowsForm<1, 1>>(plan, args) : LaunchRows<RowsForm<4, 1>>(plan, args);
  }
  // Blocks of 128 threads have work for all of them where k is short.
  constexpr int64_t kShort = 64;
  const bool many = CeilDiv(plan.product.cols, kMaxCols) * args.batch > 256;
  if (plan.vectors) {
    if (plan.product.k <= kShort) return LaunchColumns<ColumnsForm<kVector, 4, 8, 128>>(plan, args);
    return many ? LaunchColumns<ColumnsForm<kVector, 4, 4>>(plan, args)
                : LaunchColumns<ColumnsForm<kVector, 8, 2>>(plan, args);
  }
  if (plan.product.k <= kShort) return LaunchColumns<ColumnsForm<1, 8, 8, 128>>(plan, args);
  return many ? LaunchColumns<ColumnsForm<1, 8, 4>>(plan, args)
              : LaunchColumns<ColumnsForm<1, 16, 2>>(plan, args);
}

}  // namespace stridewise
