// The block of the kernels whose clusters divide a tile's k, of 16-bit numbers (split.h) and of
// INT8 (int8/split.h): two warpgroups multiply 64 rows each, and one warp behind them loads stages.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_SPLIT_BLOCK_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_SPLIT_BLOCK_H_

namespace stridewise {

constexpr int kSplitBlockConsumers = 2;
constexpr int kSplitBlockMmaRows = 64;
constexpr int kSplitBlockRows = kSplitBlockConsumers * kSplitBlockMmaRows;
constexpr int kSplitBlockConsumerThreads = kSplitBlockConsumers * 128;
constexpr int kSplitBlockConsumerWarps = kSplitBlockConsumerThreads / 32;
constexpr int kSplitBlockThreads = kSplitBlockConsumerThreads + 32;

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_SPLIT_BLOCK_H_
