// The kernels of tensor cores that the host executor runs, with all its checks on, in every type
// that they take.

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "common/base/case_random.h"
#include "common/base/fp8_types.h"
#include "common/base/half_types.h"
#include "common/executor/executor.h"
#include "common/executor/two_executors.h"
#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/host_executor.h"
#include "matmul/reference.h"
#include "matmul/registry.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"
#include "matmul/test/random_cases.h"
#include "matmul/test/run_on_executor.h"

namespace stridewise {
namespace {

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const MatMulImplementation& implementation : MatMulImplementations()) {
    if (implementation.executor == Executor::kHostExecutable && !IsForFp32(implementation)) {
      names.push_back(implementation.name);
    }
  }
  return names;
}

class TensorExecutorTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const auto implementation = OnHostExecutor(*FindMatMulImplementation(GetParam()));
    ASSERT_TRUE(implementation.ok()) << implementation.status();
    implementation_ = *implementation;
    auto executors = executor::TwoExecutors();
    ASSERT_TRUE(executors.ok()) << executors.status();
    executors_ = *std::move(executors);
  }

  template <typename T, typename Out>
  bool Takes() const {
    MatMulArgs args;
    args.a.type = args.b.type = kElementTypeOf<T>;
    args.c.type = kElementTypeOf<Out>;
    return FindTypes(implementation_, args) != nullptr;
  }

  // Tiles that are cut on all sides, with vectors and without, and of the cases of all kernels
  // every twentieth for the first types of an operand. Exhaustively every tenth for the first types
  // and every fiftieth for the others: an interpreted product costs a hundred times a compiled one.
  std::vector<MatMulCase> Cases(bool first_types) const {
    const std::vector<MatMulCase> all = MatMulCasesFor(implementation_);
    std::vector<MatMulCase> some = {{65, 67, 71, 1}, {72, 136, 40, 0}};
    if (!first_types && !IsExhaustive()) return some;
    const size_t step = first_types ? (IsExhaustive() ? 10 : 20) : 50;
    for (size_t i = 0; i < all.size(); i += step) some.push_back(all[i]);
    return some;
  }

  // Every eighth time on both executors, whose results and profiles are the same.
  template <typename T, typename Out>
  void RunCase(MatMulCase c, const MatMulScales& scales = {}) {
    if (std::is_same_v<T, float>) c.precision = implementation_.precisions.front();
    const size_t turn = turn_++;
    std::vector<Out> first;
    for (size_t i = 0; i < executors_.size(); ++i) {
      const bool both = turn % 8 == 0;
      if (!both && i != turn % 2) continue;
      const auto& executor = executors_[i];
      MatMulTestProblem<T, Out> problem(c);
      problem.SetScales(scales);
      executor->ClearLaunches();
      const absl::Status status =
          RunOnExecutor(implementation_, kNoBlock, 0, executor.get(), &problem);
      ASSERT_TRUE(status.ok()) << c << ": " << status;
      const absl::Status check =
          problem.Check(nullptr, AccuracyOf(implementation_, problem.args()));
      ASSERT_TRUE(check.ok()) << c << ": " << check;
      const std::vector<Out>& result = problem.c_with_guards();
      if (first.empty()) first = result;
      ASSERT_EQ(std::memcmp(result.data(), first.data(), first.size() * sizeof(Out)), 0) << c;
      if (!both || executor->launches().empty()) continue;
      ASSERT_TRUE(executor->launches().back().profile ==
                  executors_.front()->launches().back().profile)
          << c;
    }
  }

  template <typename T, typename Out>
  void RunCases(bool first_types = false) {
    if (!Takes<T, Out>()) GTEST_SKIP() << "other types";
    for (const MatMulCase& c : Cases(first_types)) {
      if (std::is_integral_v<Out> && c.alpha != std::trunc(c.alpha)) continue;
      RunCase<T, Out>(c);
      if (HasFatalFailure()) return;
    }
  }

  MatMulImplementation implementation_;
  std::vector<std::unique_ptr<executor::Executor>> executors_;
  size_t turn_ = 0;
};

TEST_P(TensorExecutorTest, Bf16) { RunCases<Bf16, Bf16>(true); }
TEST_P(TensorExecutorTest, Bf16ToFloat) { RunCases<Bf16, float>(); }
TEST_P(TensorExecutorTest, Fp16) { RunCases<Fp16, Fp16>(); }
TEST_P(TensorExecutorTest, Fp16ToFloat) { RunCases<Fp16, float>(); }
TEST_P(TensorExecutorTest, Float) { RunCases<float, float>(true); }
TEST_P(TensorExecutorTest, Int8) { RunCases<int8_t, int32_t>(true); }
TEST_P(TensorExecutorTest, Int8ToFloat) { RunCases<int8_t, float>(); }
TEST_P(TensorExecutorTest, E4m3ToFloat) { RunCases<E4m3, float>(true); }
TEST_P(TensorExecutorTest, E4m3ToBf16) { RunCases<E4m3, Bf16>(); }
TEST_P(TensorExecutorTest, E5m2ToFloat) { RunCases<E5m2, float>(); }
TEST_P(TensorExecutorTest, E5m2ToFp16) { RunCases<E5m2, Fp16>(); }

TEST_P(TensorExecutorTest, Epilogues) {
  if (!implementation_.takes_epilogue) GTEST_SKIP() << "takes none";
  int64_t number = 0;
  for (const MatMulCase& c : EpilogueMatMulCases()) {
    if (c.m > 100 || number++ % 4 != 1) continue;
    if (Takes<Bf16, Bf16>()) RunCase<Bf16, Bf16>(c);
    if (Takes<Fp16, float>()) RunCase<Fp16, float>(c);
    if (Takes<float, float>()) RunCase<float, float>(c);
    if (Takes<int8_t, float>()) RunCase<int8_t, float>(c);
    if (Takes<E5m2, Fp16>()) RunCase<E5m2, Fp16>(c);
    if (HasFatalFailure()) return;
  }
}

TEST_P(TensorExecutorTest, Scales) {
  if (!implementation_.takes_scales) GTEST_SKIP() << "takes none";
  for (const bool per_128 : {false, true}) {
    MatMulCase c = {20, 131, 140, 3};
    c.transpose_b = per_128;
    std::vector<float> of_a(20 * 2), of_b(2 * 2);
    for (size_t i = 0; i < of_a.size(); ++i)
      of_a[i] = std::ldexp(1.25f, static_cast<int>(i % 7) - 3);
    for (size_t i = 0; i < of_b.size(); ++i)
      of_b[i] = std::ldexp(1.5f, static_cast<int>(i % 5) - 2);
    RunCase<E4m3, float>(c, {of_a.data(), of_b.data(), per_128});
    RunCase<E5m2, Fp16>(c, {nullptr, of_b.data(), per_128});
  }
}

TEST_P(TensorExecutorTest, RandomCalls) {
  if (!implementation_.general) GTEST_SKIP() << "takes plain products only";
  for (int64_t i = 0; i < CaseCount(/*quick=*/2, /*exhaustive=*/4); ++i) {
    const MatMulCase c = RandomMatMulCase(/*seed=*/20261123, i, {/*extent=*/150, /*batch=*/3, 600});
    if (Takes<Bf16, Bf16>()) RunCase<Bf16, Bf16>(c);
    if (Takes<float, float>()) RunCase<float, float>(c);
    if (Takes<E4m3, float>()) RunCase<E4m3, float>(c);
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(All, TensorExecutorTest, testing::ValuesIn(Names()),
                         [](const auto& info) { return info.param; });

// Two blocks that load for each other, tile after tile: stages, and what is stored from shared
// memory, are used again.
TEST(TensorOnHostExecutor, AClusterComputesTileAfterTile) {
  DeviceModel device = H200Model();
  device.multiprocessors = 2;
  for (const char* const name : {"cluster", "persistent", "tile_bands"}) {
    const auto on_host = OnHostExecutor(*FindMatMulImplementation(name));
    executor::ExecutorOptions options;
    options.schedule_seed = 7;
    auto executor = executor::Executor::Create(options);
    ASSERT_TRUE(on_host.ok() && executor.ok());
    MatMulTestProblem<Bf16> problem({300, 304, 136, 0});
    const absl::Status status =
        RunOnExecutor(*on_host, kNoBlock, 0, executor->get(), &problem, &device);
    ASSERT_TRUE(status.ok()) << name << ": " << status;
    EXPECT_TRUE(problem.Check(nullptr, AccuracyOf(*on_host, problem.args())).ok()) << name;
    // Two rows and two columns of tiles of a cluster.
    const executor::LaunchReport& report = (*executor)->launches().back();
    EXPECT_EQ(report.grid.x, std::string(name) == "cluster" ? 8 : 2) << name;
    EXPECT_EQ(report.block.x, 384) << name;
  }
}

// Whole tiles take the same number of blocks as a row or a column fewer: each has a part of C.
TEST(TensorOnHostExecutor, NoBlocksBesideC) {
  for (const char* const name : {"tensor_small", "tensor_general"}) {
    const auto on_host = OnHostExecutor(*FindMatMulImplementation(name));
    auto executor = executor::Executor::Create({});
    ASSERT_TRUE(on_host.ok() && executor.ok());
    const auto blocks = [&](int64_t m, int64_t n) {
      MatMulTestProblem<Bf16> problem({m, n, 16, 0});
      EXPECT_TRUE(RunOnExecutor(*on_host, kNoBlock, 0, executor->get(), &problem).ok()) << name;
      const Grid& grid = (*executor)->launches().back().grid;
      return grid.x * grid.y * grid.z;
    };
    const int64_t of_whole_tiles = blocks(128, 128);
    EXPECT_EQ(of_whole_tiles, blocks(127, 128)) << name;
    EXPECT_EQ(of_whole_tiles, blocks(128, 127)) << name;
  }
}

// What the padding of rows in shared memory is for: the eight rows of a matrix of ldmatrix, and a
// warp's pairs of wmma, lie in different banks.
TEST(TensorOnHostExecutor, FragmentsAreLoadedWithoutBankConflicts) {
  const struct {
    const char* name;
    uint64_t loads;  // Of a block's warps for 128 of k, and for C's tile.
  } kernels[] = {{"wmma", 4 * 8 * 2 * 2 * 4 + 4 * 32}, {"mma_sync", 8 * 8 * (4 + 2)}};
  for (const auto& kernel : kernels) {
    const auto on_host = OnHostExecutor(*FindMatMulImplementation(kernel.name));
    auto executor = executor::Executor::Create({});
    ASSERT_TRUE(on_host.ok() && executor.ok());
    const int64_t tile = std::string(kernel.name) == "wmma" ? 64 : 128;
    MatMulTestProblem<Bf16> problem({tile, tile, 128, 0});
    ASSERT_TRUE(RunOnExecutor(*on_host, kNoBlock, 0, executor->get(), &problem).ok());
    const executor::MemoryCounters loads =
        (*executor)->launches().back().profile.Total(executor::EventKind::kSharedLoad);
    EXPECT_EQ(loads.requests, kernel.loads) << kernel.name;
    EXPECT_EQ(loads.bank_conflicts(), 0u) << kernel.name;
    // A request of ldmatrix loads four matrices, a wavefront each.
    if (tile == 128) {
      EXPECT_EQ(loads.wavefronts, 4 * loads.requests);
    }
  }
}

}  // namespace
}  // namespace stridewise
