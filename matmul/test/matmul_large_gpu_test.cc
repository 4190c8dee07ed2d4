// Products in FP32 that are large enough for operands to be packed, or for tiles to be split among
// clusters, on a GPU.

#include <cstdint>
#include <cstring>
#include <vector>

#include "gtest/gtest.h"
#include "matmul/registry.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_gpu_fixture.h"
#include "matmul/test/matmul_test_problem.h"
#include "matmul/test/random_cases.h"

namespace stridewise {
namespace {

// Large enough that packing operands pays (operand_packing.h), cut tiles and steps that end within
// a tile: for those that the host executor cannot test at leisure.
class MatMulPackingGpuTest : public MatMulGpuTest {};

TEST_P(MatMulPackingGpuTest, OperandsWorthPacking) {
  for (MatMulCase c : {MatMulCase{1901, 1900, 40, 0}, MatMulCase{1901, 1903, 71, 1},
                       MatMulCase{1200, 1000, 520, 0}}) {
    for (const int ops : {0, 1, 2, 3}) {
      c.transpose_a = (ops & 1) != 0;
      c.transpose_b = (ops & 2) != 0;
      RunCase<float>(c);
      MatMulCase general = c;
      general.alpha = -0.5;
      general.beta = 2;
      general.offset_a = general.offset_b = general.offset_c = 1;
      RunCase<float>(general);
    }
  }
}

// Random calls of what the host executor cannot run, without a workspace.
TEST_P(MatMulPackingGpuTest, RandomCalls) {
  constexpr uint64_t kSeed = 20261124;
  for (int64_t number = 0; number < 400; ++number) {
    RunCase<float>(RandomMatMulCase(kSeed, number, {}));
    if (HasFatalFailure()) return;
  }
}

// Without a workspace, tiles are split among clusters (cluster_split.h): tiles for a cluster each,
// tiles that are begun by one and ended by another, and rounds of whole tiles beside them.
class MatMulSplitGpuTest : public MatMulGpuTest {};

TEST_P(MatMulSplitGpuTest, NoWorkspace) {
  for (MatMulCase c :
       {MatMulCase{33, 65, 9000, 0}, MatMulCase{500, 300, 2111, 1}, MatMulCase{900, 1000, 1500, 0},
        MatMulCase{2304, 2304, 300, 0}, MatMulCase{260, 700, 1300, 1, false, false, 1, 0, 3}}) {
    for (const int ops : {0, 1, 2, 3}) {
      c.transpose_a = (ops & 1) != 0;
      c.transpose_b = (ops & 2) != 0;
      MatMulCase general = c;
      general.alpha = -0.5;
      general.beta = 2;
      general.offset_a = general.offset_b = general.offset_c = 1;
      for (const MatMulCase& one : {c, general}) {
        MatMulTestProblem<float>* const problem = problems_->Get<float, float>(one);
        ASSERT_TRUE(RunOnDevice(problem).ok()) << one;
        const absl::Status status = problem->Check(cublas());
        ASSERT_TRUE(status.ok()) << one << ": " << status;
        const std::vector<float> first = problem->c_with_guards();
        problem->ResetC();
        ASSERT_TRUE(RunOnDevice(problem).ok()) << one;
        ASSERT_EQ(std::memcmp(first.data(), problem->c_with_guards().data(),
                              first.size() * sizeof(float)),
                  0)
            << one;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, MatMulPackingGpuTest, DeviceImplementations([](const auto& i) {
                           return i.general && i.executor != Executor::kHostExecutable &&
                                  TakesFp32(i);
                         }),
                         NameOfImplementation);

INSTANTIATE_TEST_SUITE_P(All, MatMulSplitGpuTest, DeviceImplementations([](const auto& i) {
                           return i.general && i.workspace_bytes != nullptr && TakesFp32(i);
                         }),
                         NameOfImplementation);

}  // namespace
}  // namespace stridewise
