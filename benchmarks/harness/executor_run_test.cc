#include <cmath>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/harness/executor_profile.h"
#include "benchmarks/harness/kernel_config.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

KernelConfig Config(const std::string& operation, const std::string& kernel,
                    const std::string& shape, const std::string& block,
                    const std::string& type = "float") {
  KernelPlanFlags flags;
  flags.operation = operation;
  flags.kernels = kernel;
  flags.shapes = shape;
  flags.blocks = block;
  flags.types = type;
  return MakeKernelPlan(flags, 1).value().front();
}

// In hundredths: ncu prints two decimals.
std::string Rounded(const std::string& cell) {
  double value = 0;
  return absl::SimpleAtod(cell, &value) ? absl::StrCat(std::lround(value * 100)) : "";
}

// What Nsight Compute read of kernels like these on an H200.
TEST(SetProfileColumnsTest, AsMeasuredOnAGpu) {
  const struct {
    KernelConfig config;
    const char* load_efficiency;  // Percent, in hundredths.
    const char* store_efficiency;
    const char* load_sectors;
    const char* store_sectors;
    const char* shared_load;  // Wavefronts a request, in hundredths.
    const char* shared_store;
    const char* shared_efficiency;
  } kCases[] = {
      {Config("transpose", "copy_row", "512x512", "16x16"), "10000", "10000", "32768", "32768", "",
       "", ""},
      {Config("transpose", "naive_row", "512x512", "32x8"), "10000", "1250", "32768", "262144", "",
       "", ""},
      {Config("transpose", "naive_col", "512x512", "16x16"), "2500", "10000", "131072", "32768", "",
       "", ""},
      {Config("transpose", "tile_square", "512x512", ""), "10000", "10000", "32768", "32768",
       "3200", "100", "606"},
      {Config("transpose", "tile_unrolled", "512x512", ""), "10000", "10000", "32768", "32768",
       "100", "100", "10000"},
      {Config("transpose", "tile_unroll2_padded2_dynamic", "512x512", "16x16"), "10000", "10000",
       "32768", "32768", "100", "200", "6667"},
      {Config("matmul", "naive", "128x128x128", "32x8"), "8250", "10000", "327680", "2048", "", "",
       ""},
      {Config("matmul", "naive", "128x128x128", "16x16"), "5625", "10000", "262144", "2048", "", "",
       ""},
      {Config("matmul", "tiled", "128x128x128", ""), "10000", "10000", "16384", "2048", "100",
       "100", "5303"},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(Title(c.config));
    const absl::StatusOr<executor::Profile> profile = ProfileOnExecutor(c.config, /*seed=*/1);
    ASSERT_TRUE(profile.ok()) << profile.status();
    ResultRow row;
    SetProfileColumns(*profile, &row);
    EXPECT_EQ(Rounded(row.Get(Column::kLoadEfficiency)), c.load_efficiency);
    EXPECT_EQ(Rounded(row.Get(Column::kStoreEfficiency)), c.store_efficiency);
    EXPECT_EQ(row.Get(Column::kLoadTransactions), c.load_sectors);
    EXPECT_EQ(row.Get(Column::kStoreTransactions), c.store_sectors);
    EXPECT_EQ(Rounded(row.Get(Column::kSharedLoadWavefrontsPerRequest)), c.shared_load);
    EXPECT_EQ(Rounded(row.Get(Column::kSharedStoreWavefrontsPerRequest)), c.shared_store);
    EXPECT_EQ(Rounded(row.Get(Column::kSharedEfficiency)), c.shared_efficiency);
    EXPECT_EQ(row.Get(Column::kAchievedOccupancy), "");
    EXPECT_EQ(row.Get(Column::kBranchEfficiency), "");
  }
}

bool TakesItsType(const KernelConfig& config) {
  const auto* product = std::get_if<MatMulConfig>(&config);
  return product == nullptr || product->type == ElementType::kFloat ||
         TakesType(*product->implementation, ElementType::kDouble);
}

TEST(ProfileOnExecutorTest, EveryKernelAndTypeOfTheRegistriesPassesItsChecks) {
  for (const char* operation : {"transpose", "matmul"}) {
    KernelPlanFlags flags;
    flags.operation = operation;
    flags.shapes = flags.operation == "matmul" ? "33x18x35" : "33x70";
    flags.types = flags.operation == "matmul" ? "float,double" : "u8,u16,float,double,float4";
    std::vector<KernelConfig> plan = MakeKernelPlan(flags, 1).value();
    for (KernelConfig& config : plan) {
      if (auto* transpose = std::get_if<TransposeConfig>(&config)) {
        if (transpose->implementation->square_only) transpose->shape = {70, 70};
      }
      const absl::StatusOr<executor::Profile> profile = ProfileOnExecutor(config, /*seed=*/7);
      if (!RunsOnExecutor(config)) {
        EXPECT_EQ(profile.status().code(), absl::StatusCode::kUnimplemented) << Title(config);
        continue;
      }
      if (!TakesItsType(config)) {
        EXPECT_EQ(profile.status().code(), absl::StatusCode::kInvalidArgument) << Title(config);
        continue;
      }
      ASSERT_TRUE(profile.ok()) << Title(config) << ": " << profile.status();
      EXPECT_GT(profile->Total(executor::EventKind::kGlobalStore).sectors, 0u) << Title(config);
    }
  }
}

// A batch moves as many times the sectors of one matrix, whose rows fill whole ones here.
TEST(ProfileOnExecutorTest, BatchesMoveAllOfTheirMatrices) {
  for (const TransposeImplementation& implementation : TransposeImplementations()) {
    TransposeConfig config = {&implementation, {64, 32}, DataType(), implementation.default_block};
    if (implementation.square_only) config.shape = {64, 64};
    if (!TakesBatches(implementation) || !RunsOnExecutor(config)) continue;
    uint64_t sectors[2] = {};
    for (const int i : {0, 1}) {
      config.batch = 1 + 2 * i;
      const absl::StatusOr<executor::Profile> profile = ProfileOnExecutor(config, /*seed=*/7);
      ASSERT_TRUE(profile.ok()) << Title(config) << ": " << profile.status();
      sectors[i] = profile->Total(executor::EventKind::kGlobalStore).sectors;
    }
    EXPECT_EQ(sectors[1], 3 * sectors[0]) << Title(config);
  }
}

// The same of products, and that it is the form's matrices that are read.
TEST(ProfileOnExecutorTest, ProductsAreOfTheirForm) {
  for (const MatMulImplementation& implementation : MatMulImplementations()) {
    MatMulConfig config = {&implementation, {64, 32, 16}};
    config.block = implementation.default_block;
    if (!implementation.general || !RunsOnExecutor(config)) continue;
    const absl::StatusOr<executor::Profile> one = ProfileOnExecutor(config, /*seed=*/7);
    config.form.layout.transpose_a = true;
    config.form.alpha = 2;
    config.form.batch = 3;
    const absl::StatusOr<executor::Profile> batch = ProfileOnExecutor(config, /*seed=*/7);
    ASSERT_TRUE(one.ok() && batch.ok()) << Title(config) << one.status() << batch.status();
    EXPECT_EQ(batch->Total(executor::EventKind::kGlobalStore).sectors,
              3 * one->Total(executor::EventKind::kGlobalStore).sectors)
        << Title(config);
    config.form.alpha = 0;  // Nothing is read, then.
    const absl::StatusOr<executor::Profile> nothing = ProfileOnExecutor(config, /*seed=*/7);
    ASSERT_TRUE(nothing.ok()) << Title(config) << nothing.status();
    EXPECT_EQ(nothing->Total(executor::EventKind::kGlobalLoad).sectors, 0u) << Title(config);
  }
}

// The output is the input before the first run, and what is left of it before the next.
TEST(ExecutorRunTest, WorksInPlace) {
  const KernelConfig config = Config("transpose", "in_place_square", "70x70", "");
  absl::StatusOr<ExecutorRun> run = ExecutorRun::Create(config, /*seed=*/1, {});
  ASSERT_TRUE(run.ok()) << run.status();
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(run->Run().ok());
}

TEST(ExecutorRunTest, ProfilesTheLastRunOnly) {
  const KernelConfig config = Config("transpose", "copy_row", "64x64", "");
  absl::StatusOr<ExecutorRun> run = ExecutorRun::Create(config, /*seed=*/1, {});
  ASSERT_TRUE(run.ok()) << run.status();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(run->Run().ok());
    EXPECT_EQ(run->launches().size(), 1u);
    EXPECT_EQ(run->Profile().Total(executor::EventKind::kGlobalLoad).sectors, 64u * 64 * 4 / 32);
  }
}

TEST(ExecutorRunTest, WhatDoesNotFitIsResourceExhausted) {
  const KernelConfig config = Config("transpose", "copy_row", "1000000x1000000", "");
  EXPECT_EQ(ExecutorRun::Create(config, /*seed=*/1, {}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace stridewise
