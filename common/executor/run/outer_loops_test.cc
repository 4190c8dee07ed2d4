#include "common/executor/run/outer_loops.h"

#include <string>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// for (i = 0; i != 17; ++i) for (j = 0; j != BOUND; ++j) ...
constexpr char kNest[] = R"(define void @_Z4Nestj(i32 %0) {
  %2 = call i32 @simt_thread_idx_x()
  br label %3

3:                                                ; preds = %8, %1
  %4 = phi i32 [ 0, %1 ], [ %9, %8 ]
  br label %5

5:                                                ; preds = %5, %3
  %6 = phi i32 [ 0, %3 ], [ %7, %5 ]
  %7 = add i32 %6, 1
  %c = icmp eq i32 %7, BOUND, !dbg !9
  br i1 %c, label %8, label %5, !llvm.loop !1

8:                                                ; preds = %5
  %9 = add i32 %4, 1
  %10 = icmp eq i32 %9, 17
  br i1 %10, label %11, label %3, !llvm.loop !2

11:                                               ; preds = %8
  ret void
}
!1 = distinct !{!1, !3}
!2 = distinct !{!2, !3}
!3 = !{!"llvm.loop.mustprogress"}
!4 = !{!"llvm.loop.unroll.enable"}
!9 = !DILocation(line: 1, scope: !9))";

std::string Marked(const std::string& bound, const std::string& from = "!9999",
                   const std::string& to = "") {
  const std::string nest = absl::StrReplaceAll(kNest, {{"BOUND", bound}, {from, to}});
  return absl::StrJoin(WithOuterLoopsLeftAlone(absl::StrSplit(nest, '\n')), "\n");
}

TEST(WithOuterLoopsLeftAlone, AroundALoopOfUnknownLength) {
  for (const char* bound : {"%0", "%4"}) {
    const std::string marked = Marked(bound);
    EXPECT_THAT(marked, HasSubstr("!2 = distinct !{!2, !3, !900000100}\n"));
    EXPECT_THAT(marked, HasSubstr("!1 = distinct !{!1, !3}\n"));
    EXPECT_THAT(marked, HasSubstr("\n!900000100 = !{!\"llvm.loop.unroll.disable\"}"));
  }
}

TEST(WithOuterLoopsLeftAlone, NotOfFewIterations) {
  EXPECT_THAT(Marked("%0", "%9, 17", "%9, 16"), Not(HasSubstr("unroll.disable")));
}

TEST(WithOuterLoopsLeftAlone, NotAroundALoopWithoutCounter) {
  EXPECT_THAT(Marked("%0", "%7 = add i32 %6, 1", "%7 = mul i32 %6, 3"),
              Not(HasSubstr("unroll.disable")));
}

TEST(WithOuterLoopsLeftAlone, NotAroundALoopOfKnownLength) {
  EXPECT_THAT(Marked("8"), Not(HasSubstr("unroll.disable")));
}

TEST(WithOuterLoopsLeftAlone, NotWhatTheSourceUnrolls) {
  EXPECT_THAT(Marked("%0", "!{!2, !3}", "!{!2, !3, !4}"), Not(HasSubstr("unroll.disable")));
}

TEST(WithOuterLoopsLeftAlone, NotInHostCode) {
  EXPECT_THAT(Marked("%0", "@simt_thread_idx_x", "@rand"), Not(HasSubstr("unroll.disable")));
}

}  // namespace
}  // namespace stridewise::executor
