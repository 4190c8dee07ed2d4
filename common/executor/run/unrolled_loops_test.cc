#include "common/executor/run/unrolled_loops.h"

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

// Sums every 32nd element.
constexpr char kSum[] = R"(define void @f(i32* %0, i32* %1, i32 %2) {
  %4 = tail call i32 @simt_thread_idx_x()
  %5 = icmp ult i32 %4, %2
  br i1 %5, label %6, label %14

6:                                                ; preds = %3, %6
  %7 = phi i32 [ %4, %3 ], [ %12, %6 ]
  %8 = phi i32 [ 0, %3 ], [ %11, %6 ]
  %9 = getelementptr inbounds i32, i32* %0, i32 %7
  %10 = load i32, i32* %9, align 4
  %11 = add i32 %10, %8
  %12 = add i32 %7, 32
  %13 = icmp ult i32 %12, %2
  br i1 %13, label %6, label %14, !llvm.loop !1

14:                                               ; preds = %6, %3
  %15 = phi i32 [ 0, %3 ], [ %11, %6 ]
  store i32 %15, i32* %1, align 4
  ret void
}
!1 = distinct !{!1, !2}
!2 = !{!"llvm.loop.mustprogress"}
)";

std::string Unrolled(const std::string& ir) {
  const std::vector<std::string> lines = absl::StrSplit(ir, '\n');
  return absl::StrJoin(WithUnrolledLoops(lines), "\n");
}

int Loads(const std::string& ir) {
  return static_cast<int>(std::vector<std::string>(absl::StrSplit(ir, " = load ")).size()) - 1;
}

TEST(WithUnrolledLoops, ByFourThenTwoThenOne) {
  const std::string unrolled = Unrolled(kSum);
  EXPECT_EQ(Loads(unrolled), 4 + 2 + 1);
  // Of 4 iterations more than three steps are left, of 2 more than one.
  EXPECT_THAT(unrolled, HasSubstr("%simt.loop0.ec.k = icmp ugt i32 %simt.loop0.ec.r, 96"));
  EXPECT_THAT(unrolled, HasSubstr("%simt.loop0.mc.k = icmp ugt i32 %simt.loop0.mc.r, 32"));
  // The loop is entered, and what it leaves comes, by way of new blocks.
  EXPECT_THAT(unrolled, HasSubstr("br i1 %5, label %simt.loop0.e, label %14"));
  EXPECT_THAT(unrolled, HasSubstr("%15 = phi i32 [ 0, %3 ], [ %simt.loop0.xo.11, %simt.loop0.x ]"));
}

TEST(WithUnrolledLoops, OthersStay) {
  const auto stays = [](const std::string& from, const std::string& to) {
    const std::string ir = absl::StrReplaceAll(kSum, {{from, to}});
    ASSERT_NE(ir, kSum) << from;
    EXPECT_EQ(Unrolled(ir), ir) << to;
  };
  stays("llvm.loop.mustprogress", "llvm.loop.unroll.disable");
  stays("!\"llvm.loop.mustprogress\"", "!\"llvm.loop.unroll.count\", i32 1");
  // A step that is not known, a bound that changes, a condition that does not fit the step.
  stays("%12 = add i32 %7, 32", "%12 = add i32 %7, %2");
  stays("icmp ult i32 %12, %2", "icmp ult i32 %12, %10");
  stays("icmp ult i32 %12, %2", "icmp ugt i32 %12, %2");
  // A store to where a load may read, a barrier, a volatile load, host code.
  stays("  %11 = add", "  store i32 %10, i32* %1, align 4\n  %11 = add");
  stays("  %11 = add", "  call void @simt_syncthreads()\n  %11 = add");
  stays("= load i32", "= load volatile i32");
  stays("@simt_thread_idx_x", "@index");
}

TEST(WithUnrolledLoops, BodiesOfLessThanFiftyInstructions) {
  // The body has six: an address of two, a load, the branch and three others.
  const auto with = [](int more) {
    std::string chain, last = "%10";
    for (int i = 0; i < more; ++i) {
      const std::string next = "%x" + std::to_string(i);
      chain += "  " + next + " = xor i32 " + last + ", 5\n";
      last = next;
    }
    return absl::StrReplaceAll(kSum, {{"  %11 = add i32 %10", chain + "  %11 = add i32 " + last}});
  };
  EXPECT_EQ(Loads(Unrolled(with(42))), 7);
  EXPECT_EQ(Loads(Unrolled(with(43))), 1);
}

}  // namespace
}  // namespace stridewise::executor
