#include "common/executor/run/strided_loops.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

constexpr char kModule[] = R"(define void @f(i32 %n, i32 %m) {
entry:
  %t = tail call i32 @simt_thread_idx_x()
  br label %loop

loop:                                             ; preds = %loop, %entry
  %i = phi i32 [ %next, %loop ], [ %t, %entry ]
  %next = add nsw i32 %i, %m
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end, !llvm.loop !7

end:                                              ; preds = %loop
  ret void
}
!7 = distinct !{!7, !8}
!70 = distinct !{!70, !8}
)";

bool Ends(const std::vector<std::pair<std::string, std::string>>& parts) {
  const std::string module = absl::StrReplaceAll(kModule, parts);
  const std::string promised =
      absl::StrJoin(WithStridedLoopsEnding(absl::StrSplit(module, '\n')), "\n");
  const bool ends = absl::StrContains(promised, "!7 = distinct !{!7, !8, !910000000}");
  EXPECT_EQ(promised == module, !ends);
  EXPECT_EQ(absl::StrContains(promised, "= !{!\"llvm.loop.mustprogress\"}"), ends);
  EXPECT_TRUE(absl::StrContains(promised, "!70 = distinct !{!70, !8}"));
  return ends;
}

TEST(WithStridedLoopsEnding, LoopsOfAStrideThatIsNoConstant) {
  EXPECT_TRUE(Ends({}));
  EXPECT_TRUE(Ends({{"%i, %m", "%m, %i"}, {"slt i32 %next, %n", "sgt i32 %n, %next"}}));
  EXPECT_FALSE(Ends({{"%i, %m", "%i, 32"}}));
  EXPECT_FALSE(Ends({{"add nsw", "add"}}));
  EXPECT_FALSE(Ends({{"slt", "ult"}}));
  EXPECT_FALSE(Ends({{"%i, %m", "%t, %m"}}));                    // Not a counter.
  EXPECT_FALSE(Ends({{"@simt_thread_idx_x()", "@of_host()"}}));  // Not of a kernel.
}

}  // namespace
}  // namespace stridewise::executor
