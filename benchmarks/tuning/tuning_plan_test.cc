#include "benchmarks/tuning/tuning_plan.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/matmul/product.h"
#include "gtest/gtest.h"
#include "matmul/dispatch.h"
#include "matmul/tuning.h"

namespace stridewise {
namespace {

// Fixed, so that what is measured next does not change what is tested here.
constexpr MatMulTuning kPresent = {90, 16000, 160, 16,  512, 200, 2048, 132,
                                   64, 264,   90,  132, 178, 167, 122,  106};

std::vector<Config> PlanOf(const std::string& sizes = "", const std::string& shapes = "") {
  auto plan = MakeTuningPlan(sizes, shapes);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *std::move(plan);
}

auto Problem(const Config& config) { return std::pair(config.point.extents, config.point.batch); }

std::string Chosen(const Config& config, const MatMulTuning& tuning) {
  return ChooseMatMul(GaplessArgs(config.point), H200Model(), RunsOn::kDevice, tuning)
      .implementation;
}

TEST(TuningPlan, HasAllThatTheTableNamesForEachProblem) {
  std::set<std::string> names;
  for (const MatMulDispatch& row : MatMulDispatchTable()) names.insert(row.implementation);
  const std::vector<Config> plan = PlanOf();
  ASSERT_EQ(plan.size() % names.size(), 0u);
  std::set<std::pair<std::vector<int64_t>, int64_t>> seen;
  for (size_t i = 0; i < plan.size(); i += names.size()) {
    EXPECT_TRUE(seen.insert(Problem(plan[i])).second) << "not side by side";
    std::set<std::string> here;
    for (size_t j = i; j < i + names.size(); ++j) {
      EXPECT_EQ(Problem(plan[j]), Problem(plan[i]));
      here.insert(plan[j].implementation->name);
    }
    EXPECT_EQ(here, names);
  }
}

// What no shape reaches the fit could not tell.
TEST(TuningPlan, ReachesEveryRuleButTheLast) {
  std::set<std::string> chosen;
  for (const Config& config : PlanOf()) chosen.insert(Chosen(config, kPresent));
  EXPECT_EQ(chosen.size(), MatMulDispatchTable().size() - 1);
  EXPECT_EQ(chosen.count(MatMulDispatchTable().back().implementation), 0u);
}

TEST(TuningPlan, HasShapesOnBothSidesOfEveryThreshold) {
  for (const MatMulThreshold& threshold : MatMulThresholds()) {
    for (const int64_t value : {threshold.least, threshold.most}) {
      MatMulTuning moved = kPresent;
      moved.*threshold.value = value;
      std::set<std::pair<std::vector<int64_t>, int64_t>> others;
      for (const Config& config : PlanOf()) {
        if (Chosen(config, moved) != Chosen(config, kPresent)) others.insert(Problem(config));
      }
      EXPECT_FALSE(others.empty()) << threshold.name << " = " << value;
    }
  }
}

TEST(TuningPlan, FlagsReplaceTheShapes) {
  const std::vector<Config> plan = PlanOf("64", "1x2x3");
  EXPECT_EQ(plan.size(), 2 * MatMulDispatchTable().size());
  const auto refused = MakeTuningPlan("", "3x4");
  EXPECT_EQ(refused.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(std::string(refused.status().message()).find("--shapes"), std::string::npos);
}

TEST(TuningPlan, LeavesOutWhatIsHopeless) {
  std::set<std::string> hopeless;
  for (const Config& config : PlanOf("2048,2049")) {
    if (!IsHopeless(config, 90)) continue;
    EXPECT_EQ(config.point.extents[0], 2049);
    hopeless.insert(config.implementation->name);
    EXPECT_FALSE(IsHopeless(config, 75)) << "there is nothing else to run";
  }
  EXPECT_EQ(hopeless, (std::set<std::string>{"matvec", "tiny", "general_tile"}));
}

}  // namespace
}  // namespace stridewise
