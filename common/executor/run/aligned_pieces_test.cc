#include "common/executor/run/aligned_pieces.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

std::string Function(const std::string& body) {
  return absl::StrCat(
      "define void @f(i8* %a, i64* %b, i8* %c) {\n"
      "  %t = tail call i32 @simt_thread_idx_x()\n",
      body, "  ret void\n}\n");
}

std::string Changed(const std::string& body) {
  return absl::StrJoin(WithAlignedPieces(absl::StrSplit(Function(body), '\n')), "\n");
}

TEST(WithAlignedPieces, LoadsAndStoresWhatIsAligned) {
  EXPECT_EQ(Changed("  %v = load i64, i64* %b, align 4, !dbg !3\n"),
            Function(R"(  %simt.piece0.p = bitcast i64* %b to i32*
  %simt.piece0.0 = getelementptr i32, i32* %simt.piece0.p, i64 0
  %simt.piece0.0.v = load i32, i32* %simt.piece0.0, align 4, !dbg !3
  %simt.piece0.0.w = zext i32 %simt.piece0.0.v to i64
  %simt.piece0.0.s = shl i64 %simt.piece0.0.w, 0
  %simt.piece0.1 = getelementptr i32, i32* %simt.piece0.p, i64 1
  %simt.piece0.1.v = load i32, i32* %simt.piece0.1, align 4, !dbg !3
  %simt.piece0.1.w = zext i32 %simt.piece0.1.v to i64
  %simt.piece0.1.s = shl i64 %simt.piece0.1.w, 32
  %simt.piece0.1.o = or i64 %simt.piece0.0.s, %simt.piece0.1.s
  %v = add i64 %simt.piece0.1.o, 0
)"));
  EXPECT_EQ(Changed("  store double %x, double* %b, align 4\n"),
            Function(R"(  %simt.piece0.p = bitcast double* %b to i32*
  %simt.piece0.b = bitcast double %x to i64
  %simt.piece0.0 = getelementptr i32, i32* %simt.piece0.p, i64 0
  %simt.piece0.0.s = lshr i64 %simt.piece0.b, 0
  %simt.piece0.0.v = trunc i64 %simt.piece0.0.s to i32
  store i32 %simt.piece0.0.v, i32* %simt.piece0.0, align 4
  %simt.piece0.1 = getelementptr i32, i32* %simt.piece0.p, i64 1
  %simt.piece0.1.s = lshr i64 %simt.piece0.b, 32
  %simt.piece0.1.v = trunc i64 %simt.piece0.1.s to i32
  store i32 %simt.piece0.1.v, i32* %simt.piece0.1, align 4
)"));
}

TEST(WithAlignedPieces, CopiesByTheSmallerAlignment) {
  EXPECT_EQ(Changed("  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 8 %a, i8* align 16 %c, i64 "
                    "12, i1 false)\n"),
            Function(R"(  %simt.piece0.0.to.b = getelementptr i8, i8* %a, i64 0
  %simt.piece0.0.to = bitcast i8* %simt.piece0.0.to.b to i64*
  %simt.piece0.0.from.b = getelementptr i8, i8* %c, i64 0
  %simt.piece0.0.from = bitcast i8* %simt.piece0.0.from.b to i64*
  %simt.piece0.0 = load i64, i64* %simt.piece0.0.from, align 8
  store i64 %simt.piece0.0, i64* %simt.piece0.0.to, align 8
  %simt.piece0.8.to.b = getelementptr i8, i8* %a, i64 8
  %simt.piece0.8.to = bitcast i8* %simt.piece0.8.to.b to i32*
  %simt.piece0.8.from.b = getelementptr i8, i8* %c, i64 8
  %simt.piece0.8.from = bitcast i8* %simt.piece0.8.from.b to i32*
  %simt.piece0.8 = load i32, i32* %simt.piece0.8.from, align 4
  store i32 %simt.piece0.8, i32* %simt.piece0.8.to, align 4
)"));
}

TEST(WithAlignedPieces, LeavesTheRest) {
  for (const char* body : {"  %v = load i64, i64* %b, align 8\n",
                           "  %v = load <4 x float>, <4 x float>* %b, align 16\n",
                           "  store float 1.0, float* %b, align 8\n",
                           "  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 4 %a, i8* align 4 %c, "
                           "i64 %n, i1 false)\n",
                           "  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 4 %a, i8* align 4 %c, "
                           "i64 512, i1 false)\n"}) {
    EXPECT_EQ(Changed(body), Function(body));
  }
}

}  // namespace
}  // namespace stridewise::executor
