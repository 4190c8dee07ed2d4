#include "common/executor/ptx/rewrite_asm.h"

#include <algorithm>
#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

std::string Rewritten(absl::string_view source) {
  const auto rewritten = RewriteAsm(source);
  return rewritten.ok() ? *rewritten : std::string(rewritten.status().message());
}

TEST(RewriteAsm, MakesCalls) {
  EXPECT_EQ(Rewritten("asm volatile(\"add.u32 %0, %1, %2;\" : \"=r\"(x) : \"r\"(f(a, 1)), "
                      "\"n\"(N::k) : \"memory\");"),
            "::SimtPtx( \"add.u32 %0, %1, %2;\"  , ::SimtOut(x)  , ::SimtIn(f(a, 1)) "
            ", ::SimtIn(N::k)  );");
  EXPECT_EQ(Rewritten("asm volatile(\"a;\" \"b;\" : \"+f\"(d[0]), \"+f\"(d[1]));"),
            "::SimtPtx( \"a;\" \"b;\"  , ::SimtInOut(d[0]) , ::SimtInOut(d[1]));");
  EXPECT_EQ(Rewritten("asm volatile(\"a %0;\" ::\"l\"(p), \"r\"(i) : \"memory\");"),
            "::SimtPtx( \"a %0;\" , ::SimtIn(p) , ::SimtIn(i)  );");
  EXPECT_EQ(Rewritten("asm volatile(\"a;\" ::: \"memory\");"), "::SimtPtx( \"a;\"  );");
  EXPECT_EQ(Rewritten("__asm__ __volatile__(\"a;\");"), "::SimtPtx( \"a;\");");
  EXPECT_EQ(Rewritten("asm(\"a;\");"), "::SimtPtx(\"a;\");");
  EXPECT_EQ(Rewritten("asm volatile(\"a %[to], %1;\" : [to] \"=r\"(x) : \"r\"(y));"),
            "::SimtPtx( \"a %0, %1;\"   , ::SimtOut(x)  , ::SimtIn(y));");
}

TEST(RewriteAsm, NamesWhatHasAsynchronousResults) {
  EXPECT_EQ(Rewritten("asm volatile(\"{wgmma.\" \"mma_async.x;}\" : \"+f\"(d[0]) : \"l\"(a));"),
            "::SimtWgmma( \"{wgmma.\" \"mma_async.x;}\"  , ::SimtInOut(d[0])  , ::SimtIn(a));");
  EXPECT_EQ(Rewritten("asm volatile(\" \" : \"+f\"(d[0]) :: \"memory\");"),
            "::SimtNoPtx( \" \"  , ::SimtInOut(d[0])  );");
}

TEST(RewriteAsm, LeavesLinesWhereTheyAre) {
  const std::string source =
      "int a;\nasm volatile(\n    \"a %0;\\n\"\n    \"b;\"\n    : \"=r\"(x)\n    :\n    : "
      "\"memory\");\nint b;\n";
  const std::string rewritten = Rewritten(source);
  EXPECT_EQ(std::count(rewritten.begin(), rewritten.end(), '\n'),
            std::count(source.begin(), source.end(), '\n'));
  EXPECT_EQ(rewritten.substr(rewritten.size() - 8), "\nint b;\n");
}

TEST(RewriteAsm, LeavesEverythingElse) {
  for (const char* source :
       {"int asmx = 1'000; const char* s = \"asm volatile(\\\"x\\\");\"; char c = '\"';",
        "auto r = R\"x(asm volatile(\"a;\");)x\";", "extern \"C\" int f(int) asm(\"g\");",
        "# 1 \"/usr/include/x.h\" 1 3\nasm volatile(\"cpuid\" : \"=a\"(x));\n"}) {
    EXPECT_EQ(Rewritten(source), source);
  }
}

TEST(RewriteAsm, RewritesAfterAHeaderOfTheSystem) {
  EXPECT_EQ(Rewritten("# 1 \"/usr/include/x.h\" 1 3\nint a;\n# 7 \"a.cu\" 2\nasm(\"a;\");\n"),
            "# 1 \"/usr/include/x.h\" 1 3\nint a;\n# 7 \"a.cu\" 2\n::SimtPtx(\"a;\");\n");
}

TEST(RewriteAsm, NamesFileAndLineOfWhatItCannotRewrite) {
  EXPECT_EQ(Rewritten("# 7 \"a.cu\"\nint x;\nasm volatile(\"a;\" : \"=r\"(x) : \"0\"(y));"),
            "a.cu:8: asm operands that are tied by number are not supported");
  EXPECT_EQ(Rewritten("# 7 \"a.cu\"\nasm goto(\"a;\" : : : : label);"),
            "a.cu:7: this form of asm is not supported on the host executor");
}

TEST(RewriteAsm, ChecksTheTextsOfOneWord) {
  RewriteAsmOptions options;
  options.word = "simt_asm";
  options.check = [](const std::string& ptx) {
    return ptx == "a;\n\tb %0;" ? "" : ptx + " is bad";
  };
  const std::string source =
      "# 7 \"a.cu\"\nasm(\"cpuid;\");\nsimt_asm(\"a;\\n\\t\"\n\"b %[x];\" : [x] \"+r\"(x));\n";
  EXPECT_EQ(
      *RewriteAsm(source, options),
      "# 7 \"a.cu\"\nasm(\"cpuid;\");\n::SimtPtx(\"a;\\n\\t\"\n\"b %0;\"   , ::SimtInOut(x));\n");
  const auto wrong = RewriteAsm(
      "# 7 \"a.cu\"\nsimt_asm(\"c;\");\nsimt_asm volatile(\n\"d;\" ::: \"memory\");", options);
  EXPECT_EQ(wrong.status().message(), "a.cu:7: c; is bad\na.cu:8: d; is bad");
}

}  // namespace
}  // namespace stridewise::executor
