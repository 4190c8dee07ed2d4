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

TEST(WithPromises, TablesOfFunctionsAreInDeviceMemory) {
  EXPECT_EQ(WithPromises("@_ZZ1fiE1t = linkonce_odr constant [2 x i32] [i32 3, i32 4], comdat, "
                         "align 4\n"),
            "@_ZZ1fiE1t = internal constant [2 x i32] [i32 3, i32 4], section "
            "\".simt_device._ZZ1fiE1t\", align 4\n\n");
  // What a local array begins with, and names.
  for (const char* line : {"@__const.f.t = private unnamed_addr constant [2 x i32] [i32 3, i32 4]",
                           "@_ZL1t = internal constant [2 x i8*] [i8* @a, i8* @b], align 16"}) {
    EXPECT_EQ(WithPromises(line), std::string(line) + "\n");
  }
}

// nvcc loads both elements of a row apart, though it is aligned to 8 bytes on the host.
TEST(WithPromises, AddressesOfDeviceVariablesAreAsAlignedAsTheirElements) {
  const std::string result = WithPromises(
      R"(@_ZL1t = internal constant [4 x [2 x i32]] [[2 x i32] [i32 1, i32 2]], section ".simt_device.1.1", align 256
define void @f(i64 %0) {
  %2 = getelementptr inbounds [4 x [2 x i32]], [4 x [2 x i32]]* @_ZL1t, i64 0, i64 %0
  %3 = getelementptr inbounds [2 x i32], [2 x i32]* %2, i64 0, i64 0
  %4 = load i32, i32* %3, align 8
}
define void @g(i32* %3) {
  %4 = load i32, i32* %3, align 8
})");
  EXPECT_THAT(result, HasSubstr("load i32, i32* %3, align 4\n}\ndefine void @g"));
  EXPECT_THAT(result, HasSubstr("@g(i32* %3) {\n  %4 = load i32, i32* %3, align 8"));
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

TEST(WithoutPromises, VectorsOfThreeAreSplit) {
  EXPECT_EQ(WithoutPromises("  %7 = load <3 x float>, <3 x float>* %5, align 8, !dbg !9\n"
                            "  store <3 x i8> %v, <3 x i8>* %6, align 1, !dbg !9\n"
                            "  %8 = load <2 x float>, <2 x float>* %5, align 8, !dbg !9",
                            ""),
            "  %simt0.p0 = getelementptr <3 x float>, <3 x float>* %5, i64 0, i64 0\n"
            "  %simt0.q0 = bitcast float* %simt0.p0 to <2 x float>*\n"
            "  %simt0.v0 = load <2 x float>, <2 x float>* %simt0.q0, align 8, !dbg !9\n"
            "  %simt0.e0 = extractelement <2 x float> %simt0.v0, i32 0\n"
            "  %simt0.w0 = insertelement <3 x float> undef, float %simt0.e0, i32 0\n"
            "  %simt0.e1 = extractelement <2 x float> %simt0.v0, i32 1\n"
            "  %simt0.w1 = insertelement <3 x float> %simt0.w0, float %simt0.e1, i32 1\n"
            "  %simt0.p2 = getelementptr <3 x float>, <3 x float>* %5, i64 0, i64 2\n"
            "  %simt0.q2 = bitcast float* %simt0.p2 to float*\n"
            "  %simt0.v2 = load float, float* %simt0.q2, align 4, !dbg !9\n"
            "  %7 = insertelement <3 x float> %simt0.w1, float %simt0.v2, i32 2\n"
            "  %simt1.p0 = getelementptr <3 x i8>, <3 x i8>* %6, i64 0, i64 0\n"
            "  %simt1.q0 = bitcast i8* %simt1.p0 to i8*\n"
            "  %simt1.v0 = extractelement <3 x i8> %v, i32 0\n"
            "  store i8 %simt1.v0, i8* %simt1.q0, align 1, !dbg !9\n"
            "  %simt1.p1 = getelementptr <3 x i8>, <3 x i8>* %6, i64 0, i64 1\n"
            "  %simt1.q1 = bitcast i8* %simt1.p1 to i8*\n"
            "  %simt1.v1 = extractelement <3 x i8> %v, i32 1\n"
            "  store i8 %simt1.v1, i8* %simt1.q1, align 1, !dbg !9\n"
            "  %simt1.p2 = getelementptr <3 x i8>, <3 x i8>* %6, i64 0, i64 2\n"
            "  %simt1.q2 = bitcast i8* %simt1.p2 to i8*\n"
            "  %simt1.v2 = extractelement <3 x i8> %v, i32 2\n"
            "  store i8 %simt1.v2, i8* %simt1.q2, align 1, !dbg !9\n"
            "  %8 = load <2 x float>, <2 x float>* %5, align 8, !dbg !9");
}

TEST(WithPromises, SharedVariablesNeedNoInitialisation) {
  EXPECT_THAT(WithPromises("  br i1 icmp ne (void ()* @_ZTH4tile, void ()* null), label %1, label "
                           "%2\n"),
              HasSubstr("  br i1 false, label %1, label %2\n"));
  EXPECT_THAT(WithPromises("define weak_odr hidden [0 x float]* @_ZTW4tile() #7 comdat {\n"),
              HasSubstr("@_ZTW4tile() alwaysinline #7 comdat {\n"));
}

TEST(WithPromises, CallsThatReturnSharedVariablesAreTheVariables) {
  const std::string promised = WithPromises(absl::StrCat(kDynamic, R"(
define void @f() {
  %1 = call [0 x float]* @_ZTW4tile(), !dbg !7
  %2 = call i32* @_ZTW5other()
}
define linkonce_odr hidden noundef [0 x float]* @_ZTW4tile() #2 comdat {
  ret [0 x float]* @tile
}
define linkonce_odr hidden noundef i32* @_ZTW5other() #2 comdat {
  ret i32* @other
}
)"));
  EXPECT_THAT(promised, HasSubstr("%1 = bitcast [1048576 x float]* @tile to [1048576 x float]*, "
                                  "!dbg !7\n"));
  EXPECT_THAT(promised, HasSubstr("%2 = call i32* @_ZTW5other()\n"));
}

TEST(WithPromises, TheOptimizerKnowsNoInstrumentation) {
  const std::string attributes = "attributes #0 = { noduplicate nounwind sanitize_thread }\n";
  const std::string promised = WithPromises(attributes);
  EXPECT_THAT(promised, HasSubstr("attributes #0 = { nounwind }\n"));
  EXPECT_THAT(WithoutPromises(promised, attributes),
              HasSubstr("attributes #0 = { sanitize_thread nounwind }\n"));
}

}  // namespace
}  // namespace stridewise::executor
