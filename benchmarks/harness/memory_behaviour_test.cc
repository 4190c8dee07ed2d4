#include "benchmarks/harness/memory_behaviour.h"

#include <string>
#include <variant>

#include "benchmarks/harness/kernel_config.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

KernelConfig Config(const std::string& operation, const std::string& kernel,
                    const std::string& shape, const std::string& block = "") {
  KernelPlanFlags flags;
  flags.operation = operation;
  flags.kernels = kernel;
  flags.shapes = shape;
  flags.blocks = block;
  return MakeKernelPlan(flags, 1).value().front();
}

TEST(EstimatedAccessesTest, CountsWholeBlocks) {
  const struct {
    KernelConfig config;
    double want;
  } kCases[] = {
      {Config("transpose", "copy_row", "64x96"), 4.0 * 64 * 96},
      {Config("transpose", "copy_row", "1x1"), 4.0 * 32 * 32},
      {Config("transpose", "copy_row", "1x1", "256x1"), 4.0 * 256 * 256},
      {Config("transpose", "copy_row", "0x5"), 0},
      {Config("matmul", "tiled", "256x256x256"), kMaxAutoAccesses},
      {Config("matmul", "register_tile_1d", "256x256x256"), kMaxAutoAccesses},
      {Config("matmul", "tiled", "257x1x1"), 2.0 * 288 * 32 * 32},
  };
  for (const auto& c : kCases) EXPECT_EQ(EstimatedAccesses(c.config), c.want) << Title(c.config);
  auto batch = std::get<TransposeConfig>(Config("transpose", "copy_row", "64x96"));
  batch.batch = 10;
  EXPECT_EQ(EstimatedAccesses(batch), 40.0 * 64 * 96);
  auto products = std::get<MatMulConfig>(Config("matmul", "tiled", "257x1x1"));
  products.form.batch = 10;
  EXPECT_EQ(EstimatedAccesses(products), 20.0 * 288 * 32 * 32);
}

TEST(FillMemoryBehaviourTest, FillsRowsOfKernelsAsAskedFor) {
  const struct {
    KernelConfig config;
    MemoryBehaviour mode;
    RowStatus status;
    bool filled;
  } kCases[] = {
      {Config("transpose", "copy_row", "64x64"), MemoryBehaviour::kAuto, RowStatus::kOk, true},
      {Config("transpose", "copy_row", "64x64"), MemoryBehaviour::kNever, RowStatus::kOk, false},
      {Config("transpose", "copy_row", "64x64"), MemoryBehaviour::kAuto, RowStatus::kSkipped, true},
      {Config("transpose", "copy_row", "0x64"), MemoryBehaviour::kAlways, RowStatus::kOk, false},
      {Config("transpose", "eigen", "64x64"), MemoryBehaviour::kAlways, RowStatus::kOk, false},
      {Config("transpose", "cublas_geam", "64x64"), MemoryBehaviour::kAlways, RowStatus::kOk,
       false},
      // Threads beyond the edges count: these are as many as of a large square.
      {Config("transpose", "copy_row", "1x65536", "1024x1"), MemoryBehaviour::kAuto, RowStatus::kOk,
       false},
      {Config("transpose", "copy_row", "1x65536", "1024x1"), MemoryBehaviour::kAlways,
       RowStatus::kOk, true},
      {Config("matmul", "naive", "64x64x64"), MemoryBehaviour::kAuto, RowStatus::kOk, true},
      {Config("matmul", "naive", "1024x1024x1024"), MemoryBehaviour::kAuto, RowStatus::kOk, false},
      // What no memory can hold leaves the row as it was.
      {Config("transpose", "copy_row", "1000000x1000000"), MemoryBehaviour::kAlways,
       RowStatus::kOutOfMemory, false},
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

// The executor's C holds nothing before.
TEST(FillMemoryBehaviourTest, ProductsWithBetaStayEmpty) {
  auto config = std::get<MatMulConfig>(Config("matmul", "general_tile", "64x64x64"));
  for (const double beta : {0.0, 0.5}) {
    config.form.beta = beta;
    ResultRow row;
    row.SetStatus(RowStatus::kOk);
    FillMemoryBehaviour(config, SweepOptions(), &row);
    EXPECT_EQ(row.Get(Column::kLoadTransactions).empty(), beta != 0);
    EXPECT_EQ(row.Get(Column::kStatus), "ok") << row.Get(Column::kMessage);
  }
}

TEST(FillMemoryBehaviourTest, ARowThatWasCutShortStaysAsItIs) {
  ResultRow row;
  FillMemoryBehaviour(Config("transpose", "copy_row", "64x64"), SweepOptions(), &row);
  EXPECT_EQ(row, ResultRow());
}

}  // namespace
}  // namespace stridewise
