// Skinny products, with at most 16 rows or at most 16 columns, at the speed at which their one
// large operand is read from memory: see skinny_block.h. Any other shape is computed correctly too,
// 16 rows at a time.
//
// A single row times an MN-major matrix has a kernel of its own, see skinny_row.h.
//
// Few rows with a large k do not fill the machine: then k is split into parts, which several blocks
// compute, and a second kernel adds the partial sums, always in the same order.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "common/base/return_if_error.h"
#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/skinny_block.h"
#include "matmul/device/skinny_k_major.h"
#include "matmul/device/skinny_mn_major.h"
#include "matmul/device/skinny_plan.h"
#include "matmul/device/skinny_row.h"
#include "matmul/device/tile_shared_memory.h"

namespace stridewise {
namespace {

// Two chunks of the skinny operand, then the ring; in the end the sums of a tile.
template <typename Walk>
inline constexpr int kSharedBytes = std::max(2 * Walk::Chunk::kFloats + Walk::Ring::kFloats,
                                             Walk::kGatherFloats) *
                                    static_cast<int>(sizeof(float));

// A Walk takes a block's threads over the large operand step by step. Its copies are kAhead steps
// ahead, a group of copies a step. The skinny operand is copied chunk by chunk.
template <typename Walk>
__global__ void __launch_bounds__(kSkinnyThreads, 1) Skinny(SkinnyProduct product) {
  using Chunk = typename Walk::Chunk;
  constexpr int kAhead = Walk::Ring::kAhead;
  constexpr int kStepsOfChunk = Chunk::kExtentK / Walk::kStepK;
  static_assert(Chunk::kExtentK % Walk::kStepK == 0, "whole steps");
  static_assert(kStepsOfChunk >= kAhead, "a chunk, too, arrives within kAhead steps");
  static_assert(kSharedBytes<Walk> <= kThinSharedBytes, "no more than its registry's line says");
  extern __shared__ float4 memory[];
  auto* const shared = reinterpret_cast<float*>(memory);
  const SkinnyTile tile(product, blockIdx.x, Walk::kCols);
  const int steps = tile.k / Walk::kStepK + (tile.k % Walk::kStepK != 0);
  for (int64_t index = blockIdx.y; index < product.batch; index += gridDim.y) {
    const auto chunk_of = [&](int step) {
      return shared + step / kStepsOfChunk % 2 * Chunk::kFloats;
    };
    const auto copy_chunk = [&](int step) {
      SkinnyOperand y = product.y;
      y.data += index * y.batch_stride;
      const int k = step * Walk::kStepK;
      Chunk::Copy(y, tile.first_row, tile.first_k + k,
                  min(steps - step, kStepsOfChunk) * Walk::kStepK, tile.k - k, chunk_of(step));
    };
    if (steps > 0) copy_chunk(0);
    Walk walk(product, tile, index, shared + 2 * Chunk::kFloats);
#pragma unroll 1
    for (int i = 0; i < kAhead; ++i) {
      walk.Copy();
      __pipeline_commit();
    }
    for (int first = 0; first < steps; first += kStepsOfChunk) {
      __pipeline_wait_prior(kAhead - 1);
      __syncthreads();  // This chunk has arrived, and no thread reads the one before.
      if (first + kStepsOfChunk < steps) copy_chunk(first + kStepsOfChunk);
      const float* y = chunk_of(first);
      const int last = min(first + kStepsOfChunk, steps);
#pragma unroll 1
      for (int step = first; step < last; ++step) {
        __pipeline_wait_prior(kAhead - 1);
        walk.Multiply(y);
        __pipeline_commit();
        y += Walk::kStepOfY;
      }
    }
    __pipeline_wait_prior(0);
    __syncthreads();
    walk.Gather(shared);
    __syncthreads();
    StoreSkinny<Walk::kRows, Walk::kCols>(product, tile, index, shared);
    __syncthreads();
  }
}

// Adds the partial sums of all parts of k: one thread for each element of the batch's C.
__global__ void AddParts(const float* sums, int64_t parts, int64_t elements, SkinnyProduct product,
                         SkinnyResult result) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  WaitForPreviousKernel();
  if (i >= elements) return;
  float sum = 0;
#pragma unroll 8
  for (int64_t part = 0; part < parts; ++part) sum += sums[part * elements + i];
  const int64_t col = i % product.x.cols;
  const int64_t row = i / product.x.cols % product.y.rows;
  const int64_t index = i / product.x.cols / product.y.rows;
  result.Store(index * result.batch_stride + row * result.row_stride + col * result.col_stride,
               sum);
}

// A Form is what differs between the kernels: the columns of a tile, the blocks that a
// multiprocessor holds, and the launch of a finished plan.
template <typename Walk>
struct WalkForm {
  static constexpr int kCols = Walk::kCols;
  static constexpr int kBlocksPerMultiprocessor = Walk::kBlocksPerMultiprocessor;

  static LaunchStatus Run(const SkinnyPlan& plan, cudaStream_t stream) {
    const SkinnyProduct& product = plan.product;
    return Launch(Skinny<Walk>,
                  Grid{product.col_tiles * product.row_tiles * plan.Parts(),
                       std::min(product.batch, kMaxGridYZ)},
                  Block{kSkinnyThreads}, kSharedBytes<Walk>, stream, product);
  }
};

template <typename Policy>
struct RowForm {
  static constexpr int kCols = Policy::kCols;
  static constexpr int kBlocksPerMultiprocessor = Policy::kBlocksPerMultiprocessor;

  static LaunchStatus Run(const SkinnyPlan& plan, cudaStream_t stream) {
    const SkinnyProduct& product = plan.product;
    const SkinnyResult& result = product.result;
    const RowProduct row = {product.x.data,
                            product.y.data,
                            static_cast<uint32_t>(product.x.ld),
                            static_cast<int>(product.x.cols),
                            product.k,
                            product.k_of_block,
                            product.y.k_stride,
                            result.data,
                            result.col_stride,
                            result.part_stride,
                            result.epilogue,
                            product.x.batch_stride,
                            product.y.batch_stride,
                            result.batch_stride};
    return Launch(SkinnyRow<Policy>, Grid{product.col_tiles, plan.Parts(), product.batch},
                  Block{Policy::kThreads}, 0, stream, row);
  }
};

template <typename Form>
LaunchStatus LaunchForm(SkinnyPlan plan, const MatMulArgs& args) {
  plan.PlanFor<Form>(DeviceOf(args));
  if (args.workspace_bytes < plan.WorkspaceBytes()) plan.SplitK(1);
  const SkinnyResult result = plan.product.result;
  const int64_t parts = plan.Parts();
  auto* const sums = static_cast<float*>(args.workspace);
  if (parts > 1) {
    const int64_t cols = plan.product.x.cols;
    plan.product.result = {sums, 1, cols, cols * plan.product.y.rows, plan.Elements(), {1, 0}};
  }
  RETURN_IF_ERROR(Form::Run(plan, args.stream));
  if (parts == 1) return LaunchStatus();
  constexpr int64_t kThreads = 128;
  return LaunchDependent(AddParts, Grid{CeilDiv(plan.Elements(), kThreads)}, Block{kThreads}, 0,
                         args.stream, sums, parts, plan.Elements(), plan.product, result);
}

// Calls fn with the form for the call.
template <typename Fn>
auto ForForm(const SkinnyPlan& plan, Fn fn) {
  const auto with = [&](auto rows) {
    constexpr int kRows = decltype(rows)::value;
    if (plan.layout == OperandLayout::kKMajor) {
      return plan.vectors ? fn(WalkForm<KMajorWalk<kRows, true>>())
                          : fn(WalkForm<KMajorWalk<kRows, false>>());
    }
    return plan.vectors ? fn(WalkForm<MnMajorWalk<kRows, true>>())
                        : fn(WalkForm<MnMajorWalk<kRows, false>>());
  };
  const int64_t rows = plan.product.y.rows;
  if (plan.IsRow()) {
    constexpr int64_t kManyColumns = 8192;
    return plan.product.x.cols <= kManyColumns ? fn(RowForm<RowOfFewColumns>())
                                               : fn(RowForm<RowOfManyColumns>());
  }
  if (rows <= 1) return with(std::integral_constant<int, 1>());
  if (rows <= 2) return with(std::integral_constant<int, 2>());
  if (rows <= 4) return with(std::integral_constant<int, 4>());
  if (rows <= 8) return with(std::integral_constant<int, 8>());
  return with(std::integral_constant<int, kMaxSkinnyRows>());
}

}  // namespace

int64_t MatMulThinWorkspaceBytes(const MatMulArgs& args) {
  const DeviceModel& device = DeviceOf(args);
  SkinnyPlan plan(args);
  return ForForm(plan, [&](auto form) {
    plan.PlanFor<decltype(form)>(device);
    return plan.WorkspaceBytes();
  });
}

LaunchStatus MatMulThin(const MatMulArgs& args) {
  const SkinnyPlan plan(args);
  return ForForm(plan, [&](auto form) { return LaunchForm<decltype(form)>(plan, args); });
}

}  // namespace stridewise
