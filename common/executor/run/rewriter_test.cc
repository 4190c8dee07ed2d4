#include "common/executor/run/rewriter.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

std::string Rewritten(absl::string_view source) { return RewriteCuda(source, "0").text; }

// Returns what the launch of `callee` becomes, up to its arguments.
std::string LaunchOf(absl::string_view callee, absl::string_view config) {
  return absl::StrReplaceAll(
      "::simt_cuda::Launch(::simt_cuda::LaunchConfig(CONFIG), \"CALLEE\", \"f.cu\", 1, "
      "[&](auto simt_probe) -> decltype(simt_probe(CALLEE)) { return simt_probe(CALLEE); }, "
      "[&](auto&... simt_arguments) __attribute__((noinline)) -> void { "
      "CALLEE(simt_arguments...); })",
      {{"CALLEE", callee}, {"CONFIG", config}});
}

TEST(RewriterTest, Launches) {
  const struct {
    const char* before;
    const char* callee;
    const char* config;
    const char* behind;
  } kCases[] = {
      {"", "k", "g, b", "(x);"},
      {"", "k<T>", "g, b", "(x);"},
      {"", "k<T, A<B>>", "g, b, n, s", "(x, y);"},
      {"", "ns::k<int>", "1, f<int>(2)", "();"},
      {"", "::k", "1, (a>>>b)", "();"},
      {"return ", "k", "1, 2", "();"},
      {"else ", "::ns::k", "1, 2", "();"},
      {"if (x) ", "k", "1, 2", "();"},
      {"if (x) ", "(*f)", "1, 2", "();"},
      {"", "f[i]", "1, 2", "();"},
      {"", "this->f", "1, 2", "();"},
      {"", "a.b().f", "1, 2", "();"},
      {"", "k<(N > 3)>", "1, 2", "();"},
      {"CHECK((", "k", "1, 2", "(x)));"},
      {"", "k", "dim3{1, 2}, 2", "(\")\", '(', x);"},
      {"x; ", "k<0x1e+3>", "1, 2", "();"},
  };
  for (const auto& c : kCases) {
    const std::string source =
        absl::StrCat("# 1 \"f.cu\"\n", c.before, c.callee, "<<<", c.config, ">>>", c.behind);
    const RewrittenSource result = RewriteCuda(source, "0");
    EXPECT_EQ(result.text,
              absl::StrCat("# 1 \"f.cu\"\n", c.before, LaunchOf(c.callee, c.config), c.behind));
    EXPECT_EQ(result.launches, 1);
  }
}

TEST(RewriterTest, BlanksInTheBracketsOfALaunch) {
  const std::string file = "# 1 \"f.cu\"\n";
  for (const auto& [open, close] : {std::pair("<< <", ">> >"), std::pair("<< <", ">>>"),
                                    std::pair("<<<", "> >>"), std::pair("< < <", "> > >")}) {
    EXPECT_EQ(RewriteCuda(absl::StrCat(file, "k", open, "1, 2", close, "(x);"), "0").text,
              absl::StrCat(file, LaunchOf("k", "1, 2"), "(x);"))
        << open << close;
  }
}

TEST(RewriterTest, WhatLooksLikeALaunchIsLeft) {
  for (const char* source : {
           "auto s = \"k<<<1, 2>>>(x)\";",
           "auto s = R\"(k<<<1, 2>>>(x))\";",
           "template <> A<B<C<int>>> x;",
           "A<B<C<int>> > x;",
           "bool b = f<A<B<int> > > (1);",
           "int y = a >> b;",
           "std::ostream& operator<< <>(A);",
           "// k<<<1, 2>>>(x)",
           "/* k<<<1, 2>>>(x) */",
           "char c = '\"'; char d = '\"';",
       }) {
    EXPECT_EQ(Rewritten(source), source);
  }
}

TEST(RewriterTest, FunctionsLoseTheirMarkers) {
  const std::pair<const char*, const char*> kCases[] = {
      {"__global__ void k(int* p) {}", " void k(int* p) {}"},
      {"static __host__ __device__ int f();", "static   int f();"},
      {"auto l = [=] __device__ (int i) { return i; };", "auto l = [=]  (int i) { return i; };"},
      {"struct A { __device__ A() : a(1), b{2} {} int a, b; };",
       "struct A {  A() : a(1), b{2} {} int a, b; };"},
      {"__device__ A operator()(int) { return A(); }", " A operator()(int) { return A(); }"},
      {"__device__ std::pair<int, int> f(int a = 3);", " std::pair<int, int> f(int a = 3);"},
      {"extern __device__ int x;", "extern  int x;"},
      {"template <class T> __device__ T f(T x) { return x; }",
       "template <class T>  T f(T x) { return x; }"},
  };
  for (const auto& [source, expected] : kCases) EXPECT_EQ(Rewritten(source), expected);
}

TEST(RewriterTest, VariablesGetSections) {
  const auto section = [](absl::string_view name) {
    return absl::StrCat("__attribute__((section(\"", name, "\"), aligned(256)))");
  };
  EXPECT_EQ(Rewritten("__device__ int x;"), section(".simt_device.0.1") + " int x;");
  EXPECT_EQ(Rewritten("static __device__ float t[3] = {1, 2, 3};"),
            "static " + section(".simt_device.0.1") + " float t[3] = {1, 2, 3};");
  EXPECT_EQ(Rewritten("__constant__ float c[9]; __device__ __constant__ int d = 1;"),
            section(".simt_constant.0.1") + " float c[9]; " + section(".simt_constant.0.2") +
                "  int d = 1;");
  EXPECT_EQ(Rewritten("__device__ __managed__ int m;"), section(".simt_device.0.1") + "  int m;");
  EXPECT_EQ(Rewritten("__device__ void (*f)(int) = g;"),
            section(".simt_device.0.1") + " void (*f)(int) = g;");
  EXPECT_EQ(Rewritten("__device__ A<int, 3> a, b;"),
            section(".simt_device.0.1") + " A<int, 3> a, b;");
}

TEST(RewriterTest, FunctionsOfTheHostAreNotInstrumented) {
  const std::string mark = "__attribute__((no_sanitize(\"coverage\"))) ";
  EXPECT_EQ(Rewritten("namespace n { extern \"C\" { int main() { if (a) { f(); } } } }"),
            "namespace n { extern \"C\" { " + mark + "int main() { if (a) { f(); } } } }");
  EXPECT_EQ(Rewritten("template <typename T> static T* f(T a) { } int g;"),
            "template <typename T> " + mark + "static T* f(T a) { } int g;");
  EXPECT_EQ(Rewritten("inline namespace n __attribute__((x(\"y\"))) { int f() { } }"),
            "inline namespace n __attribute__((x(\"y\"))) { " + mark + "int f() { } }");
  for (const char* other :
       {"constexpr int f() { return 1; }", "struct A { int f() { } };", "void A::f() { }",
        "A::A() { }", "auto f = [](int a) { };", "A<int>::B f() { }",
        "typedef struct __attribute__((aligned(4))) { int a; } B;",
        "# 1 \"a.h\" 1 3\nint f() { }"}) {
    EXPECT_EQ(Rewritten(other), other);
  }
  EXPECT_EQ(Rewritten("__device__ int f() { }"), " int f() { }");
  EXPECT_EQ(Rewritten("static __host__ __device__ int f() { }"), "static   int f() { }");
}

TEST(RewriterTest, AlignmentComesBeforeTheStorageClass) {
  EXPECT_EQ(Rewritten("extern thread_local alignas(alignof(T)) float a[];"),
            "alignas(alignof(T)) extern thread_local  float a[];");
  EXPECT_EQ(Rewritten("{ thread_local alignas(16) int a; }"),
            "{ alignas(16) thread_local  int a; }");
}

TEST(RewriterTest, LinesStayWhereTheyWere) {
  const std::string source =
      "# 7 \"f.cu\"\nvoid f() {\n  k<<<1,\n      2>>>(x,\n    y);\n  g();\n}\n";
  const std::string text = Rewritten(source);
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  // The arguments begin on line 9, and g() is on line 11.
  const auto marker = std::find(lines.begin(), lines.end(), "# 9 \"f.cu\"");
  ASSERT_NE(marker, lines.end()) << text;
  EXPECT_EQ(*(marker + 1), "(x,");
  EXPECT_EQ(*(marker + 2), "    y);");
  EXPECT_EQ(*(marker + 3), "  g();");
}

TEST(RewriterTest, ClustersGoIntoTheKernel) {
  const std::string check = "{ if (::simt_cuda::OtherCluster(2, 1)) return;";
  EXPECT_EQ(Rewritten("__global__ void __cluster_dims__(2, 1) k(int n) { f(); }"),
            " void   k(int n) " + check + " f(); }");
  EXPECT_EQ(Rewritten("__cluster_dims__(2, 1) __global__ void k() { } __global__ void j() { }"),
            "   void k() " + check + " }  void j() { }");
  EXPECT_EQ(RewriteCuda("__global__ void __cluster_dims__(2) k(); __global__ void j() { }", "0")
                .unsupported.size(),
            1u);
}

TEST(RewriterTest, LaunchesByPointerKeepTheKernelsType) {
  EXPECT_EQ(Rewritten("x = cudaLaunchCooperativeKernel((const void *)k<T>, (void*)g);"),
            "x = cudaLaunchCooperativeKernel(  k<T>, (void*)g);");
  EXPECT_EQ(Rewritten("cudaLaunchKernel(reinterpret_cast<void*>(&k), 1);"),
            "cudaLaunchKernel((&k), 1);");
  for (const char* other : {"cudaLaunchKernel(k, (void*)g);", "cudaLaunchKernel((int*)k, g);",
                            "cudaLaunchKernel((void**)k, g);", "f((void*)k, g);"}) {
    EXPECT_EQ(Rewritten(other), other);
  }
}

TEST(RewriterTest, NamesWhatIsNotSupported) {
  const RewrittenSource result = RewriteCuda(
      "# 3 \"f.cu\"\n__global__ void k() {\n  asm(\"x\");\n  if (1) { j<<<1, 2>>>(); }\n}\n"
      "void host() { asm(\"nop\"); k<<<1, 1>>>(); }\n",
      "0");
  ASSERT_EQ(result.unsupported.size(), 1u);
  EXPECT_EQ(result.unsupported[0].what, "a kernel launch in device code (dynamic parallelism)");
  EXPECT_EQ(result.unsupported[0].line, 5);
  EXPECT_EQ(result.unsupported[0].file, "f.cu");
  EXPECT_EQ(result.launches, 1);
  // Inline PTX is not the host's assembler.
  EXPECT_NE(result.text.find("  simt_asm(\"x\");"), std::string::npos);
  EXPECT_NE(result.text.find("void host() { asm(\"nop\");"), std::string::npos);
}

TEST(RewriterTest, ClockIsTheDevicesInDeviceCodeOnly) {
  EXPECT_EQ(Rewritten("__global__ void k(A a) { f(clock(), a.clock(), std::clock()); }"),
            " void k(A a) { f(simt_device_clock(), a.clock(), std::clock()); }");
  EXPECT_EQ(Rewritten("__device__ long f() { return ::clock(); }"),
            " long f() { return ::simt_device_clock(); }");
  EXPECT_EQ(Rewritten("__global__ void k() {} long start = clock();"),
            " void k() {} long start = clock();");
}

}  // namespace
}  // namespace stridewise::executor
