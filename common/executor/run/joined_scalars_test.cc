#include "common/executor/run/joined_scalars.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

struct Variable {
  const char* function;
  const char* name;
  const char* type;
};

std::string Name(const Variable& v) { return absl::StrCat("@_ZZ", v.function, "E", v.name); }

// A module of these variables, each of which is loaded.
std::string Module(const std::vector<Variable>& variables) {
  std::string module;
  for (const Variable& v : variables) {
    absl::StrAppend(&module, Name(v), " = internal thread_local unnamed_addr global ", v.type,
                    " undef, align 16\n");
  }
  for (const Variable& v : variables) {
    absl::StrAppend(&module, "  %x = load ", v.type, ", ", v.type, "* ", Name(v),
                    ", align 16, !dbg !1\n");
  }
  return module;
}

std::string Joined(const std::vector<Variable>& variables) {
  return absl::StrJoin(WithScalarsJoined(absl::StrSplit(Module(variables), '\n')), "\n");
}

TEST(JoinedScalarsTest, NeighboursAreAnArray) {
  EXPECT_EQ(Joined({{"1f", "4mean", "float"}, {"1f", "1s", "float"}}),
            "@_ZZ1fE4mean.joined = internal thread_local global [2 x float] zeroinitializer, align "
            "16\n"
            "  %x = load float, float* getelementptr inbounds ([2 x float], [2 x float]* "
            "@_ZZ1fE4mean.joined, i64 0, i64 0), align 16, !dbg !1\n"
            "  %x = load float, float* getelementptr inbounds ([2 x float], [2 x float]* "
            "@_ZZ1fE4mean.joined, i64 0, i64 1), align 4, !dbg !1\n");
}

// Behind an array of 63 elements the first one is at byte 252: 12 behind a multiple of 16.
TEST(JoinedScalarsTest, TheirPlaceFollowsFromWhatIsBefore) {
  const std::string joined =
      Joined({{"1f", "1z", "[63 x float]"}, {"1f", "1m", "float"}, {"1f", "1s", "float"}});
  EXPECT_TRUE(absl::StrContains(joined, "global [5 x float] zeroinitializer"));
  EXPECT_TRUE(absl::StrContains(joined, "i64 0, i64 3), align 4,"));
  EXPECT_TRUE(absl::StrContains(joined, "i64 0, i64 4), align 16,"));
}

TEST(JoinedScalarsTest, OthersStay) {
  const std::vector<Variable> cases[] = {
      {{"1f", "1m", "float"}, {"1g", "1s", "float"}},
      {{"1f", "1m", "float"}, {"1f", "1s", "i32"}},
      {{"1f", "1m", "float"}, {"1f", "1a", "[4 x float]"}, {"1f", "1s", "float"}},
      {{"1f", "1t", "%struct.T"}, {"1f", "1m", "float"}, {"1f", "1s", "float"}},
      {{"1f", "1m", "i8"}, {"1f", "1s", "i8"}},
  };
  for (const auto& variables : cases) EXPECT_EQ(Joined(variables), Module(variables));
}

}  // namespace
}  // namespace stridewise::executor
