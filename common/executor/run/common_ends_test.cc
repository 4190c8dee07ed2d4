#include "common/executor/run/common_ends.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// A branch with these two sides.
std::string Branch(const std::string& one, const std::string& other) {
  return absl::StrCat(R"(define void @f(float* %0, float* %1, i64 %2) {
  %4 = tail call i32 @simt_thread_idx_x(), !dbg !7
  br i1 undef, label %5, label %9

5:                                                ; preds = %3
)",
                      one, R"(  br label %13

9:                                                ; preds = %3
)",
                      other, R"(  br label %13

13:                                               ; preds = %9, %5
  ret void
}
)");
}

std::string Moved(const std::string& one, const std::string& other) {
  return absl::StrJoin(WithCommonEndsMoved(absl::StrSplit(Branch(one, other), '\n')), "\n");
}

TEST(WithCommonEndsMoved, ChoosesIndicesAndFactors) {
  EXPECT_EQ(Moved(R"(  %6 = getelementptr inbounds float, float* %0, i64 %2
  %7 = load float, float* %6, align 4, !dbg !8
  %8 = fmul float %7, 2.0
  store float %8, float* %1, align 4
)",
                  R"(  %10 = getelementptr inbounds float, float* %0, i64 5
  %11 = load float, float* %10, align 4, !dbg !9
  %12 = fmul float %11, 3.0
  store float %12, float* %1, align 4
)"),
            R"(define void @f(float* %v0, float* %v1, i64 %v2) {
v3:
  %v4 = tail call i32 @simt_thread_idx_x(), !dbg !7
  br i1 undef, label %v5, label %v9

v5:                                                ; preds = %v3
  br label %v13

v9:                                                ; preds = %v3
  br label %v13

v13:                                               ; preds = %v9, %v5
  %simt.end0 = phi float [ 2.0, %v5 ], [ 3.0, %v9 ]
  %simt.end1 = phi i64 [ %v2, %v5 ], [ 5, %v9 ]
  %simt.end2 = getelementptr float, float* %v0, i64 %simt.end1
  %simt.end3 = load float, float* %simt.end2, align 4, !dbg !8
  %simt.end4 = fmul float %simt.end3, %simt.end0
  store float %simt.end4, float* %v1, align 4
  ret void
}
)");
}

// Each case: the two sides, which stay as they are.
TEST(WithCommonEndsMoved, LeavesTheRest) {
  const struct {
    std::string one, other;
  } kCases[] = {
      // Of what only one side may load.
      {"  %6 = load float, float* %0, align 4\n  store float %6, float* %1, align 4\n",
       "  %10 = load float, float* undef, align 4\n  store float 2.0, float* %1, align 4\n"},
      // The source's else has a zero.
      {"  store float 5.0, float* %0, align 4\n  store i32 1, i32* @x, align 4\n",
       "  store float 6.0, float* %0, align 4\n  store i32 0, i32* @x, align 4\n"},
      // Of another array.
      {"  store float 1.0, float* %0, align 4\n", "  store float 1.0, float* %1, align 4\n"},
      // Of another width, and order of the same.
      {"  store float 1.0, float* %1, align 4\n", "  store float 1.0, float* %1, align 8\n"},
      {"  store volatile float 1.0, float* %1, align 4\n",
       "  store float 1.0, float* %1, align 4\n"},
      {"  tail call void @simt_syncthreads()\n", "  tail call void @simt_syncthreads()\n"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Moved(c.one, c.other), Branch(c.one, c.other));
  }
}

TEST(WithCommonEndsMoved, MovesOneStoreOfTwoConstants) {
  EXPECT_THAT(Moved("  store float 1.0, float* %1, align 4\n",
                    "  store float 0.000000e+00, float* %1, align 4\n"),
              HasSubstr("phi float [ 1.0, %v5 ], [ 0.000000e+00, %v9 ]\n  store float %simt.end0"));
}

TEST(WithCommonEndsMoved, MovesOneStoreOfWhatIsKnownBeforeTheBranch) {
  EXPECT_THAT(Moved("  store i64 %2, i64* @x, align 8\n", "  store i64 0, i64* @x, align 8\n"),
              HasSubstr("phi i64 [ %v2, %v5 ], [ 0, %v9 ]\n  store i64 %simt.end0"));
}

// Both sides begin with the same load: it comes before the branch, and the store behind it.
TEST(WithCommonEndsMoved, MovesOneStoreWhereBothLoadTheSame) {
  const std::string load = "  %6 = load float, float* %0, align 4\n";
  const std::string other_load = "  %10 = load float, float* %0, align 4\n";
  const std::string more = "  %7 = load float, float* undef, align 4\n";
  const std::string sum = "  %8 = fadd float %6, %7\n  store float %8, float* %1, align 4\n";
  const std::string store = "  store float %10, float* %1, align 4\n";
  const std::string moved = Moved(load + more + sum, other_load + store);
  EXPECT_THAT(moved, HasSubstr("  %v6 = load float, float* %v0, align 4\n  br i1 undef"));
  EXPECT_THAT(moved, HasSubstr("phi float [ %v8, %v5 ], [ %v6, %v9 ]\n  store float %simt.end0"));
  // Another load comes first in one of them.
  EXPECT_THAT(Moved("  %6 = load float, float* undef, align 4\n  %7 = load float, float* %0, align "
                    "4\n" +
                        sum,
                    other_load + store),
              Not(HasSubstr("%simt.end")));
  // To other places.
  EXPECT_THAT(Moved(load + more + sum, other_load + "  store float %10, float* %0, align 4\n"),
              Not(HasSubstr("%simt.end")));
}

// An operation that would need two phis stays.
TEST(WithCommonEndsMoved, LeavesAnOperationOfTwoOtherValues) {
  const std::string one =
      "  %6 = load float, float* %0, align 4\n  %7 = fmul float %6, 2.0\n"
      "  store float %7, float* %1, align 4\n";
  const std::string other =
      "  %10 = load float, float* undef, align 4\n  %11 = load float, float* null, align 4\n"
      "  %12 = fmul float %10, %11\n  store float %12, float* %1, align 4\n";
  EXPECT_EQ(Moved(one, other), Branch(one, other));
}

// Which side has a loop, and what is compared.
TEST(WithCommonEndsMoved, LeavesAnElseWithALoop) {
  const std::string simple = R"(
5:                                                ; preds = %3
  store float 1.0, float* %1, align 4
  br label %13
)";
  const std::string loop = R"(
9:                                                ; preds = %9, %3
  br i1 undef, label %11, label %9

11:                                               ; preds = %9
  store float 1.0, float* %1, align 4
  br label %13
)";
  const auto moves = [&](const std::string& branch) {
    const std::string function = absl::StrCat(
        "define void @f(float* %0, float* %1, i64 %2) {\n",
        "  %4 = tail call i32 @simt_thread_idx_x(), !dbg !7\n", branch, simple, loop,
        "\n13:                                               ; preds = %11, %5\n  ret void\n}\n");
    return absl::StrJoin(WithCommonEndsMoved(absl::StrSplit(function, '\n')), "\n") != function;
  };
  EXPECT_FALSE(moves("  br i1 undef, label %5, label %9\n"));
  EXPECT_TRUE(moves("  br i1 undef, label %9, label %5\n"));
  EXPECT_TRUE(moves("  %c = icmp eq i32 %4, 3\n  br i1 %c, label %5, label %9\n"));
  EXPECT_FALSE(moves("  %c = icmp slt i32 %4, 3\n  br i1 %c, label %5, label %9\n"));
}

// `if (...) *p = first; else if (...) *p = second; else *p = third;`, where %y is computed in the
// last block and %x before.
TEST(WithCommonEndsMoved, WhatTheLastTwoOfThreeStoreDecides) {
  const auto moves = [](const std::string& first, const std::string& second,
                        const std::string& third) {
    const std::string function = absl::StrCat(R"(define void @f(float* %p, float %x, i1 %a, i1 %b) {
0:
  %t = tail call i32 @simt_thread_idx_x(), !dbg !7
  br i1 %a, label %1, label %2

1:                                                ; preds = %0
  store float )",
                                              first, R"(, float* %p, align 4
  br label %5

2:                                                ; preds = %0
  br i1 %b, label %3, label %4

3:                                                ; preds = %2
  store float )",
                                              second, R"(, float* %p, align 4
  br label %5

4:                                                ; preds = %2
  %y = fmul float %x, %x
  store float )",
                                              third, R"(, float* %p, align 4
  br label %5

5:                                                ; preds = %4, %3, %1
  ret void
}
)");
    return absl::StrJoin(WithCommonEndsMoved(absl::StrSplit(function, '\n')), "\n") != function;
  };
  const std::string zero = "0.000000e+00", one = "1.0";
  EXPECT_FALSE(moves(zero, one, "%x"));
  EXPECT_FALSE(moves(one, "%x", zero));
  EXPECT_FALSE(moves(one, zero, "%y"));
  EXPECT_TRUE(moves(zero, one, "%y"));
  EXPECT_TRUE(moves(zero, "%x", "%x"));
}

// Also of what only one side may load, where an address before the branch has the same index.
TEST(WithCommonEndsMoved, MovesOneStoreOfAnIndexThatIsUsedBefore) {
  const auto moves = [](const std::string& before) {
    const std::string function = absl::StrCat(
        R"(define void @f(float* %p, float* %q, i64 %i, i1 %a) {
0:
  %t = tail call i32 @simt_thread_idx_x(), !dbg !7
)",
        before, R"(  br i1 %a, label %1, label %2

1:                                                ; preds = %0
  %v = load float, float* %q, align 4
  %g = getelementptr inbounds float, float* %p, i64 %i
  store float %v, float* %g, align 4
  br label %3

2:                                                ; preds = %0
  %h = getelementptr inbounds float, float* %p, i64 %i
  store float 2.0, float* %h, align 4
  br label %3

3:                                                ; preds = %2, %1
  ret void
}
)");
    return absl::StrContains(
        absl::StrJoin(WithCommonEndsMoved(absl::StrSplit(function, '\n')), "\n"),
        "store float %simt.end");
  };
  EXPECT_TRUE(moves("  %f = getelementptr inbounds float, float* %q, i64 %i\n"));
  EXPECT_FALSE(moves("  %f = getelementptr inbounds float, float* %q, i64 7\n"));
  EXPECT_FALSE(moves(""));
}

TEST(WithCommonEndsMoved, MovesOneStoreWithoutAPhi) {
  const std::string store = "  store float 1.0, float* %1, align 4\n";
  const std::string moved = Moved("  store float 3.0, float* %0, align 4\n" + store,
                                  "  tail call void @simt_syncthreads()\n" + store);
  EXPECT_THAT(moved, HasSubstr("%v9, %v5\n  store float 1.0, float* %v1, align 4\n  ret void"));
  EXPECT_THAT(moved, HasSubstr("%v0, align 4\n  br label"));
}

}  // namespace
}  // namespace stridewise::executor
