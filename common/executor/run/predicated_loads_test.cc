#include "common/executor/run/predicated_loads.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

// if (...) v = b[0] + a[i]; else v = a[i] * 2;
constexpr char kModule[] = R"(@s = internal thread_local global [64 x float] undef, align 16

define void @f(float* %a, float* %b, i32 %i, float %x) {
entry:
  %t = tail call i32 @simt_thread_idx_x(), !dbg !7
  %p = icmp ult i32 %t, %i
  br i1 %p, label %then, label %else

then:                                             ; preds = %entry
  FIRST
  %l = load float, float* %b, align 4, !dbg !8
  %k = zext i32 INDEX to i64
  %g = getelementptr inbounds float, float* %a, i64 %k
  %m = load float, float* POINTER, align 4, !dbg !9
  %n = fadd float %l, %m
  BEHIND
  br label %end

else:                                             ; preds = %entry
  %q = zext i32 %t to i64
  %h = getelementptr inbounds float, float* %a, i64 %q
  %r = load float, float* POINTEE, align 4, !dbg !10
  %u = fmul float %r, 2.0
  ELSE
  br label %end

end:                                              ; preds = %then, %else
  %v = phi float [ %n, %then ], [ %u, %else ]
  store float %v, float* %b, align 4
  ret void
}
)";

std::string Merged(const std::vector<std::pair<std::string, std::string>>& parts) {
  std::string module = absl::StrReplaceAll(kModule, parts);
  module = absl::StrReplaceAll(module, {{"INDEX", "%t"},
                                        {"POINTER", "%g"},
                                        {"POINTEE", "%h"},
                                        {"  FIRST\n", ""},
                                        {"  BEHIND\n", ""},
                                        {"  ELSE\n", ""}});
  return absl::StrJoin(WithPredicatedLoadsMerged(absl::StrSplit(module, '\n')), "\n");
}

TEST(PredicatedLoadsTest, OneLoadBeforeTheBranch) {
  const std::string merged = Merged({});
  EXPECT_TRUE(absl::StrContains(merged,
                                "  %k = zext i32 %t to i64\n"
                                "  %g = getelementptr inbounds float, float* %a, i64 %k\n"
                                "  %m = load float, float* %g, align 4, !dbg !9\n"
                                "  br i1 %p, label %then, label %else\n"))
      << merged;
  EXPECT_TRUE(absl::StrContains(merged, "%u = fmul float %m, 2.0")) << merged;
  EXPECT_FALSE(absl::StrContains(merged, "%r = load")) << merged;
}

TEST(PredicatedLoadsTest, MergesWherePtxasDoes) {
  const auto additions = [](int count) {
    const std::string one = "%y = fadd float %x, 1.0";
    return absl::StrJoin(std::vector<std::string>(count, one), "\n  ");
  };
  const std::string shared =
      "getelementptr inbounds ([64 x float], [64 x float]* @s, i64 0, i64 3)";
  const struct {
    const char* name;
    bool merges;
    std::vector<std::pair<std::string, std::string>> parts;
  } cases[] = {
      {"as they are", true, {}},
      {"another index", false, {{"INDEX", "%i"}}},
      {"the same pointer", true, {{"POINTER", "%a"}, {"POINTEE", "%a"}}},
      {"of shared memory", false, {{"POINTER", shared}, {"POINTEE", shared}}},
      {"a store before", false, {{"FIRST", "store float %x, float* %b, align 4"}}},
      {"a store behind", true, {{"BEHIND", "store float %x, float* %b, align 4"}}},
      {"a store in each",
       false,
       {{"BEHIND", "store float %x, float* %b, align 4"},
        {"ELSE", "store float %x, float* %b, align 4"}}},
      {"a division", false, {{"ELSE", "%y = fdiv float %u, %x"}}},
      {"a barrier", false, {{"ELSE", "tail call void @simt_syncthreads()"}}},
      {"twenty instructions", true, {{"BEHIND", additions(17)}}},
      {"more", false, {{"BEHIND", additions(18)}}},
      {"no end in common",
       false,
       {{"else:   ", "end2:\n  br label %end\n\nelse:   "},
        {"ELSE\n  br label %end", "br label %end2"}}},
  };
  for (const auto& c : cases) {
    const std::string merged = Merged(c.parts);
    EXPECT_EQ(!absl::StrContains(merged, "%r = load float"), c.merges) << c.name << merged;
  }
}

}  // namespace
}  // namespace stridewise::executor
