#include "common/executor/run/constants.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

TEST(ConstantsTest, Parses) {
  const auto constants = ParseConstants("B=2; SIZE = {128, 256} ;");
  ASSERT_TRUE(constants.ok());
  ASSERT_EQ(constants->size(), 2u);
  EXPECT_EQ((*constants)[0].name, "B");
  EXPECT_EQ((*constants)[0].value, "2");
  EXPECT_EQ((*constants)[1].name, "SIZE");
  EXPECT_EQ((*constants)[1].value, "{128, 256}");
  EXPECT_TRUE(ParseConstants("")->empty());
}

TEST(ConstantsTest, RefusesWhatIsNoPair) {
  for (const char* text : {"B", "B=", "=2", "2=B", "a b=1", "a=1;a=2"}) {
    EXPECT_FALSE(ParseConstants(text).ok()) << text;
  }
}

TEST(ConstantsTest, ReplacesInitialisers) {
  const struct {
    const char* before;
    const char* after;
  } kCases[] = {
      {"int B = 8;", "int B = 2;"},
      {"const unsigned int B = 4 * 1048576;", "const unsigned int B = 2;"},
      {"std::vector<int> B = {1, 2};", "std::vector<int> B = 2;"},
      {"int B[] = {1, 2};", "int B[] = 2;"},
      {"int B = f(1, 2), C = 3;", "int B = 2, C = 3;"},
      {"int main() { int B = 8; }", "int main() { int B = 2; }"},
      {"int B = 1 +\n  7; int C = 9;", "int B = 2\n; int C = 9;"},
      // Nothing that is no definition with an initialiser.
      {"B = 8;", "B = 8;"},
      {"if (int B == 8) {}", "if (int B == 8) {}"},
      {"return B == 8;", "return B == 8;"},
      {"void f(int B = 8);", "void f(int B = 8);"},
      {"int B;", "int B;"},
      {"int BB = 8;", "int BB = 8;"},
      {"template <class B> B f(B b) { return b; } using R = B;",
       "template <class B> B f(B b) { return b; } using R = B;"},
      {"template <class B = int> class C;", "template <class B = int> class C;"},
      {"using B = int;", "using B = int;"},
      {"int B[2][3] = {}, i = 1;", "int B[2][3] = 2, i = 1;"},
  };
  for (const auto& c : kCases) {
    const auto result = WithConstants(absl::StrCat("# 1 \"f.cu\"\n", c.before), {{"B", "2"}});
    EXPECT_EQ(result.text, absl::StrCat("# 1 \"f.cu\"\n", c.after));
    EXPECT_EQ(result.replaced.empty(), std::string(c.before) == c.after) << c.before;
  }
}

TEST(ConstantsTest, NamesThePlaceAndLeavesOtherFilesAlone) {
  const auto result = WithConstants(
      "# 1 \"/usr/include/x.h\" 1 3\nint B = 1;\n# 7 \"f.cu\" 2\nint B = 8;\n", {{"B", "2"}});
  EXPECT_EQ(result.text, "# 1 \"/usr/include/x.h\" 1 3\nint B = 1;\n# 7 \"f.cu\" 2\nint B = 2;\n");
  ASSERT_EQ(result.replaced.size(), 1u);
  EXPECT_EQ(result.replaced[0].file, "f.cu");
  EXPECT_EQ(result.replaced[0].line, 7);
  EXPECT_EQ(result.replaced[0].before, "8");
}

}  // namespace
}  // namespace stridewise::executor
