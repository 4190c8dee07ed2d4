#include "common/executor/symbolizer.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace stridewise::executor {

// Not in the unnamed namespace, so that the compiler cannot know all the callers. The asm keeps it
// from making two calls into one.
__attribute__((noinline)) uintptr_t WhereIAmCalledFrom() {
  asm volatile("");
  return reinterpret_cast<uintptr_t>(__builtin_return_address(0));
}

namespace {

constexpr char kThisFile[] = "common/executor/symbolizer_test.cc";

struct Call {
  uintptr_t pc;
  int line;
};

// The asm keeps the call from becoming a jump, which would return elsewhere.
__attribute__((noinline)) Call OneCall() {
  const Call call{WhereIAmCalledFrom(), __LINE__};
  asm volatile("");
  return call;
}

template <int kWhich>
__attribute__((noinline)) Call AnotherCall() {
  const Call call{WhereIAmCalledFrom(), __LINE__};
  asm volatile("");
  return call;
}

__attribute__((always_inline)) inline Call InlinedCall() {
  const Call call{WhereIAmCalledFrom(), __LINE__};
  asm volatile("");
  return call;
}

__attribute__((noinline)) Call CallsInlined() {
  const Call call = InlinedCall();
  asm volatile("");
  return call;
}

TEST(SymbolizeCalls, TellsFileLineAndFunctionInOrder) {
  const struct {
    const char* function;
    Call call;
  } cases[] = {
      {"AnotherCall", AnotherCall<2>()},
      {"OneCall", OneCall()},
      {"AnotherCall", AnotherCall<1>()},
      {"CallsInlined", CallsInlined()},  // The line is in the inlined function.
      {"OneCall", OneCall()},
  };
  std::vector<uintptr_t> pcs;
  for (const auto& c : cases) pcs.push_back(c.call.pc);
  const std::vector<SourceLine> lines = SymbolizeCalls(pcs);
  ASSERT_EQ(lines.size(), pcs.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i].function, cases[i].function) << i;
    EXPECT_EQ(lines[i].file, kThisFile) << i;
    EXPECT_EQ(lines[i].line, cases[i].call.line) << i;
  }
}

TEST(SymbolizeCalls, WhatIsNotInTheProgramIsUnknownAndKeepsItsPlace) {
  int on_the_stack = 0;
  const uintptr_t known = OneCall().pc;
  const std::vector<SourceLine> lines = SymbolizeCalls(
      {0, 1, known, ~uintptr_t{0}, reinterpret_cast<uintptr_t>(&on_the_stack), known});
  ASSERT_EQ(lines.size(), 6u);
  for (const size_t i : {0, 1, 3, 4}) {
    EXPECT_EQ(lines[i].line, 0) << i;
    EXPECT_EQ(lines[i].file, "") << i;
    EXPECT_EQ(lines[i].function, "") << i;
  }
  for (const size_t i : {2, 5}) EXPECT_EQ(lines[i].file, kThisFile) << i;
}

TEST(SymbolizeCalls, NothingIsNothing) { EXPECT_TRUE(SymbolizeCalls({}).empty()); }

TEST(SymbolizeCalls, ThousandsOfAddressesInOneCall) {
  constexpr size_t kAddresses = 10000;
  const Call call = OneCall();
  // All around the call, so that they are different and few are unknown.
  std::vector<uintptr_t> pcs(kAddresses, call.pc);
  for (size_t i = 1; i < kAddresses; i += 2) pcs[i] += i;
  const std::vector<SourceLine> lines = SymbolizeCalls(pcs);
  ASSERT_EQ(lines.size(), kAddresses);
  for (size_t i = 0; i < kAddresses; i += 2) ASSERT_EQ(lines[i].line, call.line) << i;
}

TEST(SymbolizeCalls, WithoutAddr2lineLinesAreUnknown) {
  const std::string path = getenv("PATH");
  const uintptr_t pc = OneCall().pc;
  setenv("PATH", "/nowhere", /*replace=*/1);
  const std::vector<SourceLine> lines = SymbolizeCalls({pc, pc});
  setenv("PATH", path.c_str(), /*replace=*/1);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].line, 0);
  EXPECT_EQ(lines[1].ToString(), SourceLine().ToString());
}

TEST(SymbolizeFunctions, TellsWhereTheyStart) {
  const std::vector<SourceLine> lines =
      SymbolizeFunctions({reinterpret_cast<uintptr_t>(&AnotherCall<1>), 0,
                          reinterpret_cast<uintptr_t>(&CallsInlined)});
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].function, "AnotherCall");
  EXPECT_EQ(lines[0].file, kThisFile);
  EXPECT_LT(lines[0].line, AnotherCall<1>().line);
  EXPECT_GT(lines[0].line, OneCall().line);
  EXPECT_EQ(lines[1].line, 0);
  EXPECT_EQ(lines[2].function, "CallsInlined");
}

TEST(SourceLine, ToStringIsShort) {
  SourceLine line;
  const std::string unknown = line.ToString();
  line.file = "transpose/ladder/11_tile_square.cu";
  line.line = 23;
  EXPECT_EQ(line.ToString(), "11_tile_square.cu:23");
  line.file = "main.cc";
  EXPECT_EQ(line.ToString(), "main.cc:23");
  EXPECT_NE(unknown, "");
  EXPECT_EQ(unknown.find(':'), std::string::npos);
}

TEST(ShortFunctionName, KeepsTheNameOnly) {
  const struct {
    const char* demangled;
    const char* name;
  } cases[] = {
      {"main", "main"},
      {"Kernel(float*, int)", "Kernel"},
      {"stridewise::Kernel(float*, int)", "Kernel"},
      {"void stridewise::(anonymous namespace)::NaiveRow<A, B>(A, B)", "NaiveRow"},
      {"void ns::Kernel<32, (ns::Op)1, std::pair<int, long> >(float*)", "Kernel"},
      {"void Kernel<((3)>(2))>(int)", "Kernel"},
      {"std::vector<int, std::allocator<int> > ns::Make<int>(int (*)(float))", "Make"},
      {"char const* ns::Name(unsigned long)", "Name"},
      {"decltype (f(1)) ns::Deduced<int>(int)", "Deduced"},
      {"ns::Tile<float, 32>::Load(float const*) const", "Load"},
      {"ns::Tile<float>::~Tile()", "~Tile"},
      {"std::__cxx11::to_string[abi:cxx11](int)", "to_string"},
      {"Kernel(int) [clone .constprop.0]", "Kernel"},
      {"Kernel.cold", "Kernel"},
      {"float& stridewise::View<float, int>::operator()(int, int) const", "operator()"},
      {"void ns::Functor::operator()<int>(int) const", "operator()"},
      {"bool ns::operator< <int>(ns::X<int>, ns::X<int>)", "operator<"},
      {"std::ostream& operator<< <char>(std::ostream&, char)", "operator<<"},
      {"ns::X<int> ns::operator+<int>(ns::X<int>, ns::X<int>)", "operator+"},
      {"ns::X::operator->() const", "operator->"},
      {"ns::X::operator[](int)", "operator[]"},
      {"ns::X::operator unsigned long() const", "operator unsigned long"},
      {"operator new(unsigned long)", "operator new"},
      {"ns::operators(int)", "operators"},
      {"ns::Run(int)::{lambda(int)#1}::operator()(int) const", "lambda in Run"},
      {"void ns::Run<1>(A)::{lambda(auto:1)#2}::operator()<int>(int) "
       "const::{lambda()#1}::operator()"
       "() const",
       "lambda in Run"},
      {"ns::Run(int)::{lambda(int)#1}::operator()(int) const::Local::Get()", "Get"},
      {"{lambda(int)#1}::operator()(int) const", "lambda"},
      // Broken ones may stay as they are but must not hurt.
      {"", ""},
      {"::", "::"},
      {"Kernel<(", "Kernel"},
      {"operator", "operator"},
  };
  for (const auto& c : cases) EXPECT_EQ(ShortFunctionName(c.demangled), c.name) << c.demangled;
}

}  // namespace
}  // namespace stridewise::executor
