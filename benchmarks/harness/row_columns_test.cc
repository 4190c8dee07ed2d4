#include "benchmarks/harness/row_columns.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

TEST(KernelsTextTest, CountsWhatIsLaunchedSeveralTimesInARow) {
  EXPECT_EQ(KernelsText({}), "");
  EXPECT_EQ(KernelsText({"a"}), "a");
  EXPECT_EQ(KernelsText({"a", "b", "a"}), "a;b;a");
  EXPECT_EQ(KernelsText({"a", "a", "a", "b", "b"}), "a x3;b x2");
  EXPECT_EQ(KernelsText(std::vector<std::string>(4096, "a")), "a x4096");
}

TEST(KernelsTextTest, EndsBehindAHundred) {
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back(absl::StrCat("kernel_", i));
  EXPECT_EQ(std::vector<std::string>(absl::StrSplit(KernelsText(names), ';')), names);
  names.insert(names.end(), 7, "last");
  std::vector<std::string> expected(names.begin(), names.begin() + 100);
  expected.push_back("and 7 more");
  EXPECT_EQ(std::vector<std::string>(absl::StrSplit(KernelsText(names), ';')), expected);
}

// Names are cut at 120 characters (launched_kernels.h).
TEST(KernelsTextTest, FitsIntoACellOfASpreadsheet) {
  std::vector<std::string> names;
  for (int i = 0; i < 10000; ++i) names.push_back(std::string(120, i % 2 == 0 ? 'a' : 'b'));
  EXPECT_LE(KernelsText(names).size(), 32767u);
}

}  // namespace
}  // namespace stridewise
