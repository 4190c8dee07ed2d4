// The thread blocks that block_search tries.

#ifndef STRIDEWISE_BENCHMARKS_TUNING_BLOCK_CANDIDATES_H_
#define STRIDEWISE_BENCHMARKS_TUNING_BLOCK_CANDIDATES_H_

#include <vector>

#include "common/base/sweep_args.h"

namespace stridewise {

// Every X x Y of 32, 64, 96, 128, 192, 256, 384, 512, 768 or 1024 threads, by number of threads and
// then by X: all 111 of them, thin ones such as 1x1024 and odd ones such as 3x32 included.
//
// These are the multiples of a warp that are 2^n or 3 * 2^n. A block that is no multiple of 32
// threads cannot win: its last warp runs with idle lanes, which cost the same issue slots,
// registers and share of a multiprocessor as busy ones, and rounding the block up to whole warps
// does the same work with fewer of them. Multiples with larger odd factors (160, 224, ...) divide
// neither a multiprocessor's 2048 threads nor a matrix whose extents are powers of two.
std::vector<BlockShape> BlockCandidates();

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TUNING_BLOCK_CANDIDATES_H_
