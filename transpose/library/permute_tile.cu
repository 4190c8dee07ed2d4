// Permutes dimensions through tiles in shared memory, for any order, strides and alignment. How a
// tensor is cut, and why, is said in permute_plan.h.
//
// Loads: the 16-byte chunks that lie under a row, which is a contiguous run of `in`, are copied as
// they are, including the bytes before and behind it. Stores: a tile's part of an out run begins
// at a sector, and each thread gathers 16 bytes of it. Both are those of tile_ragged.cu; what more
// dimensions add are tables in shared memory, made once for a tile: where its rows are on either
// side, and, where an out run has several dimensions, where its elements are in the tile.

#include <cstdint>

#include "common/gpu/launch.h"
#include "transpose/device/async_copy.h"
#include "transpose/device/gather.h"
#include "transpose/device/permute_load.h"
#include "transpose/device/permute_store.h"
#include "transpose/device/permute_tables.h"
#include "transpose/device/vectors.h"
#include "transpose/element_size.h"
#include "transpose/permute_args.h"
#include "transpose/permute_plan.h"
#include "transpose/permute_plan_choice.h"

namespace stridewise {
namespace {

// The host executor has no launch bounds.
[[maybe_unused]] constexpr int kMaxThreads = 512;
constexpr unsigned kWarpThreads = 32;
// Blocks of that many threads that a multiprocessor has registers for: of 1- and 2-byte elements as
// many as it has shared memory for, but where places of bytes one at a time would be spilled. 0: no
// bound, as larger elements need none.
template <typename T, int kTogether>
[[maybe_unused]] inline constexpr int kBlocks = sizeof(T) >= 4                     ? 0
                                                : sizeof(T) == 1 && kTogether == 1 ? 2
                                                                                   : 3;

// kTogether as of RunPositions.
template <typename T, int kTogether>
__global__ void __launch_bounds__(kMaxThreads, (kBlocks<T, kTogether>))
    PermuteTile(const void* in, int64_t in_bytes, void* out, PermutePlan plan) {
  extern __shared__ Vector tile_memory[];
  __shared__ TilePart part;
  auto* const tile = reinterpret_cast<unsigned char*>(tile_memory);
  if (threadIdx.x < kWarpThreads) {
    if (static_cast<int>(threadIdx.x) < plan.rank) FindPart(plan, threadIdx.x, &part);
    __syncwarp();
    if (threadIdx.x == 0) FindCorner(plan, &part);
  }
  __syncthreads();
  if (!part.exists) return;  // For all threads of the block.
  const auto begin = reinterpret_cast<intptr_t>(in);
  const intptr_t corner_in = begin + part.corner_in;
  const intptr_t corner_out = reinterpret_cast<intptr_t>(out) + part.corner_out;
  const TileTables tables = TablesBehind(tile, plan);
  MakeInTables(plan, part, corner_in, part.in_run * static_cast<int>(sizeof(T)), tables);
  __syncthreads();
  const InRows rows = {tables.in, plan.in_rows_held, plan.in_chunks, plan.by_chunks};
  const intptr_t end = begin + in_bytes;
  const intptr_t last = corner_in + part.span_in + static_cast<intptr_t>(sizeof(T));
  if ((corner_in & -kVectorBytes) >= begin && last + kVectorBytes <= end) {
    LoadRows<T, true>(rows, begin, end, tile);
  } else {
    LoadRows<T, false>(rows, begin, end, tile);
  }
  // Elements of words of `out` have their places at multiples of kTogether of them.
  const int lead =
      kTogether > 1 ? static_cast<int>(corner_out) / static_cast<int>(sizeof(T)) & (kTogether - 1)
                    : 0;
  MakeOutTables(plan, part, tables);  // While the loads are on their way.
  if constexpr (kTogether > 0) MakePositions(plan, tables.out_position + lead);
  const RunPositions<kTogether> positions = {tables.out_position + lead, plan.out_element[0].pitch};
  const unsigned char* const first = tile + (corner_in & (kVectorBytes - 1));
  WaitForCopies();
  __syncthreads();
  StoreWholeVectors<T>(plan, part, tables, corner_out, part.out_run, positions, first);
  if (plan.out_ends) StoreEnds<T>(plan, part, tables, corner_out, part.out_run, positions, first);
}

template <typename T>
LaunchStatus Run(const PermuteArgs& args, const PermutePlan& plan) {
  void (*kernel)(const void*, int64_t, void*, PermutePlan) = PermuteTile<T, 0>;
  if (plan.out_packed) kernel = PermuteTile<T, 1>;
  if constexpr (sizeof(T) < 4) {
    if (plan.out_words) kernel = PermuteTile<T, GatherOffsets<T>::kInWord>;
  }
  return Launch(kernel, Grid{plan.blocks}, Block{plan.threads}, plan.shared_bytes, args.stream,
                args.in, SpanBytesOfIn(args), args.out, plan);
}

}  // namespace

LaunchStatus PermuteTiles(const PermuteArgs& args) {
  const PermutePlan plan = ChoosePermutePlan(args);
  return ForElementSize(args, [&](auto zero) { return Run<decltype(zero)>(args, plan); });
}

}  // namespace stridewise
