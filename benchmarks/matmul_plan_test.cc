#include "benchmarks/matmul_plan.h"

#include <algorithm>
#include <set>
#include <string>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

std::vector<MatMulConfig> PlanOf(const char* preset, const MatMulPlanFlags& flags = {}) {
  const auto found = FindMatMulPreset(preset);
  EXPECT_TRUE(found.ok()) << found.status();
  auto plan = MakeMatMulPlan(**found, flags);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return *std::move(plan);
}

// Sizes at which `implementation` is measured.
std::set<int64_t> SizesOf(const std::vector<MatMulConfig>& plan,
                          const std::string& implementation) {
  std::set<int64_t> sizes;
  for (const MatMulConfig& config : plan) {
    if (config.implementation->name == implementation) sizes.insert(config.shape.m);
  }
  return sizes;
}

TEST(MatMulPlan, FirstStudyHasTheAssignmentsSizes) {
  const auto plan = PlanOf("cublas_vs_eigen");
  const std::set<int64_t> eigen = SizesOf(plan, "eigen");
  EXPECT_EQ(eigen.size(), 501u + 6u);
  EXPECT_EQ(*eigen.begin(), 1);
  EXPECT_EQ(*eigen.rbegin(), 10000);
  EXPECT_TRUE(eigen.count(4991) == 1 && eigen.count(5000) == 1 && eigen.count(9000) == 1);
  const std::set<int64_t> cublas = SizesOf(plan, "cublas");
  EXPECT_EQ(cublas.size(), 501u + 6u + 16u);
  EXPECT_EQ(*cublas.rbegin(), 26000);
}

TEST(MatMulPlan, SecondStudyStopsEachImplementationWhereTheAssignmentDid) {
  const auto plan = PlanOf("own_kernels");
  EXPECT_EQ(*SizesOf(plan, "cpu_naive").rbegin(), 1024);
  EXPECT_EQ(*SizesOf(plan, "naive").rbegin(), 2048);
  const std::set<int64_t> tiled = SizesOf(plan, "tiled");
  EXPECT_EQ(*tiled.rbegin(), 4096);
  EXPECT_EQ(tiled.size(), 100u + 31u + 8u);
  EXPECT_TRUE(SizesOf(plan, "cublas").empty());
}

TEST(MatMulPlan, ProofTakesEveryImplementationOverTheSameRandomShapes) {
  MatMulPlanFlags flags;
  flags.seed = 7;
  const auto plan = PlanOf("proof", flags);
  EXPECT_EQ(plan.size(), 10 * MatMulImplementations().size());
  for (const MatMulConfig& config : plan) {
    for (const int64_t extent : {config.shape.m, config.shape.n, config.shape.k}) {
      EXPECT_GE(extent, 1);
      EXPECT_LE(extent, 1024);
    }
  }
  flags.seed = 8;
  EXPECT_NE(PlanOf("proof", flags)[0].shape.m, plan[0].shape.m);
}

TEST(MatMulPlan, RowsOfOneShapeStandTogetherSmallOnesFirst) {
  for (const MatMulPreset& preset : MatMulPresets()) {
    const auto plan = PlanOf(preset.name);
    ASSERT_FALSE(plan.empty());
    for (size_t i = 1; i < plan.size(); ++i) {
      const Shape3& a = plan[i - 1].shape;
      const Shape3& b = plan[i].shape;
      EXPECT_LE(MatMulFlops(a.m, a.n, a.k), MatMulFlops(b.m, b.n, b.k));
      if (a.m == b.m && a.n == b.n && a.k == b.k) {
        EXPECT_LT(plan[i - 1].implementation, plan[i].implementation);
      }
    }
  }
}

TEST(MatMulPlan, FlagsReplaceSizesAndNarrowImplementations) {
  MatMulPlanFlags flags;
  flags.sizes = "0,5";
  flags.shapes = "2x3x4";
  flags.implementations = "eigen*";
  flags.types = "float,double";
  const auto plan = PlanOf("default", flags);
  EXPECT_EQ(plan.size(), 3u * 2u * 2u);
  EXPECT_EQ(plan[0].shape.m, 0);
  EXPECT_EQ(plan.back().shape.k, 4);
  EXPECT_EQ(plan.back().type, ElementType::kDouble);
}

TEST(MatMulPlan, BlocksApplyToTheKernelsThatTakeAny) {
  MatMulPlanFlags flags;
  flags.sizes = "64";
  flags.blocks = "8x8,32x4";
  flags.implementations = "naive,tiled,eigen";
  const auto plan = PlanOf("default", flags);
  ASSERT_EQ(plan.size(), 4u);
  EXPECT_EQ(plan[0].implementation->name, "eigen");
  EXPECT_EQ(plan[0].block.x, 0);
  EXPECT_EQ(plan[1].block.x, 8);
  EXPECT_EQ(plan[2].block.x, 32);
  EXPECT_EQ(plan[2].block.y, 4);
  EXPECT_EQ(plan[3].block.x, 32);
}

TEST(MatMulPlan, BadInputNamesTheFlag) {
  EXPECT_EQ(FindMatMulPreset("nonsense").status().code(), absl::StatusCode::kInvalidArgument);
  struct {
    const char* flag;
    MatMulPlanFlags flags;
  } cases[] = {
      {"--sizes", {"5:1:2", "", "", "", "", 1}},          {"--shapes", {"", "3x4", "", "", "", 1}},
      {"--implementations", {"", "", "nope", "", "", 1}}, {"--types", {"", "", "", "half", "", 1}},
      {"--blocks", {"", "", "", "", "64x64", 1}},
  };
  for (const auto& c : cases) {
    const auto plan = MakeMatMulPlan(MatMulPresets()[0], c.flags);
    EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument) << c.flag;
    EXPECT_NE(std::string(plan.status().message()).find(c.flag), std::string::npos)
        << plan.status();
  }
}

}  // namespace
}  // namespace stridewise
