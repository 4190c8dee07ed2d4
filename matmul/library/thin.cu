// Products with at most 16 rows, or at most 16 columns, at the speed at which their one large
// operand comes from memory: see thin_block.h. Any other shape comes out right too, 16 lines at a
// time.
//
// One line across has a kernel of its own, see thin_line.h.
//
// Few lines with many terms do not fill the machine: then several blocks take a part of the terms
// each, and a second kernel adds their sums, always in the same order.

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "common/base/status_macros.h"
#include "common/gpu/launch.h"
#include "common/gpu/occupancy.h"
#include "matmul/args.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/thin_across.h"
#include "matmul/device/thin_along.h"
#include "matmul/device/thin_block.h"
#include "matmul/device/thin_call.h"
#include "matmul/device/thin_line.h"

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
  WaitForPreviousKernel();
  if (i >= elements) return;
  float sum = 0;
#pragma unroll 8
  for (int64_t part = 0; part < parts; ++part) sum += sums[part * elements + i];
  const int64_t x = i % product.x.lines;
  const int64_t y = i / product.x.lines % product.y.lines;
  const int64_t index = i / product.x.lines / product.y.lines;
  result.Store(index * result.batch_step + y * result.short_step + x * result.long_step, sum);
}

// What differs between the kernels: lines of a tile, resources, and the launch, of a call whose
// tiles and parts are settled.
template <typename Walk>
struct WalkForm {
  static constexpr int kLines = Walk::kLines;
  static constexpr int kThreads = kThinThreads;
  static constexpr int kShared = kSharedBytes<Walk>;
  static constexpr auto kKernel = &Thin<Walk>;

  static absl::Status Run(const ThinCall& call, cudaStream_t stream) {
    const ThinProduct& product = call.product;
    return Launch(
        kKernel,
        Grid{product.x_tiles * product.y_tiles * call.Parts(), std::min(product.batch, kMaxGridYZ)},
        Block{kThreads}, kShared, stream, product);
  }
};

template <typename LinesBlock>
struct LineForm {
  static constexpr int kLines = LinesBlock::kLines;
  static constexpr int kThreads = LinesBlock::kThreads;
  static constexpr int kShared = 0;  // That is dynamic.
  static constexpr auto kKernel = &ThinLine<LinesBlock>;

  static absl::Status Run(const ThinCall& call, cudaStream_t stream) {
    const ThinProduct& product = call.product;
    const ThinResult& result = product.result;
    const LineProduct line = {product.x.data,
                              product.y.data,
                              static_cast<uint32_t>(product.x.ld),
                              static_cast<int>(product.x.lines),
                              product.depth,
                              product.depth_of_a_block,
                              product.y.term_step,
                              result.data,
                              result.long_step,
                              result.part_step,
                              result.scale,
                              product.x.batch_step,
                              product.y.batch_step,
                              result.batch_step};
    return Launch(kKernel, Grid{product.x_tiles, call.Parts(), product.batch}, Block{kThreads}, 0,
                  stream, line);
  }
};

template <typename Form>
absl::Status Divide(ThinCall* call) {
  ThinProduct& product = call->product;
  product.x_tiles = CeilDiv(product.x.lines, Form::kLines);
  product.y_tiles = CeilDiv(product.y.lines, kMostShortLines);
  call->DivideTerms(1);
  const int64_t tiles = product.x_tiles * product.y_tiles * product.batch;
  if (tiles == 0) return absl::OkStatus();
  ASSIGN_OR_RETURN(const int64_t slots,
                   ResidentBlocks(Form::kKernel, Block{Form::kThreads}, Form::kShared));
  const auto line_bytes = static_cast<int64_t>(product.depth * sizeof(float));
  call->DivideTerms(BestParts(tiles, Form::kLines * line_bytes, slots));
  return absl::OkStatus();
}

template <typename Form>
absl::Status LaunchThin(ThinCall call, const MatMulArgs& args) {
  RETURN_IF_ERROR(Divide<Form>(&call));
  if (args.workspace_bytes < call.WorkspaceBytes()) call.DivideTerms(1);
  const ThinResult result = call.product.result;
  const int64_t parts = call.Parts();
  auto* const sums = static_cast<float*>(args.workspace);
  if (parts > 1) {
    const int64_t lines = call.product.x.lines;
    call.product.result = {sums, 1, lines, lines * call.product.y.lines, call.Elements(), {1, 0}};
  }
  RETURN_IF_ERROR(Form::Run(call, args.stream));
  if (parts == 1) return absl::OkStatus();
  constexpr int64_t kAdders = 128;
  return LaunchDependent(AddParts, Grid{CeilDiv(call.Elements(), kAdders)}, Block{kAdders}, 0,
                         args.stream, sums, parts, call.Elements(), call.product, result);
}

// Calls fn with the form for the call.
template <typename Fn>
absl::Status ForForm(const ThinCall& call, Fn fn) {
  const auto with = [&](auto short_lines) -> absl::Status {
    constexpr int kShort = decltype(short_lines)::value;
    if (call.along) {
      return call.vectors ? fn(WalkForm<AlongTerms<kShort, true>>())
                          : fn(WalkForm<AlongTerms<kShort, false>>());
    }
    return call.vectors ? fn(WalkForm<AcrossLines<kShort, true>>())
                        : fn(WalkForm<AcrossLines<kShort, false>>());
  };
  const int64_t lines = call.product.y.lines;
  if (call.IsLine()) {
    constexpr int64_t kManyLines = 8192;
    return call.product.x.lines <= kManyLines ? fn(LineForm<FewLines>())
                                              : fn(LineForm<ManyLines>());
  }
  if (lines <= 1) return with(std::integral_constant<int, 1>());
  if (lines <= 2) return with(std::integral_constant<int, 2>());
  if (lines <= 4) return with(std::integral_constant<int, 4>());
  if (lines <= 8) return with(std::integral_constant<int, 8>());
  return with(std::integral_constant<int, kMostShortLines>());
}

}  // namespace

int64_t MatMulThinWorkspaceBytes(const MatMulArgs& args) {
  ThinCall call(args);
  const absl::Status status =
      ForForm(call, [&](auto form) { return Divide<decltype(form)>(&call); });
  return status.ok() ? call.WorkspaceBytes() : 0;
}

absl::Status MatMulThin(const MatMulArgs& args) {
  const ThinCall call(args);
  return ForForm(call, [&](auto form) { return LaunchThin<decltype(form)>(call, args); });
}

}  // namespace stridewise
