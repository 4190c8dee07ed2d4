// Splits operands by kernels that do one kind of work for each operand. Instructions arrive from a
// cold L2, too: with rows that are held in registers beside all other kinds of work, the kernel of
// split_launch.h took 1024 from 26.1 to 29.7 us on an H100. Kernels of their own took 2048 from
// 102.8 to 98.3.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_BY_WORK_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_BY_WORK_H_

#include <algorithm>
#include <cstdint>

#include "matmul/device/split_launch.h"
#include "matmul/device/split_operand.h"
#include "matmul/device/split_scheme.h"
#include "matmul/device/split_source.h"

namespace stridewise {

namespace {  // Each file that includes this has kernels of its own.

// Returns what the operand's blocks do.
SplitWork WorkOf(const SplitSource& source) {
  if (!source.scale_rows) {
    return source.strip_cols == kWideStripCols ? SplitWork::kWideStrips : SplitWork::kStrips;
  }
  if (source.cols <= kWarpRowCols) return SplitWork::kRowsOfWarps;
  const bool whole = source.vectors && source.cols % 4 == 0;
  return whole && source.cols <= kHeldRowCols ? SplitWork::kHeldRows : SplitWork::kRowsOfBlocks;
}

template <typename Scheme, SplitWork kFirst, SplitWork kSecond>
__global__ void __launch_bounds__(kSplitThreads, kSplitBlocks<Scheme>)
    SplitByWork(SplitSource first, SplitSource second) {
  extern __shared__ float4 cache[];
  LetNextKernelBegin();
  const auto first_blocks = static_cast<uint32_t>(first.blocks);
  const bool is_first = blockIdx.x < first_blocks;
  const uint32_t block = blockIdx.x - (is_first ? 0 : first_blocks);
  if constexpr (kFirst == kSecond) {
    const SplitSource source = is_first ? first : second;
    SplitBlockOf<Scheme, kFirst>(source, block, cache);
  } else if (is_first) {
    SplitBlockOf<Scheme, kFirst>(first, block, cache);
  } else {
    SplitBlockOf<Scheme, kSecond>(second, block, cache);
  }
}

// Two kinds of work, and the kernel that does them. Others, as of a row that begins anywhere beside
// one that does not, are left to SplitOperands().
struct SplitWorkPair {
  SplitWork first, second;
  void (*kernel)(SplitSource, SplitSource);
};
template <typename Scheme, SplitWork kFirst, SplitWork kSecond>
constexpr SplitWorkPair kSplitWorkPair = {kFirst, kSecond, SplitByWork<Scheme, kFirst, kSecond>};

template <typename Scheme>
constexpr SplitWorkPair kSplitWorkPairs[] = {
    kSplitWorkPair<Scheme, SplitWork::kWideStrips, SplitWork::kRowsOfWarps>,
    kSplitWorkPair<Scheme, SplitWork::kWideStrips, SplitWork::kHeldRows>,
    kSplitWorkPair<Scheme, SplitWork::kWideStrips, SplitWork::kRowsOfBlocks>,
    kSplitWorkPair<Scheme, SplitWork::kStrips, SplitWork::kRowsOfBlocks>,
    kSplitWorkPair<Scheme, SplitWork::kRowsOfWarps, SplitWork::kRowsOfWarps>,
    kSplitWorkPair<Scheme, SplitWork::kHeldRows, SplitWork::kHeldRows>,
    kSplitWorkPair<Scheme, SplitWork::kRowsOfBlocks, SplitWork::kRowsOfBlocks>,
    kSplitWorkPair<Scheme, SplitWork::kWideStrips, SplitWork::kWideStrips>,
    kSplitWorkPair<Scheme, SplitWork::kStrips, SplitWork::kStrips>,
};

// Queues the split, as LaunchSplit() does.
template <typename Scheme>
LaunchStatus LaunchSplitByWork(const SplitSources& any, cudaStream_t stream) {
  SplitSources of = any;
  for (SplitSource* source : {&of.a, &of.b}) {
    if (WorkOf(*source) != SplitWork::kHeldRows) continue;
    const int64_t rows = int64_t{source->count} * source->rows;
    source->cached_quads = 0;
    source->blocks = CeilDiv(CeilDiv(rows, kHeldRows), source->cluster) * source->cluster;
  }
  const auto [first, second] = InOrder(of);
  for (const SplitWorkPair& pair : kSplitWorkPairs<Scheme>) {
    if (pair.first != WorkOf(*first) || pair.second != WorkOf(*second)) continue;
    return LaunchSplitKernel(pair.kernel, *first, *second, stream);
  }
  return LaunchSplit<Scheme>(any, stream);
}

}  // namespace
}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_BY_WORK_H_
