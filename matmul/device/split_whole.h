// Splits operands that are whole fours and strips everywhere, by kernels that do one kind of work
// for each operand. Instructions arrive from a cold L2, too: with rows that are held in registers
// beside all other kinds of work, the kernel of split_launch.h took 1024 from 26.1 to 29.7 us on an
// H100. These take 2048 from 102.8 to 98.3.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_WHOLE_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_WHOLE_H_

#include <cstdint>

#include "matmul/device/split_launch.h"
#include "matmul/device/split_operand.h"
#include "matmul/device/split_scheme.h"
#include "matmul/device/split_source.h"

namespace stridewise {

namespace {  // Each file that includes this has kernels of its own.

SplitWork WorkOf(const SplitSource& source) {
  if (!source.scale_rows) {
    return source.strip_cols == kWideStripCols ? SplitWork::kWideStrips : SplitWork::kStrips;
  }
  if (source.cols <= kWarpRowCols) return SplitWork::kRowsOfWarps;
  return source.cols <= kHeldRowCols ? SplitWork::kHeldRows : SplitWork::kRowsOfBlocks;
}

// Returns whether no block meets the end of a row within a four.
bool IsWhole(const SplitSource& source) {
  return source.vectors && source.cols % (source.scale_rows ? 4 : source.strip_cols) == 0;
}

template <typename Scheme, SplitWork kFirst, SplitWork kSecond>
__global__ void __launch_bounds__(kSplitThreads, kSplitBlocks<Scheme>)
    SplitWholeOperands(SplitSource first, SplitSource second) {
  extern __shared__ float4 cache[];
  LetNextKernelBegin();
  const bool is_first = blockIdx.x < first.blocks;
  const int64_t block = static_cast<int64_t>(blockIdx.x) - (is_first ? 0 : first.blocks);
  if constexpr (kFirst == kSecond) {
    const SplitSource source = is_first ? first : second;
    SplitBlockOf<Scheme, true, kFirst>(source, block, cache);
  } else if (is_first) {
    SplitBlockOf<Scheme, true, kFirst>(first, block, cache);
  } else {
    SplitBlockOf<Scheme, true, kSecond>(second, block, cache);
  }
}

// Queues the split, as LaunchSplit() does.
template <typename Scheme>
LaunchStatus LaunchSplitWhole(const SplitSources& any, cudaStream_t stream) {
  if (!IsWhole(any.a) || !IsWhole(any.b)) return LaunchSplit<Scheme>(any, stream);
  SplitSources of = any;
  for (SplitSource* source : {&of.a, &of.b}) {
    if (WorkOf(*source) != SplitWork::kHeldRows) continue;
    const int64_t rows = int64_t{source->count} * source->rows;
    source->cached_quads = 0;
    source->blocks = CeilDiv(CeilDiv(rows, kHeldRows), source->cluster) * source->cluster;
  }
  const bool columns_are_second = of.a.scale_rows && !of.b.scale_rows;
  const SplitSource& first = columns_are_second ? of.b : of.a;
  const SplitSource& second = columns_are_second ? of.a : of.b;
  const auto is = [&](SplitWork of_first, SplitWork of_second) {
    return WorkOf(first) == of_first && WorkOf(second) == of_second;
  };
  const auto launch = [&](auto kernel) {
    return LaunchClusters(of.a.cluster, kernel, Grid{of.a.blocks + of.b.blocks},
                          Block{kSplitThreads}, std::max(SharedBytes(of.a), SharedBytes(of.b)),
                          stream, first, second);
  };
  using Work = SplitWork;
  if (is(Work::kWideStrips, Work::kRowsOfWarps)) {
    return launch(SplitWholeOperands<Scheme, Work::kWideStrips, Work::kRowsOfWarps>);
  }
  if (is(Work::kWideStrips, Work::kHeldRows)) {
    return launch(SplitWholeOperands<Scheme, Work::kWideStrips, Work::kHeldRows>);
  }
  if (is(Work::kStrips, Work::kRowsOfBlocks)) {
    return launch(SplitWholeOperands<Scheme, Work::kStrips, Work::kRowsOfBlocks>);
  }
  if (is(Work::kRowsOfWarps, Work::kRowsOfWarps)) {
    return launch(SplitWholeOperands<Scheme, Work::kRowsOfWarps, Work::kRowsOfWarps>);
  }
  if (is(Work::kHeldRows, Work::kHeldRows)) {
    return launch(SplitWholeOperands<Scheme, Work::kHeldRows, Work::kHeldRows>);
  }
  if (is(Work::kRowsOfBlocks, Work::kRowsOfBlocks)) {
    return launch(SplitWholeOperands<Scheme, Work::kRowsOfBlocks, Work::kRowsOfBlocks>);
  }
  if (is(Work::kWideStrips, Work::kWideStrips)) {
    return launch(SplitWholeOperands<Scheme, Work::kWideStrips, Work::kWideStrips>);
  }
  if (is(Work::kStrips, Work::kStrips)) {
    return launch(SplitWholeOperands<Scheme, Work::kStrips, Work::kStrips>);
  }
  return LaunchSplit<Scheme>(any, stream);
}

}  // namespace
}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_WHOLE_H_
