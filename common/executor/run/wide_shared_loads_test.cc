#include "common/executor/run/wide_shared_loads.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

using ::testing::HasSubstr;

std::string Widened(const std::string& ir) {
  const std::vector<std::string> lines = absl::StrSplit(ir, '\n');
  return absl::StrJoin(WithWideSharedLoads(lines), "\n");
}

int Count(const std::string& ir, const std::string& part) {
  return static_cast<int>(std::vector<std::string>(absl::StrSplit(ir, part)).size()) - 1;
}

// Loads elements of `tile` behind 4 * thread, with `between` before the last.
std::string Loads(const std::vector<int>& elements, const std::string& between = "") {
  std::string ir = R"(@tile = internal thread_local global [256 x float] undef, align 16
@table = internal global [256 x float] undef, align 16
define void @f(float* %out) {
  %t = tail call i32 @simt_thread_idx_x()
  %x = shl i32 %t, 2
)";
  for (size_t i = 0; i < elements.size(); ++i) {
    const int e = elements[i];
    if (i + 1 == elements.size()) ir += between;
    absl::StrAppend(&ir, "  %o", e, " = or i32 %x, ", e, "\n", "  %z", e, " = zext i32 %o", e,
                    " to i64\n", "  %p", e,
                    " = getelementptr inbounds [256 x float], [256 x float]* @tile, i64 0, i64 %z",
                    e, "\n", "  %v", e, " = load float, float* %p", e, ", align 4\n");
  }
  return ir + "  ret void\n}\n";
}

TEST(WithWideSharedLoads, FourNeighboursAreOneLoad) {
  const std::string wide = Widened(Loads({0, 1, 2, 3}));
  EXPECT_EQ(Count(wide, " = load "), 1);
  EXPECT_THAT(wide, HasSubstr("%simt.wide0.v = load <4 x float>, <4 x float>* %simt.wide0.q, "
                              "align 16"));
  for (int e = 0; e < 4; ++e) {
    EXPECT_THAT(wide, HasSubstr(absl::StrCat("  %v", e,
                                             " = extractelement <4 x float> "
                                             "%simt.wide0.v, i32 ",
                                             e)));
  }
}

TEST(WithWideSharedLoads, WhichElementsAreLoadedTogether) {
  const auto loads = [](const std::vector<int>& elements) {
    return Count(Widened(Loads(elements)), " = load ");
  };
  EXPECT_EQ(loads({0, 1, 3}), 1);  // Three of 16 bytes.
  EXPECT_EQ(loads({3, 2, 0}), 1);  // In any order.
  EXPECT_EQ(loads({0, 1}), 1);     // Eight aligned bytes.
  EXPECT_EQ(loads({2, 3}), 1);
  EXPECT_EQ(loads({1, 2}), 2);  // Eight that are not aligned.
  EXPECT_EQ(loads({0, 3}), 2);
  EXPECT_EQ(loads({2}), 1);
  EXPECT_EQ(loads({0, 1, 2, 3, 4, 5, 6, 7}), 2);
  EXPECT_EQ(loads({3, 4, 5}), 2);  // The first belongs to other 16 bytes.
}

// The load begins where the 16 bytes do, wherever the first access is.
TEST(WithWideSharedLoads, BeginsAtTheSegment) {
  EXPECT_THAT(Widened(Loads({3, 1, 2})), HasSubstr("i8* %simt.wide0.b, i64 -12"));
  EXPECT_THAT(Widened(Loads({3, 2})), HasSubstr("i8* %simt.wide0.b, i64 -4"));
}

TEST(WithWideSharedLoads, NothingMayChangeTheMemoryBetween) {
  const auto loads = [](const std::string& between) {
    return Count(Widened(Loads({0, 1}, between)), " = load ");
  };
  EXPECT_EQ(loads("  store float 0.0, float* %out, align 4\n"), 1);
  EXPECT_EQ(loads("  store float 0.0, float* %p0, align 4\n"), 2);
  EXPECT_EQ(loads("  call void @simt_syncthreads()\n"), 2);
  EXPECT_EQ(loads("  %a = atomicrmw add i32* %c, i32 1 seq_cst\n"), 2);
  EXPECT_EQ(loads("  br label %next\n\nnext:\n"), 2);
}

TEST(WithWideSharedLoads, OthersStay) {
  const std::string four = Loads({0, 1, 2, 3});
  const auto stays = [&](const std::string& from, const std::string& to) {
    const std::string ir = absl::StrReplaceAll(four, {{from, to}});
    ASSERT_NE(ir, four) << from;
    EXPECT_EQ(Widened(ir), ir) << to;
  };
  stays("* @tile", "* @table");             // Not in shared memory.
  stays("shl i32 %t, 2", "shl i32 %t, 1");  // Of an alignment that is not known.
  stays("= load float", "= load volatile float");
  stays("@simt_thread_idx_x", "@index");  // Host code.
}

// Of bodies of seven floats the next one after a multiple of four begins at the last of 16 bytes.
TEST(WithWideSharedLoads, MembersOfStructures) {
  const auto loads = [](int body, const std::vector<int>& members, const std::string& last) {
    std::string ir = absl::StrCat(R"(%struct.Three = type { float, float, float }
%struct.Body = type { %struct.Three, %struct.Three, )",
                                  last, R"( }
@tile = internal thread_local global [256 x %struct.Body] undef, align 16
define void @f() {
  %t = tail call i32 @simt_thread_idx_x()
  %x = shl i32 %t, 2
  %o = or i32 %x, )",
                                  body, "\n  %z = zext i32 %o to i64\n");
    for (const int member : members) {
      absl::StrAppend(&ir, "  %p", member,
                      " = getelementptr inbounds [256 x %struct.Body], [256 x %struct.Body]* "
                      "@tile, i64 0, i64 %z, i32 0, i32 ",
                      member, "\n  %v", member, " = load float, float* %p", member, ", align 4\n");
    }
    return Count(Widened(ir + "  ret void\n}\n"), " = load ");
  };
  EXPECT_EQ(loads(0, {0, 1, 2}, "float"), 1);
  EXPECT_EQ(loads(1, {0, 1, 2}, "float"), 2);  // At 28, 32 and 36.
  EXPECT_EQ(loads(2, {0, 1, 2}, "float"), 2);  // At 56, 60 and 64.
  EXPECT_EQ(loads(3, {0, 1, 2}, "float"), 1);  // At 84, 88 and 92: with 80.
  EXPECT_EQ(loads(1, {0, 1, 2}, "[2 x i32]"), 1);
  EXPECT_EQ(loads(0, {0, 1, 2}, "double"), 3);  // Not of nothing but 4 bytes.
}

// A counter that begins at 1 and grows by 4 stands at the second of four elements.
TEST(WithWideSharedLoads, AlignmentOfACounter) {
  const auto loads = [](int first, int step) {
    std::string ir = absl::StrCat(
        "@tile = internal thread_local global [256 x float] undef, align 16\n"
        "define void @f() {\n  %t = tail call i32 @simt_thread_idx_x()\n  br label %loop\n\n"
        "loop:\n  %i = phi i64 [ ",
        first, ", %0 ], [ %n, %loop ]\n");
    for (int e = 0; e < 3; ++e) {
      absl::StrAppend(
          &ir, "  %o", e, " = add nuw i64 %i, ", e, "\n  %p", e,
          " = getelementptr inbounds [256 x float], [256 x float]* @tile, i64 0, i64 %o", e,
          "\n  %v", e, " = load float, float* %p", e, ", align 4\n");
    }
    absl::StrAppend(&ir, "  %n = add nuw i64 %i, ", step,
                    "\n  %c = icmp ult i64 %n, 200\n  br i1 %c, label %loop, label %end\n\n"
                    "end:\n  ret void\n}\n");
    return Count(Widened(ir), " = load ");
  };
  EXPECT_EQ(loads(1, 4), 1);  // 1, 2, 3 of four.
  EXPECT_EQ(loads(0, 8), 1);  // 0, 1, 2.
  EXPECT_EQ(loads(2, 4), 2);  // 2 and 3, and the first of the next four.
  EXPECT_EQ(loads(1, 3), 3);  // Nothing is known.
}

// The last of several buffers, which lies where a loop has ended.
TEST(WithWideSharedLoads, AlignmentOfAPointerThatIsIndexed) {
  const auto loads = [](int first, int size) {
    std::string ir = absl::StrCat(
        "@tile = internal thread_local global [256 x float] undef, align 16\n"
        "define void @f(i1 %more, i64 %n) {\n  %t = tail call i32 @simt_thread_idx_x()\n"
        "  %x = shl i32 %t, 2\n  %m = mul i64 %n, ",
        size, "\n  br i1 %more, label %loop, label %end\n\nloop:\n  br label %end\n\nend:\n",
        "  %b = phi i64 [ ", first, ", %0 ], [ %m, %loop ]\n",
        "  %q = getelementptr inbounds [256 x float], [256 x float]* @tile, i64 0, i64 %b\n");
    for (int e = 0; e < 4; ++e) {
      absl::StrAppend(&ir, "  %o", e, " = or i32 %x, ", e, "\n  %z", e, " = zext i32 %o", e,
                      " to i64\n  %p", e, " = getelementptr inbounds float, float* %q, i64 %z", e,
                      "\n  %v", e, " = load float, float* %p", e, ", align 4\n");
    }
    return Count(Widened(ir + "  ret void\n}\n"), " = load ");
  };
  EXPECT_EQ(loads(0, 128), 1);
  EXPECT_EQ(loads(0, 2), 4);  // Nothing is known.
  EXPECT_EQ(loads(1, 128), 4);
}

// Of dynamic shared memory nothing but an aligned load tells where 16 bytes begin.
TEST(WithWideSharedLoads, AnAlignedLoadTellsOfItsNeighbours) {
  const std::string known = R"(@tile = external thread_local global [0 x float], align 4
define void @f(i64 %0) {
  %t = tail call i32 @simt_thread_idx_x()
  %p = getelementptr inbounds [0 x float], [0 x float]* @tile, i64 0, i64 %0
  %q = bitcast float* %p to <4 x float>*
  %a = load <4 x float>, <4 x float>* %q, align 16
  %p4 = getelementptr inbounds float, float* %p, i64 4
  %v4 = load float, float* %p4, align 4
  %p5 = getelementptr inbounds float, float* %p, i64 5
  %v5 = load float, float* %p5, align 4
  ret void
}
)";
  EXPECT_EQ(Count(Widened(known), " = load "), 2);
  const std::string unknown = absl::StrReplaceAll(known, {{"align 16\n", "align 4\n"}});
  EXPECT_EQ(Count(Widened(unknown), " = load "), 3);
}

}  // namespace
}  // namespace stridewise::executor
