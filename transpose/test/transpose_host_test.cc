// Host implementations, the registry and what it refuses.

#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "transpose/on_host.h"
#include "transpose/registry.h"
#include "transpose/test/transpose_test_problem.h"

namespace stridewise {
namespace {

class TransposeHostTest : public testing::TestWithParam<std::string> {};

TEST_P(TransposeHostTest, IsExactInEverySizeAndShape) {
  const TransposeImplementation& implementation = *FindTransposeImplementation(GetParam());
  for (const int64_t element_bytes : {1, 2, 4, 8, 16}) {
    if ((implementation.element_sizes & element_bytes) == 0) continue;
    for (const TransposeCase& c : TransposeCasesFor(implementation)) {
      TransposeTestProblem problem(c, element_bytes, implementation.operation);
      const absl::Status status = RunTranspose(implementation, problem.args());
      // A library that is compared with need not be installed.
      if (absl::IsUnavailable(status)) GTEST_SKIP() << status;
      EXPECT_TRUE(status.ok()) << c << ": " << status;
      EXPECT_TRUE(problem.Check().ok())
          << c << ", " << element_bytes << " bytes: " << problem.Check();
    }
  }
}

// Larger than what the caches hold: streaming stores, several threads, rows that alias in L1.
TEST(TransposeHostLarge, StreamsAndStages) {
  for (const char* name : {"cpu_threads", "cpu_streaming", "cpu_in_place", "cpu_copy"}) {
    const TransposeImplementation& implementation = *FindTransposeImplementation(name);
    for (const TransposeCase& c : {TransposeCase{2048, 2048, 0}, TransposeCase{2057, 2057, 7, 7}}) {
      TransposeTestProblem problem(c, 4, implementation.operation);
      ASSERT_TRUE(RunTranspose(implementation, problem.args()).ok()) << name << " " << c;
      EXPECT_TRUE(problem.Check().ok()) << name << " " << c << ": " << problem.Check();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, TransposeHostTest, testing::ValuesIn(TransposeNames(Where::kHost)),
                         [](const auto& info) { return info.param; });

TEST(TransposeOnHost, TransposesOutOfPlaceAndInPlace) {
  using Ints = std::vector<int>;
  const Ints in = {1, 2, 3, 4, 5, 6};
  Ints out(6);
  ASSERT_TRUE(TransposeOnHost({in.data(), 2, 3, 3}, {out.data(), 3, 2, 2}).ok());
  EXPECT_EQ(out, (Ints{1, 4, 2, 5, 3, 6}));
  ASSERT_TRUE(TransposeOnHost({out.data(), 2, 2, 2}, {out.data(), 2, 2, 2}).ok());
  EXPECT_EQ(out, (Ints{1, 2, 4, 5, 3, 6}));
  EXPECT_EQ(TransposeOnHost({in.data(), 2, 3, 3}, {out.data(), 2, 3, 3}).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(TransposeOnHost({out.data(), 2, 3, 3}, {out.data(), 3, 2, 2}).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(TransposeRegistry, NamesAreUniqueAndDescribed) {
  std::set<std::string> names;
  for (const TransposeImplementation& implementation : TransposeImplementations()) {
    EXPECT_TRUE(names.insert(implementation.name).second) << implementation.name;
    EXPECT_EQ(FindTransposeImplementation(implementation.name), &implementation);
    EXPECT_FALSE(implementation.summary.empty()) << implementation.name;
    EXPECT_FALSE(implementation.teaches.empty()) << implementation.name;
    EXPECT_NE(implementation.element_sizes, 0) << implementation.name;
  }
  EXPECT_EQ(FindTransposeImplementation("no_such"), nullptr);
}

TEST(TransposeRegistry, RefusesBadArgumentsByName) {
  struct {
    const char* argument;
    void (*spoil)(TransposeArgs&);
  } cases[] = {
      {"rows is -1", [](TransposeArgs& args) { args.rows = -1; }},
      {"cols is -1", [](TransposeArgs& args) { args.cols = -1; }},
      {"element_bytes is 3", [](TransposeArgs& args) { args.element_bytes = 3; }},
      {"element_bytes is 0", [](TransposeArgs& args) { args.element_bytes = 0; }},
      {"element_bytes is 32", [](TransposeArgs& args) { args.element_bytes = 32; }},
      {"ld_in is 4", [](TransposeArgs& args) { args.ld_in = 4; }},
      {"ld_out is 6", [](TransposeArgs& args) { args.ld_out = 6; }},
      {"in is null", [](TransposeArgs& args) { args.in = nullptr; }},
      {"out is null", [](TransposeArgs& args) { args.out = nullptr; }},
      {"in is not a multiple",
       [](TransposeArgs& args) { args.in = static_cast<const uint8_t*>(args.in) + 1; }},
      {"block is 8x8",
       [](TransposeArgs& args) {
         args.block = {8, 8};
       }},
  };
  for (const auto& c : cases) {
    TransposeTestProblem problem({7, 5, 0}, 4, TransposeOperation::kTranspose);
    TransposeArgs args = problem.args();
    c.spoil(args);
    const absl::Status status = RunTranspose(*FindTransposeImplementation("cpu_blocked"), args);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << c.argument;
    EXPECT_NE(std::string(status.message()).find(c.argument), std::string::npos) << status;
  }
}

TEST(TransposeRegistry, CountsBytesOnceReadAndOnceWritten) {
  EXPECT_EQ(TransposeBytes(3, 5, 4), 120);
  EXPECT_EQ(TransposeBytes(0, 5, 4), 0);
}

// Shows why the diagonal kernel of one study seemed faster than memory: with the shift modulo
// gridDim.y, a 256 x 64 grid (2048 x 2048 in blocks of 8x32) visits a quarter of its tiles, four
// times each. Modulo gridDim.x it visits each once.
TEST(DiagonalOrder, TheStudysShiftMissesThreeQuartersOfTheTiles) {
  constexpr int kGridX = 256;
  constexpr int kGridY = 64;
  for (const int modulus : {kGridY, kGridX}) {
    std::set<std::pair<int, int>> tiles;
    for (int y = 0; y < kGridY; ++y) {
      for (int x = 0; x < kGridX; ++x) tiles.insert({y, (x + y) % modulus});
    }
    EXPECT_EQ(tiles.size(),
              modulus == kGridX ? size_t{kGridX} * kGridY : size_t{kGridX} * kGridY / 4);
  }
}

}  // namespace
}  // namespace stridewise
