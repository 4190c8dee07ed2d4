#include "common/executor/run/narrow_hooks.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

using ::testing::HasSubstr;

TEST(WithNarrowHooks, AWideAccessHasACallForEachAlignedPiece) {
  EXPECT_EQ(WithNarrowHooks("  call void @__sanitizer_cov_store8(i64* %3) #7, !dbg !1\n"
                            "  store <2 x float> %2, <2 x float>* %1, align 4, !dbg !1\n"
                            "declare void @__sanitizer_cov_store8(i64*)"),
            "  %simt.0 = bitcast i64* %3 to i32*\n"
            "  %simt.0.0 = getelementptr i32, i32* %simt.0, i64 0\n"
            "  call void @__sanitizer_cov_store4(i32* %simt.0.0) #7, !dbg !1\n"
            "  %simt.0.1 = getelementptr i32, i32* %simt.0, i64 1\n"
            "  call void @__sanitizer_cov_store4(i32* %simt.0.1) #7, !dbg !1\n"
            "  store <2 x float> %2, <2 x float>* %1, align 4, !dbg !1\n"
            "declare void @__sanitizer_cov_store8(i64*)\n"
            "declare void @__sanitizer_cov_store4(i32*)\n");
}

TEST(WithNarrowHooks, WhatIsDeclaredIsNotDeclaredAgain) {
  const std::string text = WithNarrowHooks(
      "declare void @__sanitizer_cov_load2(i16*) #1\n"
      "  call void @__sanitizer_cov_load4(i32* nonnull %3), !dbg !1\n"
      "  %4 = load i32, i32* %3, align 2, !dbg !1\n");
  EXPECT_THAT(text, HasSubstr("call void @__sanitizer_cov_load2(i16* %simt.0.1), !dbg !1"));
  EXPECT_EQ(text.find("declare"), text.rfind("declare"));
}

TEST(WithNarrowHooks, OthersStay) {
  for (const char* text :
       {"  call void @__sanitizer_cov_load8(i64* %3)\n  %4 = load i64, i64* %3, align 8\n",
        "  call void @__sanitizer_cov_load4(i32* %3)\n  %4 = load float, float* %2, align 16\n",
        "  call void @__sanitizer_cov_trace_pc()\n  %4 = load i64, i64* %3, align 4\n",
        "  call void @__sanitizer_cov_load8(i64* bitcast (i8* @a to i64*))\n"
        "  %4 = load i64, i64* bitcast (i8* @a to i64*), align 4\n"}) {
    EXPECT_EQ(WithNarrowHooks(text), std::string(text) + "\n");
  }
}

}  // namespace
}  // namespace stridewise::executor
