#include "benchmarks/tuning/block_candidates.h"

namespace stridewise {

std::vector<BlockShape> BlockCandidates() {
  std::vector<BlockShape> candidates;
  for (const int threads : {32, 64, 96, 128, 192, 256, 384, 512, 768, 1024}) {
    for (int x = 1; x <= threads; ++x) {
      if (threads % x == 0) candidates.push_back({x, threads / x});
    }
  }
  return candidates;
}

}  // namespace stridewise
