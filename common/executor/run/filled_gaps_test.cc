#include "common/executor/run/filled_gaps.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> LinesOf(const std::string& ir) { return absl::StrSplit(ir, '\n'); }

// Loads these elements of an array of `type`, of which the one with number `aligned` is known to be
// aligned to 16 bytes.
std::string Loads(const std::vector<int>& elements, int aligned = 0,
                  const std::string& type = "float") {
  std::string ir = absl::StrCat("define void @f([8 x ", type,
                                "]* %a) {\n  %t = tail call i32 @simt_thread_idx_x()\n");
  for (const int e : elements) {
    absl::StrAppend(&ir, "  %p", e, " = getelementptr inbounds [8 x ", type, "], [8 x ", type,
                    "]* %a, i64 0, i64 ", e, "\n  %v", e, " = load ", type, ", ", type, "* %p", e,
                    ", align ", e == aligned ? 16 : 1, "\n");
  }
  return ir + "  ret void\n}\n";
}

int Fillers(const std::string& ir) {
  int count = 0;
  for (const std::string& line : WithFilledGaps(LinesOf(ir))) {
    count += absl::StartsWith(line, "  %simt.gap") && absl::StrContains(line, " = load ");
  }
  return count;
}

TEST(WithFilledGaps, TheThirdOrFourthElementBringsTheOthers) {
  EXPECT_EQ(Fillers(Loads({0, 1, 2})), 1);
  EXPECT_EQ(Fillers(Loads({0, 1, 3})), 1);
  EXPECT_EQ(Fillers(Loads({3, 0, 2})), 1);
  EXPECT_EQ(Fillers(Loads({0, 2})), 2);
  EXPECT_EQ(Fillers(Loads({0, 3})), 2);
  EXPECT_EQ(Fillers(Loads({0, 1})), 0);
  EXPECT_EQ(Fillers(Loads({0, 1, 2, 3})), 0);
  EXPECT_EQ(Fillers(Loads({1, 2, 3})), 0);  // Without the first one.
  EXPECT_EQ(Fillers(Loads({4, 6, 7}, 4)), 1);
  EXPECT_EQ(Fillers(Loads({3, 4, 5}, 4)), 0);
}

TEST(WithFilledGaps, OfWhichSizes) {
  EXPECT_EQ(Fillers(Loads({0, 2}, 0, "i8")), 2);
  EXPECT_EQ(Fillers(Loads({0, 2}, 0, "i16")), 2);
  EXPECT_EQ(Fillers(Loads({0, 2}, 0, "i32")), 2);
  EXPECT_EQ(Fillers(Loads({0, 2}, 0, "double")), 0);
}

TEST(WithFilledGaps, WhereTheyStand) {
  EXPECT_THAT(absl::StrJoin(WithFilledGaps(LinesOf(Loads({0, 1, 2}))), "\n"),
              HasSubstr("  %v0 = load float, float* %p0, align 16\n"
                        "  %simt.gap0.p = getelementptr [8 x float], [8 x float]* %a, i64 0, "
                        "i64 3\n"
                        "  %simt.gap0 = load float, float* %simt.gap0.p, align 4\n"));
}

TEST(WithFilledGaps, NotWithoutAlignmentNorInOtherBlocks) {
  const std::string ir = Loads({0, 1, 2});
  EXPECT_EQ(Fillers(absl::StrReplaceAll(ir, {{"align 16", "align 8"}})), 0);
  EXPECT_EQ(Fillers(absl::StrReplaceAll(ir, {{"  %v2", "  br label %next\n\nnext:\n  %v2"}})), 0);
  EXPECT_EQ(Fillers(absl::StrReplaceAll(ir, {{"@simt_thread_idx_x", "@host"}})), 0);
}

TEST(WithFilledGaps, MembersOfOneSizeInAStructure) {
  const auto fillers = [](const std::string& members) {
    std::string ir = absl::StrCat("%struct.S = type { ", members, " }\n",
                                  "define void @f(%struct.S* %a, i64 %i) {\n"
                                  "  %t = tail call i32 @simt_thread_idx_x()\n");
    for (const int e : {0, 2}) {
      absl::StrAppend(&ir, "  %p", e,
                      " = getelementptr inbounds %struct.S, %struct.S* %a, i64 %i, i32 ", e,
                      "\n  %v", e, " = load float, float* %p", e, ", align 16\n");
    }
    return Fillers(ir + "  ret void\n}\n");
  };
  EXPECT_EQ(fillers("float, i32, float, i32"), 2);
  EXPECT_EQ(fillers("float, float, float"), 0);
  EXPECT_EQ(fillers("float, double, float, float"), 0);
}

TEST(WithoutUnusedFillers, OnlyLoadsThatWerePutThereGo) {
  const std::string ir =
      "  %simt.gap0.p = getelementptr float, float* %a, i64 3\n"
      "  %simt.gap0 = load float, float* %simt.gap0.p, align 4\n"
      "  %simt.gap1 = extractelement <4 x float> %8, i32 3\n"
      "  %9 = load float, float* %a, align 4";
  EXPECT_EQ(absl::StrJoin(WithoutUnusedFillers(LinesOf(ir)), "\n"),
            "  %simt.gap0.p = getelementptr float, float* %a, i64 3\n"
            "  %simt.gap1 = extractelement <4 x float> %8, i32 3\n"
            "  %9 = load float, float* %a, align 4");
}

}  // namespace
}  // namespace stridewise::executor
