#include "benchmarks/harness/kernel_config.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

KernelPlanFlags Flags(const std::string& operation, const std::string& kernels) {
  KernelPlanFlags flags;
  flags.operation = operation;
  flags.kernels = kernels;
  return flags;
}

std::vector<KernelConfig> Plan(const KernelPlanFlags& flags, int64_t default_size = 64) {
  const absl::StatusOr<std::vector<KernelConfig>> plan = MakeKernelPlan(flags, default_size);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? *plan : std::vector<KernelConfig>();
}

TEST(KernelConfigTest, TheDefaultSizeIsASquare) {
  EXPECT_EQ(ShapeText(Plan(Flags("transpose", "naive_row"))[0]), "64x64");
  EXPECT_EQ(ShapeText(Plan(Flags("matmul", "naive"))[0]), "64x64x64");
  KernelPlanFlags flags = Flags("matmul", "naive");
  flags.shapes = "3x5x7";
  const std::vector<KernelConfig> plan = Plan(flags);
  ASSERT_EQ(plan.size(), 1u);
  EXPECT_EQ(ShapeText(plan[0]), "3x5x7");
}

// What ncu_run relies on: the flags of a configuration make it again, and nothing else.
TEST(KernelConfigTest, PlanFlagsMakeTheSameConfiguration) {
  std::vector<KernelConfig> configs;
  for (const char* operation : {"transpose", "matmul"}) {
    KernelPlanFlags flags = Flags(operation, "");
    flags.shapes = flags.operation == "matmul" ? "3x5x7" : "3x5";
    flags.types = "double";
    flags.blocks = "8x4,64x2";
    for (const KernelConfig& config : Plan(flags)) configs.push_back(config);
  }
  ASSERT_GT(configs.size(), 20u);
  for (const KernelConfig& config : configs) {
    KernelPlanFlags flags;
    for (const std::string& flag : PlanFlags(config)) {
      const std::vector<std::string> parts = absl::StrSplit(flag, '=');
      ASSERT_EQ(parts.size(), 2u) << flag;
      if (parts[0] == "--operation") flags.operation = parts[1];
      if (parts[0] == "--kernels") flags.kernels = parts[1];
      if (parts[0] == "--shapes") flags.shapes = parts[1];
      if (parts[0] == "--types") flags.types = parts[1];
      if (parts[0] == "--blocks") flags.blocks = parts[1];
    }
    const std::vector<KernelConfig> again = Plan(flags);
    ASSERT_EQ(again.size(), 1u) << Title(config);
    EXPECT_EQ(Title(again[0]), Title(config));
  }
}

TEST(KernelConfigTest, WhatCanBeAskedOfAConfiguration) {
  const struct {
    const char* operation;
    const char* kernel;
    bool has_kernel;
    bool runs_on_executor;
  } kCases[] = {
      {"transpose", "tile_square", true, true}, {"transpose", "cublas_geam", true, false},
      {"transpose", "memcpy", false, false},    {"transpose", "eigen", false, false},
      {"transpose", "auto", true, true},        {"transpose", "in_place_square", true, true},
      {"matmul", "tiled", true, true},          {"matmul", "cublas", true, false},
      {"matmul", "cpu_naive", false, false},
  };
  for (const auto& c : kCases) {
    const KernelConfig config = Plan(Flags(c.operation, c.kernel))[0];
    EXPECT_EQ(HasKernel(config), c.has_kernel) << c.kernel;
    EXPECT_EQ(RunsOnExecutor(config), c.runs_on_executor) << c.kernel;
    EXPECT_EQ(ImplementationName(config), c.kernel);
    EXPECT_FALSE(IsEmpty(config));
  }
}

TEST(KernelConfigTest, AResultWithoutElementsIsEmpty) {
  const struct {
    const char* operation;
    const char* kernel;
    const char* shape;
    bool empty;
  } kCases[] = {
      {"transpose", "naive_row", "0x3", true}, {"transpose", "naive_row", "3x0", true},
      {"matmul", "naive", "0x3x3", true},      {"matmul", "naive", "3x0x3", true},
      {"matmul", "naive", "3x3x0", false},  // A result of zeros.
  };
  for (const auto& c : kCases) {
    KernelPlanFlags flags = Flags(c.operation, c.kernel);
    flags.shapes = c.shape;
    EXPECT_EQ(IsEmpty(Plan(flags)[0]), c.empty) << c.shape;
  }
}

TEST(KernelConfigTest, BadFlagsAreNamed) {
  const struct {
    KernelPlanFlags flags;
    const char* name;
  } kCases[] = {
      {Flags("copy", ""), "--operation"},
      {Flags("transpose", "nonsense"), "--kernels"},
      {Flags("matmul", "nonsense"), "--kernels"},
      {{"matmul", "", "", "3x4", "", ""}, "--shapes"},
      {{"matmul", "", "", "", "", "half"}, "--types"},
  };
  for (const auto& c : kCases) {
    const absl::Status status = MakeKernelPlan(c.flags, 4).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(absl::StartsWith(status.message(), c.name)) << status;
  }
}

}  // namespace
}  // namespace stridewise
