#include "common/executor/run/wide_phis.h"

#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kLoop[] = R"(define void @f(<4 x float>* %a, <4 x float>* %b) {
  %t = tail call i32 @simt_thread_idx_x()
  br label %loop

loop:
  %v.in = phi <4 x float>* [ %a, %0 ], [ %next, %last ]
  %w = phi i32 [ 0, %0 ], [ 1, %last ]
  %v = load <4 x float>, <4 x float>* %v.in, align 16, !dbg !7
  br label %last

last:
  %next = getelementptr <4 x float>, <4 x float>* %b, i64 1
  br i1 undef, label %loop, label %end

end:
  ret void
}
)";

std::string Changed(const std::string& ir) {
  return absl::StrJoin(WithLoadsBeforePhis(absl::StrSplit(ir, '\n')), "\n");
}

TEST(WithLoadsBeforePhis, LoadsWhereThePointersComeFrom) {
  EXPECT_EQ(Changed(kLoop), R"(define void @f(<4 x float>* %a, <4 x float>* %b) {
  %t = tail call i32 @simt_thread_idx_x()
  %simt.early0.p = bitcast <4 x float>* %a to <4 x float>*
  %simt.early0 = load <4 x float>, <4 x float>* %simt.early0.p, align 16
  %simt.early0.f = freeze <4 x float> %simt.early0
  br label %loop

loop:
  %v = phi <4 x float> [ %simt.early0.f, %0 ], [ %simt.early1.f, %last ]
  %w = phi i32 [ 0, %0 ], [ 1, %last ]

  br label %last

last:
  %next = getelementptr <4 x float>, <4 x float>* %b, i64 1
  %simt.early1.p = bitcast <4 x float>* %next to <4 x float>*
  %simt.early1 = load <4 x float>, <4 x float>* %simt.early1.p, align 16
  %simt.early1.f = freeze <4 x float> %simt.early1
  br i1 undef, label %loop, label %end

end:
  ret void
}
)");
}

// InstCombine takes a cast of the pointers behind the phi, too.
TEST(WithLoadsBeforePhis, OfPointersThatAreCast) {
  const std::string ir =
      absl::StrReplaceAll(kLoop, {{"  %v.in = phi <4 x float>*", "  %v.in = phi float*"},
                                  {"  %v = load <4 x float>, <4 x float>* %v.in",
                                   "  %p = bitcast float* %v.in to <4 x float>*\n"
                                   "  %v = load <4 x float>, <4 x float>* %p"}});
  const std::string changed = Changed(ir);
  EXPECT_THAT(changed, HasSubstr("  %simt.early1.p = bitcast float* %next to <4 x float>*\n"));
  EXPECT_THAT(changed, HasSubstr("  %v = phi <4 x float> [ %simt.early0.f, %0 ], "
                                 "[ %simt.early1.f, %last ]\n"));
  EXPECT_THAT(changed, Not(HasSubstr("%v.in")));
  EXPECT_THAT(changed, Not(HasSubstr("%p ")));
}

TEST(WithLoadsBeforePhis, OthersStay) {
  const auto stays = [](const std::string& from, const std::string& to) {
    const std::string ir = absl::StrReplaceAll(kLoop, {{from, to}});
    ASSERT_NE(ir, kLoop) << from;
    EXPECT_EQ(Changed(ir), ir) << to;
  };
  stays("<4 x float>", "float");         // One element has one phi.
  stays("%v.in", "%v.p");                // A phi of the program's own.
  stays("@simt_thread_idx_x", "@host");  // Host code.
}

}  // namespace
}  // namespace stridewise::executor
