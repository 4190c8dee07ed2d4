#include "benchmarks/harness/flags_for.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_split.h"
#include "benchmarks/harness/plan.h"
#include "benchmarks/harness/test/plans.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

// What ncu_run relies on: the flags of a configuration make it again, and nothing else.
TEST(FlagsForTest, MakeTheSameConfiguration) {
  Plan configs;
  for (const Operation* operation : kOperations) {
    const bool products = operation == &MatMulOperation();
    PlanFlags flags;
    flags.shapes = products ? "3x5x7" : "3x5";
    flags.types = "double";
    flags.blocks = "8x4,64x2";
    for (const Config& config : PlanOf(*operation, "default", flags)) configs.push_back(config);
    flags.batch = "3";
    if (products)
      flags.axes = {
          {"layouts", "nt,nn_col"}, {"alpha", "-2"}, {"beta", "0.5"}, {"workspace", "no,asked"}};
    for (const Config& config : PlanOf(*operation, "default", flags)) configs.push_back(config);
  }
  ASSERT_GT(configs.size(), 40u);
  for (const Config& config : configs) {
    SCOPED_TRACE(Title(config));
    PlanFlags flags;
    const std::map<std::string, std::string*> members = {
        {"--implementations", &flags.implementations},
        {"--shapes", &flags.shapes},
        {"--types", &flags.types},
        {"--blocks", &flags.blocks},
        {"--batch", &flags.batch}};
    for (const std::string& flag : FlagsFor(config)) {
      const std::pair<std::string, std::string> parts = absl::StrSplit(flag, '=');
      if (parts.first == "--operation") {
        EXPECT_EQ(parts.second, config.operation->name());
      } else if (const auto member = members.find(parts.first); member != members.end()) {
        *member->second = parts.second;
      } else {
        flags.axes[parts.first.substr(2)] = parts.second;
      }
    }
    const Plan again = PlanOf(*config.operation, "default", flags);
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0].implementation, config.implementation);
    EXPECT_EQ(Title(again[0]), Title(config));
    EXPECT_TRUE(again[0].point == config.point);
  }
}

}  // namespace
}  // namespace stridewise
