#include "benchmarks/tuning/block_candidates.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/gpu/launch_geometry.h"
#include "gtest/gtest.h"
#include "transpose/registry.h"

namespace stridewise {
namespace {

std::set<std::pair<int64_t, int64_t>> CandidateSet() {
  std::set<std::pair<int64_t, int64_t>> set;
  for (const BlockShape& block : BlockCandidates()) set.emplace(block.x, block.y);
  return set;
}

TEST(BlockCandidatesTest, AreLegalAndWholeWarps) {
  for (const BlockShape& block : BlockCandidates()) {
    EXPECT_TRUE(CheckLaunchGeometry({1, 1, 1}, {block.x, block.y, 1}).ok());
    EXPECT_EQ(block.x * block.y % 32, 0) << block.x << "x" << block.y;
    // As the flag would be given: what the sweeps take, block_search must not exceed.
    EXPECT_TRUE(ParseBlocks("--blocks", absl::StrCat(block.x, "x", block.y)).ok());
  }
}

TEST(BlockCandidatesTest, AreUnique) {
  EXPECT_EQ(CandidateSet().size(), BlockCandidates().size());
  EXPECT_EQ(BlockCandidates().size(), 111u);
}

TEST(BlockCandidatesTest, HoldAllPowersOfTwoAndThreeTimesThose) {
  const std::set<std::pair<int64_t, int64_t>> candidates = CandidateSet();
  for (int x = 1; x <= 1024; ++x) {
    for (int y = 1; x * y <= 1024; ++y) {
      int odd = x * y;
      while (odd % 2 == 0) odd /= 2;
      const bool expected = x * y % 32 == 0 && (odd == 1 || odd == 3);
      EXPECT_EQ(candidates.count({x, y}) == 1, expected) << x << "x" << y;
    }
  }
}

TEST(BlockCandidatesTest, HoldTheDefaultOfEachKernelThatTakesAny) {
  const std::set<std::pair<int64_t, int64_t>> candidates = CandidateSet();
  int kernels = 0;
  for (const TransposeImplementation& implementation : TransposeImplementations()) {
    if (implementation.blocks != Blocks::kAny) continue;
    ++kernels;
    const Block& block = implementation.default_block;
    EXPECT_EQ(candidates.count({block.x, block.y}), 1u) << implementation.name;
  }
  EXPECT_GT(kernels, 0);
}

}  // namespace
}  // namespace stridewise
