// Permutes dimensions of which the innermost are the same few on both sides, in another order
// (permute_blocks_plan.h): small matrices, or boxes of more dimensions, that are contiguous on both
// sides and keep no order of `out`. batch_small.cu for a batch of any dimensions.
//
// Blocks are copied to shared memory as they are. A thread gathers 16 bytes of `out`, which lie in
// one block or two: places in a block are in a table that is the same for all of them, and a place
// is relative to the first or to the second. permute_tile.cu has tables for the rows of each block
// and ends of runs at each of them: 0.49 of a copy for 3 x 43 bytes on an H200.

#include <cstdint>

#include "common/gpu/launch.h"
#include "transpose/device/async_copy.h"
#include "transpose/device/flat_offset.h"
#include "transpose/device/flat_store.h"
#include "transpose/device/permute_load.h"
#include "transpose/device/vectors.h"
#include "transpose/element_size.h"
#include "transpose/permute_args.h"
#include "transpose/permute_blocks_plan.h"

namespace stridewise {
namespace {

[[maybe_unused]] constexpr int kMaxThreads = 256;  // The host executor has no launch bounds.

template <typename T>
__global__ void __launch_bounds__(kMaxThreads)
    PermuteBlocksKernel(const void* in, int64_t in_bytes, void* out, PermuteBlocksPlan plan) {
  constexpr int kSize = sizeof(T);
  constexpr int kElements = kVectorElements<T>;
  extern __shared__ Vector tile_memory[];
  auto* const tile = reinterpret_cast<unsigned char*>(tile_memory);
  const auto elements = static_cast<int>(plan.block.extent);  // Of a block.
  auto* const blocks = reinterpret_cast<InRow*>(tile + plan.tile_bytes);
  auto* const table = reinterpret_cast<uint16_t*>(blocks + plan.tile_blocks);
  const RowPlaces<T> places(table, plan.table_rows);
  // Where blocks begin in the tile, in bytes.
  auto* const bases = reinterpret_cast<int*>(table + RowPlaces<T>::kCopies * plan.table_rows);
  const uint32_t first_block = blockIdx.x * static_cast<uint32_t>(plan.tile_blocks);
  const uint32_t left = plan.batch.extent - first_block;
  const auto most = static_cast<uint32_t>(plan.tile_blocks);
  const auto count = static_cast<int>(left < most ? left : most);

  const auto begin = reinterpret_cast<intptr_t>(in);
  const intptr_t end = begin + in_bytes;
  bool crosses = false;  // Whether a chunk lies partly outside of the tensor.
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    const intptr_t from = begin + OffsetOf(plan.batch, &FlatDigit::stride_in, first_block + i);
    const auto inside = static_cast<int>(from & (kVectorBytes - 1));
    const int chunks = (inside + elements * kSize + kVectorBytes - 1) / kVectorBytes;
    blocks[i] = {from - inside, i * plan.pitch, chunks};
    bases[i] = i * plan.pitch + inside;
    crosses = crosses || from - inside < begin || from - inside + chunks * kVectorBytes > end;
  }
  const bool cut_off = __syncthreads_or(crosses) != 0;
  const InRows loaded = {blocks, count, plan.in_chunks, plan.by_chunks};
  if (cut_off) {
    LoadRows<T, false>(loaded, begin, end, tile);
  } else {
    LoadRows<T, true>(loaded, begin, end, tile);
  }
  // The table of places is made while the loads are on their way; behind a block it begins anew.
  for (int i = threadIdx.x; i < elements + kElements - 1; i += blockDim.x) {
    const int element = i - plan.by_block.Quotient(i) * elements;
    places.Set(i, static_cast<int>(OffsetOf(plan.block, &FlatDigit::stride_in, element)));
  }
  WaitForCopies();
  __syncthreads();

  const intptr_t to =
      reinterpret_cast<intptr_t>(out) + static_cast<int64_t>(first_block) * elements * kSize;
  const int all = count * elements;
  const auto lead = static_cast<int>(to & (kVectorBytes - 1)) / kSize;
#pragma unroll 2
  for (int i = static_cast<int>(threadIdx.x) * kElements - lead; i < all;
       i += static_cast<int>(blockDim.x) * kElements) {
    if (i < 0 || i + kElements > all) {  // The ends of the tile.
      for (int k = i < 0 ? 0 : i; k < i + kElements && k < all; ++k) {
        const int block = plan.by_block.Quotient(k);
        reinterpret_cast<T*>(to)[k] =
            *reinterpret_cast<const T*>(tile + bases[block] + places[k - block * elements]);
      }
      continue;
    }
    const int block = plan.by_block.Quotient(i);
    const int in_block = i - block * elements;
    const int in_first = elements - in_block;  // Elements of the vector that the first block has.
    const int first = bases[block];
    const int second = in_first < kElements ? bases[block + 1] : first;
    int place[kElements];
    places.OfVector(in_block, place);
#pragma unroll
    for (int k = 0; k < kElements; ++k) place[k] += k < in_first ? first : second;
    StoreVector(reinterpret_cast<T*>(to) + i, GatherAt<T>(tile, place));
  }
}

template <typename T>
LaunchStatus Run(const PermuteArgs& args, const PermuteBlocksPlan& plan) {
  return Launch(PermuteBlocksKernel<T>, Grid{plan.tiles}, Block{plan.threads}, plan.shared_bytes,
                args.stream, args.in, SpanBytesOfIn(args), args.out, plan);
}

}  // namespace

LaunchStatus PermuteBlocks(const PermuteArgs& args) {
  const PermuteBlocksPlan plan = MakePermuteBlocksPlan(
      args, args.blocks_limits != nullptr ? *args.blocks_limits : BlocksLimitsFor(args));
  return ForElementSize(args, [&](auto zero) { return Run<decltype(zero)>(args, plan); });
}

}  // namespace stridewise
