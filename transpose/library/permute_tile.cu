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
#include "transpose/args.h"
#include "transpose/device/async_copy.h"
#include "transpose/device/permute_store.h"
#include "transpose/device/permute_tables.h"
#include "transpose/device/vectors.h"
#include "transpose/permute_args.h"
#include "transpose/permute_plan.h"
#include "transpose/permute_plan_choice.h"

namespace stridewise {
namespace {

[[maybe_unused]] constexpr int kMaxThreads = 512;  // The host executor has no launch bounds.

// Copies the chunks under the rows. `begin` and `end` are the tensor's: of a chunk that crosses
// them, only the elements inside are copied.
template <typename T>
__device__ inline void LoadRows(const PermutePlan& plan, const TileTables& tables, intptr_t corner,
                                int run_bytes, intptr_t begin, intptr_t end, unsigned char* tile) {
  constexpr int kSize = sizeof(T);
  const int lead = static_cast<int>(corner & (kVectorBytes - 1));
  const int chunks = plan.in_rows_held * plan.in_chunks;
#pragma unroll 4
  for (int i = threadIdx.x; i < chunks; i += blockDim.x) {
    const int row = plan.by_chunks.Quotient(i);
    const int chunk = (i - row * plan.in_chunks) * kVectorBytes;
    if (tables.in_shared[row] == kNoRow) continue;
    const intptr_t first = corner + tables.in_offset[row];
    const intptr_t from = (first & -kVectorBytes) + chunk;
    if (from >= first + run_bytes) continue;
    unsigned char* const to = tile + ((lead + tables.in_shared[row]) & -kVectorBytes) + chunk;
    if (from >= begin && from + kVectorBytes <= end) {
      CopyAsync16(to, reinterpret_cast<const void*>(from));
    } else {
      for (int k = 0; k < kVectorBytes; k += kSize) {
        if (from + k < begin || from + k >= end) continue;
        *reinterpret_cast<T*>(to + k) = *reinterpret_cast<const T*>(from + k);
      }
    }
  }
}

template <typename T, bool kPacked>
__global__ void __launch_bounds__(kMaxThreads)
    PermuteTile(const void* in, int64_t in_bytes, void* out, PermutePlan plan) {
  extern __shared__ Vector tile_memory[];
  __shared__ TilePart part;
  auto* const tile = reinterpret_cast<unsigned char*>(tile_memory);
  if (static_cast<int>(threadIdx.x) < plan.rank) FindPart(plan, threadIdx.x, &part);
  __syncthreads();
  const auto begin = reinterpret_cast<intptr_t>(in);
  intptr_t corner_in = begin;
  auto corner_out = reinterpret_cast<intptr_t>(out);
  for (int d = 0; d < plan.rank; ++d) {
    if (part.held[d] <= 0) return;  // For all threads of the block.
    corner_in += part.offset_in[d];
    corner_out += part.offset_out[d];
  }
  const TileTables tables = TablesBehind(tile, plan);
  MakeInTables(plan, part, tables);
  __syncthreads();
  int in_run = sizeof(T);
  for (int i = 0; i < plan.in_run.count; ++i) in_run *= part.held[plan.in_run.dims[i]];
  LoadRows<T>(plan, tables, corner_in, in_run, begin, begin + in_bytes, tile);
  MakeOutTables(plan, part, tables);  // While the loads are on their way.
  int out_run = 1;
  for (int i = 0; i < plan.out_run.count; ++i) out_run *= part.held[plan.out_run.dims[i]];
  const int pitch = plan.out_run.count == 0 ? 0 : plan.dims[plan.out_run.dims[0]].pitch;
  const RunPositions<kPacked> positions = {tables.out_position, pitch};
  const unsigned char* const first = tile + (corner_in & (kVectorBytes - 1));
  WaitForCopies();
  __syncthreads();
  StoreWholeVectors<T>(plan, part, tables, corner_out, out_run, positions, first);
  if (plan.out_ends) StoreEnds<T>(plan, part, tables, corner_out, out_run, positions, first);
}

// Returns the bytes from the first element of `in` to the end of the last.
int64_t SpanBytes(const PermuteArgs& args) {
  int64_t last = 0;
  for (int d = 0; d < args.rank; ++d) last += (args.dims[d].extent - 1) * args.dims[d].stride_in;
  return (last + 1) * args.element_bytes;
}

template <typename T>
LaunchStatus Run(const PermuteArgs& args, const PermutePlan& plan) {
  return Launch(plan.out_packed ? PermuteTile<T, true> : PermuteTile<T, false>, Grid{plan.blocks},
                Block{plan.threads}, plan.shared_bytes, args.stream, args.in, SpanBytes(args),
                args.out, plan);
}

}  // namespace

LaunchStatus PermuteTiles(const PermuteArgs& args) {
  const PermutePlan plan = ChoosePermutePlan(args);
  switch (args.element_bytes) {
    case 1:
      return Run<uint8_t>(args, plan);
    case 2:
      return Run<uint16_t>(args, plan);
    case 4:
      return Run<uint32_t>(args, plan);
    case 8:
      return Run<uint64_t>(args, plan);
    default:
      return Run<Bits128>(args, plan);
  }
}

}  // namespace stridewise
