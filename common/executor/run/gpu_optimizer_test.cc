#include "common/executor/run/gpu_optimizer.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kTarget[] = "target triple = \"x86_64-pc-linux-gnu\"\n";
constexpr char kDynamic[] = "@tile = external thread_local global [0 x float], align 4\n";
constexpr char kOfTemplate[] =
    "@_ZZ1fILi32EEvPfE2As = linkonce_odr thread_local global [32 x float] zeroinitializer, comdat, "
    "align 4, !dbg !54\n";

TEST(WithPromises, SharedVariablesAreAlignedAndOfThisFile) {
  EXPECT_EQ(
      WithPromises(kOfTemplate),
      "@_ZZ1fILi32EEvPfE2As = internal thread_local global [32 x float] zeroinitializer, align "
      "16, !dbg !54\n\n");
}

TEST(WithPromises, BytesAndHalvesAreNotAligned) {
  EXPECT_THAT(WithPromises("@t = internal thread_local global [64 x i8] undef, align 16\n"),
              HasSubstr("undef, align 1\n"));
  EXPECT_THAT(WithPromises("@t = internal thread_local global [64 x i16] undef, align 16\n"),
              HasSubstr("undef, align 2\n"));
  EXPECT_THAT(WithPromises("@t = internal thread_local global [64 x i8] undef, align 128\n"),
              HasSubstr("undef, align 128\n"));
}

TEST(WithPromises, OtherVariablesStay) {
  const std::string table = "@table = global [32 x float] zeroinitializer, align 4\n";
  EXPECT_EQ(WithPromises(table), table + "\n");
  const std::string of_library =
      "@_ZSt1x = linkonce_odr thread_local global i32 0, comdat, align 4\n";
  EXPECT_EQ(WithPromises(of_library), of_library + "\n");
}

TEST(WithPromises, DynamicSharedMemoryIsDefinedUntilItIsOptimized) {
  const std::string promised = WithPromises(absl::StrCat(kTarget, kDynamic));
  EXPECT_THAT(promised, HasSubstr("@tile = internal thread_local global [1048576 x float] undef, "
                                  "align 16\n"));
  const std::string optimized =
      "target triple = \"nvptx64-nvidia-cuda\"\n"
      "@tile = internal thread_local unnamed_addr global [1048576 x float] undef, align 16\n"
      "@other = internal thread_local global [2 x float] undef, align 16\n";
  EXPECT_EQ(WithoutPromises(optimized, absl::StrCat(kTarget, kDynamic)),
            absl::StrCat(kTarget,
                         "@tile = external thread_local unnamed_addr global [1048576 x float], "
                         "align 16\n"
                         "@other = internal thread_local global [2 x float] undef, align 16\n"));
}

TEST(WithPromises, FlexibleMembersOfStructuresStay) {
  const std::string type = "%struct.Node = type { i32, [0 x float] }\n";
  EXPECT_EQ(WithPromises(type), type + "\n");
}

TEST(WithPromises, IndicesHaveTheRangesOfCuda) {
  const std::string promised = WithPromises(
      "  %1 = call i32 @simt_thread_idx_x() #5, !dbg !7\n"
      "  %2 = call i32 @simt_half_of() #5, !dbg !7\n");
  EXPECT_THAT(promised,
              HasSubstr("  %1 = call i32 @simt_thread_idx_x() #5, !dbg !7, !range !900000000\n"));
  EXPECT_THAT(promised, HasSubstr("  %2 = call i32 @simt_half_of() #5, !dbg !7\n"));
  EXPECT_THAT(promised, HasSubstr("\n!900000000 = !{i32 0, i32 1024}"));
  EXPECT_THAT(WithPromises("declare i32 @simt_thread_idx_x() #5\n"), Not(HasSubstr("!range")));
}

TEST(WithPromises, MathHasNoSideEffects) {
  EXPECT_EQ(WithPromises("declare float @expf(float noundef) local_unnamed_addr #4\n"),
            "declare float @expf(float noundef) readnone nounwind willreturn\n\n");
  for (const char* other :
       {"declare void @sincosf(float, float*, float*) #4\n", "declare float @explosion(float) #4\n",
        "declare i32 @fflush(i8*) #4\n"}) {
    EXPECT_EQ(WithPromises(other), absl::StrCat(other, "\n"));
  }
}

TEST(WithPromises, SharedVariablesNeedNoInitialisation) {
  EXPECT_THAT(WithPromises("  br i1 icmp ne (void ()* @_ZTH4tile, void ()* null), label %1, label "
                           "%2\n"),
              HasSubstr("  br i1 false, label %1, label %2\n"));
  EXPECT_THAT(WithPromises("define weak_odr hidden [0 x float]* @_ZTW4tile() #7 comdat {\n"),
              HasSubstr("@_ZTW4tile() alwaysinline sanitize_thread #7 comdat {\n"));
}

}  // namespace
}  // namespace stridewise::executor
