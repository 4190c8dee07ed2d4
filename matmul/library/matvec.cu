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
#include "matmul/cluster_sizes.h"
#include "matmul/device/cluster.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/matvec_columns.h"
#include "matmul/device/matvec_product.h"
#include "matmul/device/matvec_rows.h"
#include "matmul/device/matvec_shifted.h"
#include "matmul/device/vector_access.h"

namespace stridewise {
namespace {

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

// Returns the parts of k, for clusters, that let a device with `blocks` blocks on each
// multiprocessor compute `tiles` tiles in the fewest rounds of loads; a part has at least one of a
// tile's `rounds`. Clusters that the device does not hold at once are a second round: with as many
// parts as there is room for blocks, 5203 columns of 4155 took 43 us in clusters of 6, and take 34
// in clusters of 4.
int PartsOf(int64_t tiles, int64_t rounds, int64_t blocks, const DeviceModel& device) {
  constexpr int64_t kClusterRounds = 1;  // The time of a cluster's barriers.
  int best = 1;
  int64_t best_cost = CeilDiv(tiles, blocks * device.multiprocessors) * (rounds + 1);
  if (device.compute_capability < 90) return best;
  for (const ClusterSize& size : kClusterSizes) {
    if (size.blocks > rounds) break;
    const int64_t clusters =
        std::max<int64_t>(ClustersAtOnce(size, blocks, device.multiprocessors), 1);
    const int64_t cost =
        CeilDiv(tiles, clusters) * (CeilDiv(rounds, size.blocks) + 1) + kClusterRounds;
    if (cost >= best_cost) continue;
    best = size.blocks;
    best_cost = cost;
  }
  return best;
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
  constexpr int64_t kBlocks = Form::kWarpsOfMultiprocessor / Form::kWarps;
  const int64_t parts = slices < Form::kWarps
                            ? 1
                            : PartsOf(tiles * args.batch, CeilDiv(rounds, slices), kBlocks, device);
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
  const int64_t tiles = CeilDiv(product.cols, kMatVecCols);
  const int64_t rounds = CeilDiv(product.k, int64_t{Form::kGroups} * Form::kAtOnce);
  const int64_t parts = PartsOf(tiles * args.batch, rounds, Form::kBlocksPerMultiprocessor, device);
  product.parts = static_cast<uint32_t>(parts);
  product.k_of_part = static_cast<int>(CeilDiv(product.k, parts));
  return LaunchClusters(static_cast<int>(parts), MatVecColumns<Form>,
                        GridOf(tiles, parts, args.batch), Block{Form::kThreads}, 0, args.stream,
                        product);
}

template <typename Form>
LaunchStatus LaunchShifted(MatVecPlan plan, const MatMulArgs& args) {
  MatVecProduct& product = plan.product;
  const DeviceModel device = DeviceOf(args);
  const int64_t tiles = CeilDiv(product.cols, Form::kCols);
  const int64_t rounds = CeilDiv(product.k, int64_t{Form::kGroups} * Form::kAtOnce);
  const int64_t parts = PartsOf(tiles * args.batch, rounds, Form::kBlocksPerMultiprocessor, device);
  product.parts = static_cast<uint32_t>(parts);
  product.k_of_part = static_cast<int>(CeilDiv(product.k, parts));
  return LaunchClusters(static_cast<int>(parts), MatVecShifted<Form>,
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
      return few ? LaunchRows<MatVecRowsForm<1, kVector>>(plan, args)
                 : LaunchRows<MatVecRowsForm<4, kVector>>(plan, args);
    }
    return few ? LaunchRows<MatVecRowsForm<1, 1>>(plan, args)
               : LaunchRows<MatVecRowsForm<4, 1>>(plan, args);
  }
  // Blocks of 128 threads have work for all of them where k is short.
  constexpr int64_t kShort = 64;
  const bool many = CeilDiv(plan.product.cols, kMatVecCols) * args.batch > 256;
  if (plan.vectors) {
    if (plan.product.k <= kShort)
      return LaunchColumns<MatVecColumnsForm<kVector, 4, 8, 128>>(plan, args);
    return many ? LaunchColumns<MatVecColumnsForm<kVector, 4, 4>>(plan, args)
                : LaunchColumns<MatVecColumnsForm<kVector, 8, 2>>(plan, args);
  }
  if (plan.product.k <= kShort) return LaunchColumns<MatVecColumnsForm<1, 8, 8, 128>>(plan, args);
  // The narrowest products have too few vectors in a row.
  constexpr int64_t kNarrow = 32;
  const bool at_vector = reinterpret_cast<uintptr_t>(plan.product.x) % kVectorBytes == 0;
  if (at_vector && plan.product.cols > kNarrow) {
    return LaunchShifted<MatVecShiftedForm<4, 4>>(plan, args);
  }
  return many ? LaunchColumns<MatVecColumnsForm<1, 8, 4>>(plan, args)
              : LaunchColumns<MatVecColumnsForm<1, 16, 2>>(plan, args);
}

}  // namespace stridewise
