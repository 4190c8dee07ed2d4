// Products with at most 16 rows, or at most 16 columns, at the speed at which their one large
// operand comes from memory: see thin_block.h. Any other shape comes out right too, 16 lines at a
// time.
//
// Few lines with many terms do not fill the machine: then several blocks take a part of the terms
// each, and a second kernel adds their sums, always in the same order.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "common/launch.h"
#include "common/occupancy.h"
#include "common/status_macros.h"
#include "matmul/kernels/gemm_args.h"
#include "matmul/kernels/thin_across.h"
#include "matmul/kernels/thin_along.h"
#include "matmul/kernels/thin_block.h"
#include "matmul/registry.h"

namespace stridewise {
namespace {

// Two chunks of the short operand, then the ring; in the end the sums of a tile.
template <typename Walk>
inline constexpr int kSharedBytes = std::max(2 * Walk::Chunk::kFloats + Walk::Ring::kFloats,
                                             Walk::kGatherFloats) *
                                    static_cast<int>(sizeof(float));

// A Walk takes a block's threads over the long operand step by step, with copies that are kAhead
// steps ahead, each step's a group. The short operand comes chunk by chunk.
template <typename Walk>
__global__ void __launch_bounds__(kThinThreads, 1) Thin(ThinProduct product) {
  using Chunk = typename Walk::Chunk;
  constexpr int kAhead = Walk::Ring::kAhead;
  constexpr int kStepsOfChunk = Chunk::kTerms / Walk::kTermsOfStep;
  static_assert(Chunk::kTerms % Walk::kTermsOfStep == 0, "whole steps");
  static_assert(kStepsOfChunk >= kAhead, "a chunk, too, is here kAhead steps later");
  extern __shared__ float4 memory[];
  auto* const shared = reinterpret_cast<float*>(memory);
  const ThinPlace place(product, blockIdx.x, Walk::kLines);
  const int steps = place.terms / Walk::kTermsOfStep + (place.terms % Walk::kTermsOfStep != 0);
  for (int64_t index = blockIdx.y; index < product.batch; index += gridDim.y) {
    const auto chunk_of = [&](int step) {
      return shared + step / kStepsOfChunk % 2 * Chunk::kFloats;
    };
    const auto copy_chunk = [&](int step) {
      ShortOperand y = product.y;
      y.data += index * y.batch_step;
      const int term = step * Walk::kTermsOfStep;
      Chunk::Copy(y, place.first_short, place.first_term + term,
                  min(steps - step, kStepsOfChunk) * Walk::kTermsOfStep, place.terms - term,
                  chunk_of(step));
    };
    if (steps > 0) copy_chunk(0);
    Walk walk(product, place, index, shared + 2 * Chunk::kFloats);
#pragma unroll 1
    for (int i = 0; i < kAhead; ++i) {
      walk.Copy();
      __pipeline_commit();
    }
    for (int first = 0; first < steps; first += kStepsOfChunk) {
      __pipeline_wait_prior(kAhead - 1);
      __syncthreads();  // This chunk is here, and nobody reads the one before.
      if (first + kStepsOfChunk < steps) copy_chunk(first + kStepsOfChunk);
      const float* y = chunk_of(first);
      const int last = min(first + kStepsOfChunk, steps);
#pragma unroll 1
      for (int step = first; step < last; ++step) {
        __pipeline_wait_prior(kAhead - 1);
        walk.Add(y);
        __pipeline_commit();
        y += Walk::kShortStep;
      }
    }
    __pipeline_wait_prior(0);
    __syncthreads();
    walk.Gather(shared);
    __syncthreads();
    StoreThin<Walk::kShortLines, Walk::kLines>(product, place, index, shared);
    __syncthreads();
  }
}

// One thread an element of C, of all the batch.
__global__ void AddParts(const float* sums, int64_t parts, int64_t elements, ThinProduct product,
                         ThinResult result) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= elements) return;
  float sum = 0;
#pragma unroll 8
  for (int64_t part = 0; part < parts; ++part) sum += sums[part * elements + i];
  const int64_t x = i % product.x.lines;
  const int64_t y = i / product.x.lines % product.y.lines;
  const int64_t index = i / product.x.lines / product.y.lines;
  result.Store(index * result.batch_step + y * result.short_step + x * result.long_step, sum);
}

struct ThinCall {
  ThinProduct product;  // The tiles and parts apart.
  bool along;           // Neighbours in x are terms.
  bool vectors;         // x consists of vectors.

  explicit ThinCall(const MatMulArgs& args) {
    const Gemm gemm = GemmOf(args);
    const bool few_rows = args.m <= args.n;
    const Operand& x = few_rows ? gemm.b : gemm.a;
    const Operand& y = few_rows ? gemm.a : gemm.b;
    const bool y_along = few_rows ? !args.transpose_a : args.transpose_b;
    along = few_rows ? args.transpose_b : !args.transpose_a;
    vectors = x.vectors;
    product.x = {x.data, x.ld, x.lines, few_rows ? gemm.stride_b : gemm.stride_a};
    product.y = {y.data, y_along ? y.ld : 1, y_along ? 1 : y.ld, y.lines,
                 few_rows ? gemm.stride_a : gemm.stride_b};
    product.result = {gemm.c.data,
                      few_rows ? 1 : gemm.c.ld,
                      few_rows ? gemm.c.ld : 1,
                      gemm.stride_c,
                      /*part_step=*/0,
                      gemm.scale};
    product.batch = args.batch;
    product.depth = gemm.depth;
  }

  int64_t Elements() const { return product.batch * product.x.lines * product.y.lines; }
  int64_t Parts() const {
    return product.depth == 0 ? 1 : CeilDiv(product.depth, product.depth_of_a_block);
  }
  int64_t WorkspaceBytes() const {
    return Parts() == 1 ? 0 : Parts() * Elements() * static_cast<int64_t>(sizeof(float));
  }

  // `parts` may turn out fewer.
  void DivideTerms(int64_t parts) {
    const int64_t depth = CeilDiv(CeilDiv(product.depth, parts), kVector) * kVector;
    product.depth_of_a_block = static_cast<int>(std::min(depth, int64_t{product.depth}));
  }
};

// Into how many parts to divide the terms, of which the long lines of a tile have `tile_bytes`, for
// `slots` blocks at one time. What a part costs, in bytes that could be read instead: its share of
// the second kernel, and of the time until the first loads arrive.
int64_t BestParts(int64_t tiles, int64_t tile_bytes, int64_t slots) {
#ifdef STRIDEWISE_HOST_EXECUTOR
  constexpr int64_t kPartBytes = 1 << 10;  // Small tests have parts, too.
#else
  constexpr int64_t kPartBytes = 256 << 10;
#endif
  constexpr int64_t kMostRounds = 8;  // With more the last one's gaps do not matter.
  int64_t best = 1;
  int64_t best_cost = CeilDiv(tiles, slots) * tile_bytes;
  for (int64_t parts = 2; tiles * parts <= kMostRounds * slots; ++parts) {
    const int64_t cost = CeilDiv(tiles * parts, slots) * (tile_bytes / parts + kPartBytes);
    if (cost < best_cost) {
      best = parts;
      best_cost = cost;
    }
  }
  return best;
}

template <typename Walk>
absl::Status Divide(ThinCall* call) {
  ThinProduct& product = call->product;
  product.x_tiles = CeilDiv(product.x.lines, Walk::kLines);
  product.y_tiles = CeilDiv(product.y.lines, kMostShortLines);
  call->DivideTerms(1);
  const int64_t tiles = product.x_tiles * product.y_tiles * product.batch;
  if (tiles == 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(const int64_t slots,
                   ResidentBlocks(Thin<Walk>, Block{kThinThreads}, kSharedBytes<Walk>));
  const auto line_bytes = static_cast<int64_t>(product.depth * sizeof(float));
  call->DivideTerms(BestParts(tiles, Walk::kLines * line_bytes, slots));
  return absl::OkStatus();
}

template <typename Walk>
absl::Status LaunchThin(ThinCall call, const MatMulArgs& args) {
  RETURN_IF_ERROR(Divide<Walk>(&call));
  if (args.workspace_bytes < call.WorkspaceBytes()) call.DivideTerms(1);
  const ThinResult result = call.product.result;
  const int64_t parts = call.Parts();
  auto* const sums = static_cast<float*>(args.workspace);
  if (parts > 1) {
    const int64_t lines = call.product.x.lines;
    call.product.result = {sums, 1, lines, lines * call.product.y.lines, call.Elements(), {1, 0}};
  }
  RETURN_IF_ERROR(Launch(
      Thin<Walk>,
      Grid{call.product.x_tiles * call.product.y_tiles * parts, std::min(args.batch, kMaxGridYZ)},
      Block{kThinThreads}, kSharedBytes<Walk>, args.stream, call.product));
  if (parts == 1) return absl::OkStatus();
  constexpr int64_t kAdders = 128;
  return Launch(AddParts, Grid{CeilDiv(call.Elements(), kAdders)}, Block{kAdders}, 0, args.stream,
                sums, parts, call.Elements(), call.product, result);
}

// Calls fn with the Walk for the call, as a null pointer to one.
template <typename Fn>
absl::Status ForWalk(const ThinCall& call, Fn fn) {
  const auto with = [&](auto short_lines) -> absl::Status {
    constexpr int kShort = decltype(short_lines)::value;
    if (call.along) {
      return call.vectors ? fn(static_cast<AlongTerms<kShort, true>*>(nullptr))
                          : fn(static_cast<AlongTerms<kShort, false>*>(nullptr));
    }
    return call.vectors ? fn(static_cast<AcrossLines<kShort, true>*>(nullptr))
                        : fn(static_cast<AcrossLines<kShort, false>*>(nullptr));
  };
  const int64_t lines = call.product.y.lines;
  if (lines <= 1) return with(std::integral_constant<int, 1>());
  if (lines <= 2) return with(std::integral_constant<int, 2>());
  if (lines <= 4) return with(std::integral_constant<int, 4>());
  if (lines <= 8) return with(std::integral_constant<int, 8>());
  return with(std::integral_constant<int, kMostShortLines>());
}

}  // namespace

int64_t MatMulThinWorkspaceBytes(const MatMulArgs& args) {
  ThinCall call(args);
  const absl::Status status = ForWalk(
      call, [&](auto* walk) { return Divide<std::remove_pointer_t<decltype(walk)>>(&call); });
  return status.ok() ? call.WorkspaceBytes() : 0;
}

absl::Status MatMulThin(const MatMulArgs& args) {
  const ThinCall call(args);
  return ForWalk(call, [&](auto* walk) {
    return LaunchThin<std::remove_pointer_t<decltype(walk)>>(call, args);
  });
}

}  // namespace stridewise
