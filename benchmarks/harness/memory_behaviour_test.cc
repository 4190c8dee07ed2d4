#include "benchmarks/harness/memory_behaviour.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "benchmarks/harness/make_config.h"
#include "benchmarks/matmul/operation.h"
#include "benchmarks/transpose/operation.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

Config Transpose(const char* name, std::vector<int64_t> extents, const Block& block = kNoBlock) {
  return MakeConfig(TransposeOperations(), name, std::move(extents), "", block);
}

Config Product(const char* name, std::vector<int64_t> extents) {
  return MakeConfig(MatMulOperation(), name, std::move(extents));
}

TEST(EstimatedAccessesTest, CountsWholeBlocks) {
  const struct {
    Config config;
    double want;
  } kCases[] = {
      {Transpose("copy_row", {64, 96}), 4.0 * 64 * 96},
      {Transpose("copy_row", {1, 1}), 4.0 * 32 * 32},
      {Transpose("copy_row", {1, 1}, {256, 1}), 4.0 * 256 * 256},
      {Transpose("copy_row", {0, 5}), 0},
      {Product("tiled", {256, 256, 256}), kMaxAutoAccesses},
      {Product("register_tile_1d", {256, 256, 256}), kMaxAutoAccesses},
      {Product("tiled", {257, 1, 1}), 2.0 * 288 * 32 * 32},
  };
  for (const auto& c : kCases) EXPECT_EQ(EstimatedAccesses(c.config), c.want) << Title(c.config);
  Config batch = Transpose("copy_row", {64, 96});
  batch.point.batch = 10;
  EXPECT_EQ(EstimatedAccesses(batch), 40.0 * 64 * 96);
  Config products = Product("tiled", {257, 1, 1});
  products.point.batch = 10;
  EXPECT_EQ(EstimatedAccesses(products), 20.0 * 288 * 32 * 32);
}

TEST(FillMemoryBehaviourTest, FillsRowsOfKernelsAsAskedFor) {
  const struct {
    Config config;
    MemoryBehaviour mode;
    RowStatus status;
    bool filled;
  } kCases[] = {
      {Transpose("copy_row", {64, 64}), MemoryBehaviour::kAuto, RowStatus::kOk, true},
      {Transpose("copy_row", {64, 64}), MemoryBehaviour::kNever, RowStatus::kOk, false},
      {Transpose("copy_row", {64, 64}), MemoryBehaviour::kAuto, RowStatus::kSkipped, true},
      {Transpose("copy_row", {0, 64}), MemoryBehaviour::kAlways, RowStatus::kOk, false},
      {Transpose("eigen", {64, 64}), MemoryBehaviour::kAlways, RowStatus::kOk, false},
      {Transpose("cublas_geam", {64, 64}), MemoryBehaviour::kAlways, RowStatus::kOk, false},
      // Threads beyond the edges count: these are as many as of a large square.
      {Transpose("copy_row", {1, 65536}, {1024, 1}), MemoryBehaviour::kAuto, RowStatus::kOk, false},
      {Transpose("copy_row", {1, 65536}, {1024, 1}), MemoryBehaviour::kAlways, RowStatus::kOk,
       true},
      {Product("naive", {64, 64, 64}), MemoryBehaviour::kAuto, RowStatus::kOk, true},
      {Product("naive", {1024, 1024, 1024}), MemoryBehaviour::kAuto, RowStatus::kOk, false},
      // What no memory can hold leaves the row as it was.
      {Transpose("copy_row", {1000000, 1000000}), MemoryBehaviour::kAlways, RowStatus::kOutOfMemory,
       false},
  };
  for (const auto& c : kCases) {
    SweepOptions options;
    options.memory_behaviour = c.mode;
    ResultRow row;
    row.SetStatus(c.status);
    FillMemoryBehaviour(c.config, options, &row);
    EXPECT_EQ(!row.Get(Column::kLoadTransactions).empty(), c.filled) << Title(c.config);
    EXPECT_EQ(row.Get(Column::kStatus), RowStatusName(c.status)) << Title(c.config);
  }
}

// What C held before is an input, which is then read.
TEST(FillMemoryBehaviourTest, ProductsWithBetaReadTheOldC) {
  Config config = Product("general_tile", {64, 64, 64});
  double loads[2] = {};
  for (const int i : {0, 1}) {
    config.point.axes[2] = i == 0 ? "0" : "0.5";
    ResultRow row;
    row.SetStatus(RowStatus::kOk);
    FillMemoryBehaviour(config, SweepOptions(), &row);
    EXPECT_EQ(row.Get(Column::kStatus), "ok") << row.Get(Column::kMessage);
    EXPECT_TRUE(absl::SimpleAtod(row.Get(Column::kLoadTransactions), &loads[i]));
  }
  EXPECT_EQ(loads[1], loads[0] + 64 * 64 * 4 / 32);
}

TEST(FillMemoryBehaviourTest, ARowThatWasCutShortStaysAsItIs) {
  ResultRow row;
  FillMemoryBehaviour(Transpose("copy_row", {64, 64}), SweepOptions(), &row);
  EXPECT_EQ(row, ResultRow());
}

}  // namespace
}  // namespace stridewise
