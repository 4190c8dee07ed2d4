#include "benchmarks/matmul/matmul_plan.h"

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

bool SameForm(const MatMulForm& a, const MatMulForm& b) {
  return LayoutName(a.layout) == LayoutName(b.layout) && a.alpha == b.alpha && a.beta == b.beta &&
         a.batch == b.batch;
}

std::set<std::string> NamesOf(const std::vector<MatMulConfig>& plan) {
  std::set<std::string> names;
  for (const MatMulConfig& config : plan) names.insert(config.implementation->name);
  return names;
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
      if (a.m == b.m && a.n == b.n && a.k == b.k && SameForm(plan[i - 1].form, plan[i].form)) {
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

TEST(MatMulPlan, FormsStandTogetherByShapeAndLeaveOutWhatDoesNotTakeThem) {
  MatMulPlanFlags flags;
  flags.sizes = "5,6";
  flags.layouts = "nn,tn,nn_col";
  flags.implementations = "naive,tiled,cublas";
  const auto plan = PlanOf("default", flags);
  // Of each size naive, tiled and cublas for A * B in rows and in columns, cublas for the other.
  ASSERT_EQ(plan.size(), 2u * (3 + 1 + 3));
  EXPECT_EQ(plan[3].implementation->name, "cublas");
  EXPECT_EQ(LayoutName(plan[3].form.layout), "tn");
  EXPECT_EQ(LayoutName(plan[4].form.layout), "nn_col");
  EXPECT_EQ(plan[6].shape.m, 5);
  EXPECT_EQ(plan[7].shape.m, 6);

  flags.layouts = "";
  flags.batch = "3";
  flags.alpha = "2";
  flags.beta = "-0.5";
  const auto general = PlanOf("default", flags);
  EXPECT_EQ(NamesOf(general), std::set<std::string>({"cublas"}));
  EXPECT_EQ(general[0].form.batch, 3);
  EXPECT_EQ(general[0].form.alpha, 2);
  EXPECT_EQ(general[0].form.beta, -0.5);

  flags.implementations = "tiled";
  EXPECT_EQ(MakeMatMulPlan(MatMulPresets()[0], flags).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(MatMulPlan, LadderHasEveryStepOfTheGpuAndNoOther) {
  const auto plan = PlanOf("ladder");
  for (const MatMulImplementation& implementation : MatMulImplementations()) {
    const std::set<int64_t> sizes = SizesOf(plan, implementation.name);
    EXPECT_EQ(sizes.count(4096), implementation.target.where == Where::kDevice ? 1u : 0u)
        << implementation.name;
  }
  EXPECT_EQ(SizesOf(plan, "naive"), std::set<int64_t>({256, 1024, 4096, 8192}));
  EXPECT_EQ(SizesOf(plan, "naive_uncoalesced"), std::set<int64_t>({256, 1024, 4096}));
}

TEST(MatMulPlan, LimitsHaveTheirForms) {
  int batches = 0;
  int betas = 0;
  std::set<std::string> layouts;
  for (const MatMulConfig& config : PlanOf("limits")) {
    EXPECT_EQ(config.implementation->name, "auto");
    layouts.insert(LayoutName(config.form.layout));
    if (config.form.batch == 1000 && config.shape.k == 64) ++batches;
    if (config.form.beta == 0.5 && config.shape.n == 4096) ++betas;
  }
  EXPECT_EQ(layouts, std::set<std::string>({"nn", "nt", "tn", "tt", "nn_col"}));
  EXPECT_EQ(batches, 1);
  EXPECT_EQ(betas, 1);
}

TEST(MatMulPlan, BadInputNamesTheFlag) {
  EXPECT_EQ(FindMatMulPreset("nonsense").status().code(), absl::StatusCode::kInvalidArgument);
  const struct {
    const char* flag;
    std::string MatMulPlanFlags::*member;
    const char* value;
  } cases[] = {
      {"--sizes", &MatMulPlanFlags::sizes, "5:1:2"},
      {"--sizes", &MatMulPlanFlags::sizes, "random:3"},
      {"--shapes", &MatMulPlanFlags::shapes, "3x4"},
      {"--implementations", &MatMulPlanFlags::implementations, "nope"},
      {"--types", &MatMulPlanFlags::types, "half"},
      {"--blocks", &MatMulPlanFlags::blocks, "64x64"},
      {"--layouts", &MatMulPlanFlags::layouts, "nx"},
      {"--alpha", &MatMulPlanFlags::alpha, "inf"},
      {"--beta", &MatMulPlanFlags::beta, "nan"},
      {"--batch", &MatMulPlanFlags::batch, "0"},
      {"--batch", &MatMulPlanFlags::batch, "2147483648"},  // Of the preset's sizes too many.
  };
  for (const auto& c : cases) {
    MatMulPlanFlags flags;
    flags.*c.member = c.value;
    const auto plan = MakeMatMulPlan(MatMulPresets()[0], flags);
    EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument) << c.flag;
    EXPECT_NE(std::string(plan.status().message()).find(c.flag), std::string::npos)
        << plan.status();
  }
}

}  // namespace
}  // namespace stridewise
