#include "common/executor/run/report.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_split.h"

namespace stridewise::executor {
namespace {

TEST(ReportTest, NamesOfKernelsAndOfPointersToThem) {
  const struct {
    const char* name;
    const char* kernel;
    bool same;
  } cases[] = {
      {"Add", "Add", true},     {"lib::Add<float, 4>", "Add<float, 4>", true},
      {"(::Add)", "Add", true}, {"(&Add<T>)", "Add<double>", true},
      {"kernel", "Add", false}, {"table[i].kernel", "Add", false},
      {"AddAll", "Add", false},
  };
  for (const auto& c : cases) EXPECT_EQ(NamesKernel(c.name, c.kernel), c.same) << c.name;
}

TEST(ReportTest, OrderIsRunsOfNeighbours) {
  LaunchSummary summary;
  summary.kernel = "Add";
  summary.launches = 5;
  for (const uint64_t index : {0, 1, 2, 7, 9, 10}) AddToOrder(index, &summary);
  const std::vector<std::string> lines = absl::StrSplit(ReportCsv({summary}), '\n');
  const std::vector<std::string> names = absl::StrSplit(lines[0], ',');
  const std::vector<std::string> values = absl::StrSplit(lines[1], ',');
  ASSERT_EQ(names.size(), values.size());
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] == "order") {
      EXPECT_EQ(values[i], "0-2 7 9-10");
    }
    if (names[i] == "launches") {
      EXPECT_EQ(values[i], "5");
    }
  }
}

}  // namespace
}  // namespace stridewise::executor
