// The grids that plans make of a DeviceModel, on the host executor: those that ship for an H200,
// and those of the small model, which splits what is small.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/executor/executor.h"
#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/host_executor.h"
#include "matmul/registry.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"
#include "matmul/test/run_on_executor.h"

namespace stridewise {
namespace {

using Grids = std::vector<std::vector<int64_t>>;

// Runs the product with the workspace that the plan asks for, checks it, and returns the grids.
Grids GridsOf(const std::string& name, const MatMulCase& c, const DeviceModel* device) {
  const auto implementation = OnHostExecutor(*FindMatMulImplementation(name));
  EXPECT_TRUE(implementation.ok()) << implementation.status();
  auto executor = executor::Executor::Create({});
  EXPECT_TRUE(executor.ok()) << executor.status();
  MatMulTestProblem<float> problem(c);
  MatMulArgs args = problem.args();
  args.device_model = device;
  const absl::Status status =
      RunOnExecutor(*implementation, kNoBlock, MatMulWorkspaceBytes(*implementation, args),
                    executor->get(), &problem, device);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_TRUE(problem.Check().ok()) << problem.Check();
  Grids grids;
  for (const executor::LaunchReport& launch : (*executor)->launches()) {
    grids.push_back({launch.grid.x, launch.grid.y, launch.grid.z});
  }
  return grids;
}

constexpr DeviceModel kH200 = H200Model();
constexpr DeviceModel kSmall = SmallModel();

// Four tiles of eight k steps. On an H200 all 264 resident blocks may have units, of two steps at
// least: 2 and the cost of 3 are less than 8.
TEST(MatMulPlanTest, StreamKSplitsTiles) {
  const MatMulCase c = {64, 64, 1024, 0};
  EXPECT_EQ(GridsOf("stream_k_32x32", c, &kH200), (Grids{{16, 1, 1}, {4, 4, 1}}));
  EXPECT_EQ(GridsOf("stream_k_32x32", c, &kSmall), (Grids{{8, 1, 1}, {4, 4, 1}}));
}

// Four tiles of four k steps: 2 and the cost of 3 are more than 4. The small model's cost is 0.
TEST(MatMulPlanTest, StreamKLeavesTilesWholeWhereSplittingCostsMore) {
  const MatMulCase c = {64, 64, 512, 0};
  EXPECT_EQ(GridsOf("stream_k_32x32", c, &kH200), (Grids{{4, 1, 1}}));
  EXPECT_EQ(GridsOf("stream_k_32x32", c, &kSmall), (Grids{{8, 1, 1}, {4, 4, 1}}));
}

// 12 tiles of one k step for 8 resident blocks, and for 264: one step is never split.
TEST(MatMulPlanTest, StreamKHasABlockForEachWholeTile) {
  const MatMulCase c = {96, 128, 100, 0};
  EXPECT_EQ(GridsOf("stream_k_32x32", c, &kH200), (Grids{{12, 1, 1}}));
  EXPECT_EQ(GridsOf("stream_k_32x32", c, &kSmall), (Grids{{12, 1, 1}}));
}

// 11 tiles of three k steps. The small model's 8 blocks compute one round of whole tiles, and four
// units of two or three steps the other three tiles.
TEST(MatMulPlanTest, StreamKSplitsTheTilesOfTheLastRound) {
  const MatMulCase c = {352, 32, 384, 0};
  EXPECT_EQ(GridsOf("stream_k_32x32", c, &kH200), (Grids{{11, 1, 1}}));
  EXPECT_EQ(GridsOf("stream_k_32x32", c, &kSmall), (Grids{{8, 1, 1}, {4, 1, 1}, {4, 3, 1}}));
}

// Two tiles of a row times a matrix, 128 KB of it each. A further part of k costs the time of 256
// KB on an H200, and of 1 KB on the small model, whose 8 blocks then have a part of a tile each.
// 129 elements are one more than a block of the second kernel adds up.
TEST(MatMulPlanTest, ThinSplitsKWhereThatPays) {
  const MatMulCase c = {1, 64, 1024, 0};
  EXPECT_EQ(GridsOf("thin", c, &kH200), (Grids{{2, 1, 1}}));
  EXPECT_EQ(GridsOf("thin", c, &kSmall), (Grids{{2, 4, 1}, {1, 1, 1}}));
  EXPECT_EQ(GridsOf("thin", {3, 43, 577, 0}, &kSmall), (Grids{{4, 1, 1}, {2, 1, 1}}));
}

// A tile of 128 x 256 for the bulk, and `thin` for the row and the column beyond it.
TEST(MatMulPlanTest, RaggedRunsItsPartsThroughTheRegistry) {
  const MatMulCase c = {129 + 128, 257, 8, 0};
  EXPECT_EQ(GridsOf("ragged", c, &kH200), (Grids{{2, 1, 1}, {9, 1, 1}, {8, 1, 1}}));
}

// No model is the small one, here.
TEST(MatMulPlanTest, TheHostExecutorIsASmallDevice) {
  const MatMulCase c = {64, 64, 512, 0};
  EXPECT_EQ(GridsOf("stream_k_32x32", c, nullptr), GridsOf("stream_k_32x32", c, &kSmall));
}

}  // namespace
}  // namespace stridewise
