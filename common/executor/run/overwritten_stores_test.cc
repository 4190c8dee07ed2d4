#include "common/executor/run/overwritten_stores.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

// s[t] = x; if (...) s[t] = y; and then a condition.
constexpr char kModule[] = R"(@s = internal thread_local global [64 x float] undef, align 16

define void @f(float* %0, float %1, i64 %2) {
  %4 = tail call i32 @simt_thread_idx_x(), !dbg !7
  %5 = getelementptr inbounds [64 x float], [64 x float]* @s, i64 0, i64 %2
  store float FIRST, float* %5, align 4, !dbg !8
  BETWEEN
  br i1 undef, label %6, label %9

6:                                                ; preds = %3
  %7 = load float, float* %0, align 4
  BEFORE
  store float %7, float* %5, align 4, !dbg !9
  BEHIND
  br label %9

9:                                                ; preds = %6, %3
  tail call void @simt_syncthreads()
  LAST

10:                                               ; preds = %9
  store float 1.0, float* %0, align 4
  br label %11

11:                                               ; preds = %10, %9
  ret void
}
)";

struct Case {
  const char* name;
  bool merges;
  const char* first = "%1";
  const char* between = "";
  const char* before = "";
  const char* behind = "";
  const char* last = "br i1 undef, label %10, label %11";
};

std::string Merged(const Case& c) {
  std::string module = absl::StrReplaceAll(kModule, {{"FIRST", c.first},
                                                     {"BETWEEN", c.between},
                                                     {"BEFORE", c.before},
                                                     {"BEHIND", c.behind},
                                                     {"LAST", c.last}});
  module = absl::StrReplaceAll(module, {{"  \n", ""}});
  if (!absl::StrContains(module, "label %10,")) {
    module = absl::StrReplaceAll(module, {{"%10, %9", "%10"}});
  }
  return absl::StrJoin(WithOverwrittenStoresMerged(absl::StrSplit(module, '\n')), "\n");
}

TEST(OverwrittenStoresTest, MergesWherePtxasDoes) {
  const Case cases[] = {
      {"a load", true},
      {"a global store in the branch", true, "%1", "", "store float 2.0, float* %0, align 4"},
      {"a global store behind it", true, "%1", "", "", "store float 2.0, float* %0, align 4"},
      {"a store between", false, "%1", "store float 2.0, float* %0, align 4"},
      {"the grid's extent between", true, "%1", "%8 = tail call i32 @simt_grid_dim_x()"},
      {"a barrier between", false, "%1", "tail call void @simt_syncthreads()"},
      {"a barrier in the branch", false, "%1", "", "tail call void @simt_syncthreads()"},
      {"a load from shared memory", false, "%1", "",
       "%8 = load float, float* getelementptr inbounds ([64 x float], [64 x float]* @s, i64 0, i64 "
       "3), align 4"},
      {"a division", false, "%1", "", "%8 = fdiv float %7, %1"},
      {"a loop", false, "%1", "", "", "br i1 undef, label %6, label %8\n\n8:"},
      {"a store of two", false, "%simt.overwritten7"},
      {"no condition behind", false, "%1", "", "", "", "br label %10"},
      {"no condition behind a zero", true, "0.000000e+00", "", "", "", "br label %10"},
  };
  for (const Case& c : cases) {
    const std::string merged = Merged(c);
    EXPECT_EQ(absl::StrContains(merged, "%simt.overwritten0 = phi float [ "), c.merges) << c.name;
    EXPECT_EQ(absl::StrContains(merged, "store float %simt.overwritten0, float* %v5, align 4"),
              c.merges)
        << c.name << merged;
    EXPECT_NE(absl::StrContains(merged, "!dbg !9"), c.merges) << c.name;
  }
}

TEST(OverwrittenStoresTest, ChoosesByTheWay) {
  const std::string merged = Merged({"", true});
  EXPECT_TRUE(absl::StrContains(merged, "[ %v7, %v6 ]"));
  // Frozen, so that LLVM does not make one load of two.
  EXPECT_TRUE(absl::StrContains(merged, "%simt.overwritten0.frozen = freeze float %v1"));
  EXPECT_TRUE(absl::StrContains(merged, "[ %simt.overwritten0.frozen, %v3 ]"));
}

}  // namespace
}  // namespace stridewise::executor
