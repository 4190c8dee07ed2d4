#include "benchmarks/harness/executor_run.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/harness/make_config.h"
#include "benchmarks/matmul/operation.h"
#include "benchmarks/transpose/operation.h"
#include "gtest/gtest.h"
#include "matmul/registry.h"
#include "transpose/registry.h"

namespace stridewise {
namespace {

Config Transpose(const char* name, std::vector<int64_t> extents, const Block& block = kNoBlock,
                 const std::string& type = "") {
  return MakeConfig(TransposeOperations(), name, std::move(extents), type, block);
}

Config Product(const char* name, std::vector<int64_t> extents, const Block& block = kNoBlock,
               const std::string& type = "") {
  return MakeConfig(MatMulOperation(), name, std::move(extents), type, block);
}

bool RunsOnExecutor(const Config& config) {
  return config.operation->OnExecutor(*config.implementation).ok();
}

uint64_t Sectors(const executor::Profile& profile, executor::EventKind kind) {
  return profile.Total(kind).sectors;
}

// In hundredths: ncu prints two decimals.
std::string Rounded(const std::string& cell) {
  double value = 0;
  return absl::SimpleAtod(cell, &value) ? absl::StrCat(std::lround(value * 100)) : "";
}

// What Nsight Compute read of kernels like these on an H200.
TEST(SetProfileColumnsTest, AsMeasuredOnAGpu) {
  const struct {
    Config config;
    const char* load_efficiency;  // Percent, in hundredths.
    const char* store_efficiency;
    const char* load_sectors;
    const char* store_sectors;
    const char* shared_load;  // Wavefronts a request, in hundredths.
    const char* shared_store;
    const char* shared_efficiency;
  } kCases[] = {
      {Transpose("copy_row", {512, 512}, {16, 16}), "10000", "10000", "32768", "32768", "", "", ""},
      {Transpose("naive_row", {512, 512}, {32, 8}), "10000", "1250", "32768", "262144", "", "", ""},
      {Transpose("naive_col", {512, 512}, {16, 16}), "2500", "10000", "131072", "32768", "", "",
       ""},
      {Transpose("tile_square", {512, 512}), "10000", "10000", "32768", "32768", "3200", "100",
       "606"},
      {Transpose("tile_unrolled", {512, 512}), "10000", "10000", "32768", "32768", "100", "100",
       "10000"},
      {Transpose("tile_unroll2_padded2_dynamic", {512, 512}, {16, 16}), "10000", "10000", "32768",
       "32768", "100", "200", "6667"},
      {Product("naive", {128, 128, 128}, {32, 8}), "8250", "10000", "327680", "2048", "", "", ""},
      {Product("naive", {128, 128, 128}, {16, 16}), "5625", "10000", "262144", "2048", "", "", ""},
      {Product("tiled", {128, 128, 128}), "10000", "10000", "16384", "2048", "100", "100", "5303"},
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

TEST(ProfileOnExecutorTest, EveryKernelAndTypeOfTheRegistriesPassesItsChecks) {
  for (const Operation* operation : {&TransposeOperations(), &MatMulOperation()}) {
    for (const Implementation* implementation : operation->implementations()) {
      for (const absl::string_view type : operation->types()) {
        if (type == "int") continue;  // The same work as float.
        const bool product = operation == &MatMulOperation();
        Config config = product ? Product(implementation->name.c_str(), {33, 18, 35})
                                : Transpose(implementation->name.c_str(), {33, 70});
        config.point.type = std::string(type);
        // Of what takes floats some takes them in another precision alone.
        for (const char* precision : {"tf32", "fp32_split", "fp32_medium", "bf16"}) {
          if (!product || operation->Takes(*implementation, config.point)) break;
          config.point.axes = {"nn", "1", "0", "asked", precision, "none"};
        }
        const absl::Status supported = operation->CheckSupported(*implementation, config.point);
        if (!product && !supported.ok()) config.point.extents = {70, 70};
        const absl::StatusOr<executor::Profile> profile = ProfileOnExecutor(config, /*seed=*/7);
        if (!RunsOnExecutor(config)) {
          EXPECT_EQ(profile.status().code(), absl::StatusCode::kUnimplemented) << Title(config);
        } else if (product && !supported.ok()) {
          EXPECT_EQ(profile.status().code(), absl::StatusCode::kInvalidArgument) << Title(config);
        } else {
          ASSERT_TRUE(profile.ok()) << Title(config) << ": " << profile.status();
          EXPECT_GT(Sectors(*profile, executor::EventKind::kGlobalStore), 0u) << Title(config);
        }
      }
    }
  }
}

// A batch moves as many times the sectors of one matrix, whose rows fill whole ones here.
TEST(ProfileOnExecutorTest, BatchesMoveAllOfTheirMatrices) {
  int batched = 0;
  for (const TransposeImplementation& implementation : TransposeImplementations()) {
    Config config = Transpose(implementation.name.c_str(), {64, 32});
    if (implementation.square_only) config.point.extents = {64, 64};
    Config batch = config;
    batch.point.batch = 3;
    if (!TransposeOperations().Takes(implementation, batch.point) || !RunsOnExecutor(config)) {
      continue;
    }
    ++batched;
    const absl::StatusOr<executor::Profile> one = ProfileOnExecutor(config, /*seed=*/7);
    const absl::StatusOr<executor::Profile> three = ProfileOnExecutor(batch, /*seed=*/7);
    ASSERT_TRUE(one.ok() && three.ok()) << Title(config) << one.status() << three.status();
    EXPECT_EQ(Sectors(*three, executor::EventKind::kGlobalStore),
              3 * Sectors(*one, executor::EventKind::kGlobalStore))
        << Title(config);
  }
  EXPECT_GE(batched, 10);
}

// The same of products, and that it is the form's matrices that are read.
TEST(ProfileOnExecutorTest, ProductsAreOfTheirForm) {
  int general = 0;
  for (const MatMulImplementation& implementation : MatMulImplementations()) {
    Config config = Product(implementation.name.c_str(), {64, 32, 16});
    if (!implementation.general || !RunsOnExecutor(config)) continue;
    if (!MatMulOperation().Takes(implementation, config.point)) continue;  // It takes no FP32.
    ++general;
    const auto sectors = [&](executor::EventKind kind) -> uint64_t {
      const absl::StatusOr<executor::Profile> profile = ProfileOnExecutor(config, /*seed=*/7);
      EXPECT_TRUE(profile.ok()) << Title(config) << profile.status();
      return profile.ok() ? Sectors(*profile, kind) : 0;
    };
    const uint64_t one = sectors(executor::EventKind::kGlobalStore);
    config.point.batch = 3;
    config.point.axes = {"tn", "2", "0", "asked", "fp32", "none"};
    EXPECT_EQ(sectors(executor::EventKind::kGlobalStore), 3 * one) << Title(config);
    config.point.axes = {"tn", "0", "0", "asked", "fp32", "none"};  // Nothing is read, then.
    EXPECT_EQ(sectors(executor::EventKind::kGlobalLoad), 0u) << Title(config);
    config.point.axes = {"tn", "0", "0.5", "asked", "fp32", "none"};  // The old C alone, all of it.
    EXPECT_GE(sectors(executor::EventKind::kGlobalLoad), 3u * 64 * 32 * 4 / 32) << Title(config);
  }
  EXPECT_GT(general, 0);
}

// The output is the input before the first run, and what is left of it before the next.
TEST(ExecutorRunTest, WorksInPlace) {
  const Config config = Transpose("in_place_square", {70, 70});
  absl::StatusOr<ExecutorRun> run = ExecutorRun::Create(config, /*seed=*/1, {});
  ASSERT_TRUE(run.ok()) << run.status();
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(run->Run().ok());
}

TEST(ExecutorRunTest, ProfilesTheLastRunOnly) {
  const Config config = Transpose("copy_row", {64, 64});
  absl::StatusOr<ExecutorRun> run = ExecutorRun::Create(config, /*seed=*/1, {});
  ASSERT_TRUE(run.ok()) << run.status();
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(run->Run().ok());
    EXPECT_EQ(run->launches().size(), 1u);
    EXPECT_EQ(Sectors(run->Profile(), executor::EventKind::kGlobalLoad), 64u * 64 * 4 / 32);
  }
}

TEST(ExecutorRunTest, WhatDoesNotFitIsResourceExhausted) {
  const Config config = Transpose("copy_row", {1000000, 1000000});
  EXPECT_EQ(ExecutorRun::Create(config, /*seed=*/1, {}).status().code(),
            absl::StatusCode::kResourceExhausted);
}

}  // namespace
}  // namespace stridewise
