// Kernels on the host executor where what runs depends on a plan: what `auto` chooses, tiles of
// `skinny`, loads by the TMA.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "common/base/case_random.h"
#include "common/executor/executor.h"
#include "common/executor/expect_on_host_executor.h"
#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/dispatch.h"
#include "matmul/host_executor.h"
#include "matmul/registry.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"
#include "matmul/test/run_on_executor.h"

namespace stridewise {
namespace {

// What the tuning that ships for an H200 chooses, at shapes that are small enough for the executor.
TEST(MatMulOnHostExecutor, AutoRunsWhatIsChosen) {
  std::vector<MatMulCase> cases = {
      {7, 5, 3, 1},
      {3, 40, 600, 1},
      {40, 33, 200, 1},
      {8, 4128, 68, 0},
      {8, 8512, 33, 0},
      {64, 64, 1856, 1},
      {8193, 128, 5, 0},
      {4097, 256, 5, 0},
      {40, 7, 100, 1, false, true, 1, 0, /*batch=*/40},
      {1, 40, 100, 1},
      {9, 40, 1030, 1},
      {2, 2, 200, int64_t{1} << 23, false, /*transpose_b=*/true},
  };
  if (IsExhaustive()) cases.push_back({64, 5760, 142, 0});  // 52 million multiplications.
  const DeviceModel h200 = H200Model();
  const auto on_host = OnHostExecutor(*FindMatMulImplementation("auto"));
  ASSERT_TRUE(on_host.ok()) << on_host.status();
  auto executor = executor::Executor::Create({});
  ASSERT_TRUE(executor.ok()) << executor.status();
  std::set<std::string> chosen;
  for (const MatMulCase& c : cases) {
    MatMulTestProblem<float> problem(c);
    const std::string name =
        ChooseMatMul(problem.args(), h200, RunsOn::kHostExecutor).implementation;
    chosen.insert(name);
    const absl::Status status =
        RunOnExecutor(*on_host, kNoBlock, 0, executor->get(), &problem, &h200);
    ASSERT_TRUE(status.ok()) << name << ": " << status;
    EXPECT_TRUE(problem.Check().ok()) << name << ": " << problem.Check();
  }
  EXPECT_GE(chosen.size(), 4u);
}

// Shared memory of `skinny` ends with the last chunk where no stage is used twice.
TEST(MatMulOnHostExecutor, SkinnyHasWhatItCopies) {
  const auto on_host = OnHostExecutor(*FindMatMulImplementation("skinny"));
  ASSERT_TRUE(on_host.ok()) << on_host.status();
  for (const int64_t k : {1, 4, 7, 31, 32, 33, 39, 52, 64, 65, 97}) {
    for (const int64_t cols : {129, 132}) {
      for (const bool transposed : {false, true}) {
        // As many rows of another operand as each of the tiles is for.
        for (const int64_t rows : {5, 12, 20, 40}) {
          const MatMulCase c = {cols, rows, k, 0, transposed, !transposed};
          MatMulTestProblem<float> problem(c);
          auto executor = executor::Executor::Create({});
          ASSERT_TRUE(executor.ok()) << executor.status();
          const absl::Status status =
              RunOnExecutor(*on_host, kNoBlock, 0, executor->get(), &problem);
          ASSERT_TRUE(status.ok()) << c << ": " << status;
          EXPECT_TRUE(problem.Check().ok()) << c << ": " << problem.Check();
        }
      }
    }
  }
}

// The cases of all kernels seldom have what the TMA can address; else these run others.
TEST(MatMulOnHostExecutor, TheTmaLoadsTiles) {
  const struct {
    const char* name;
    MatMulCase c;
    const char* kernel;
  } cases[] = {
      {"warp_specialized", {132, 260, 72, 0, /*transpose_a=*/true}, "WarpSpecialized"},
      {"tma_128x32", {132, 20, 136, 0}, "TmaTiles"},
      {"tma_32x128", {20, 132, 136, 0, false, /*transpose_b=*/true}, "TmaTiles"},
      {"tma_128x32", {100, 28, 648, 0}, "TmaClusterTiles"},
      {"tma_32x128", {28, 100, 648, 0, true}, "TmaClusterTiles"},
      {"tma_128x32", {100, 28, 8000, 0}, "TmaClusterTiles"},  // And a second one for the tail.
  };
  const DeviceModel h200 = H200Model();
  for (const auto& [name, c, kernel] : cases) {
    const auto on_host = OnHostExecutor(*FindMatMulImplementation(name));
    auto executor = executor::Executor::Create({});
    ASSERT_TRUE(on_host.ok() && executor.ok());
    MatMulTestProblem<float> problem(c);
    const bool clusters = std::string(kernel) == "TmaClusterTiles";
    const absl::Status status =
        RunOnExecutor(*on_host, kNoBlock, 0, executor->get(), &problem, clusters ? &h200 : nullptr);
    ASSERT_TRUE(status.ok()) << name << ": " << status;
    EXPECT_TRUE(problem.Check().ok()) << name << ": " << problem.Check();
    const std::string launched = executor::Executor::KernelName((*executor)->launches().front());
    EXPECT_NE(launched.find(kernel), std::string::npos) << name << " ran " << launched;
    if (c.k == 8000) {
      EXPECT_EQ((*executor)->launches().size(), 2U) << name;
    }
  }
}

TEST(MatMulOnHostExecutor, IsThereForWhatTheRegistrySays) {
  ExpectOnHostExecutorWhatTheRegistrySays(MatMulImplementations());
}

}  // namespace
}  // namespace stridewise
