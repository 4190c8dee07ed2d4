// The kernels of tensor cores on a GPU: random calls with and without a workspace, and sizes for
// each tile. Every element of C is judged, and what lies around it and behind the workspace.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/base/status_macros.h"
#include "gtest/gtest.h"
#include "matmul/registry.h"
#include "matmul/test/device_implementation_test.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"
#include "matmul/test/random_cases.h"
#include "matmul/test/shared_problems.h"
#include "matmul/test/tensor_cases.h"

namespace stridewise {
namespace {

constexpr uint64_t kSeed = 20261122;
constexpr int64_t kCases = 250;

// Returns whether it is our own: cuBLAS rounds a product to 16 bits before it adds beta * C.
bool IsOurs(const MatMulImplementation& implementation) {
  return implementation.general && !implementation.needs_cublas &&
         TakesType(implementation, ElementType::kBf16);
}

class TensorGpuTest : public DeviceImplementationTest {
 protected:
  static void SetUpTestSuite() { problems_ = std::make_unique<SharedProblems>(); }
  static void TearDownTestSuite() { problems_.reset(); }

  template <typename T, typename Out>
  absl::Status Run(const MatMulCase& c, bool with_workspace) {
    MatMulTestProblem<T, Out>* const problem = problems_->Get<T, Out>(c);
    RETURN_IF_ERROR(RunOnDevice(problem, with_workspace));
    constexpr int64_t kMostOnHost = int64_t{1} << 23;
    return problem->Check(c.m * c.n * c.k * c.batch > kMostOnHost ? cublas() : nullptr);
  }

  void RunBoth(const MatMulCase& c, bool with_workspace) {
    const absl::Status bf16 = Run<Bf16, Bf16>(c, with_workspace);
    ASSERT_TRUE(bf16.ok()) << c << ", BF16: " << bf16;
    const absl::Status fp16 = Run<Fp16, float>(c, with_workspace);
    ASSERT_TRUE(fp16.ok()) << c << ", FP16 to FP32: " << fp16;
  }

 private:
  static inline std::unique_ptr<SharedProblems> problems_;
};

TEST_P(TensorGpuTest, RandomCalls) {
  for (int64_t i = 0; i < kCases; ++i) {
    RunBoth(RandomMatMulCase(kSeed, i, {/*extent=*/600, /*batch=*/4, /*deep=*/5000}), i % 4 != 0);
    if (HasFatalFailure()) return;
  }
}

// Tiles, few rows and few columns whose k is divided among blocks, and rows of odd lengths.
TEST_P(TensorGpuTest, HardOperands) {
  const std::vector<MatMulCase> products = {
      {144, 160, 4112, 0}, {16, 1032, 4104, 0}, {1032, 8, 4104, 0}, {137, 131, 1001, 1}};
  for (const MatMulCase& c : HardMatMulCases(*implementation_, products)) {
    for (const bool with_workspace : {true, false}) {
      RunBoth(c, with_workspace);
      if (HasFatalFailure()) return;
    }
  }
}

// Few rows or columns of long operands, with the sizes at which tiles become wider.
TEST_P(TensorGpuTest, FewRowsOrColumns) {
  int64_t number = 0;
  for (const int64_t few : {1, 7, 8, 9, 16, 17, 32, 33, 64, 65}) {
    for (const int64_t many : {1000, 4096}) {
      MatMulCase c = {few, many, 1032, 0};
      if (number % 2 == 1) std::swap(c.m, c.n);
      c.transpose_a = number % 4 / 2 == 1;
      c.transpose_b = number % 8 / 4 == 1;
      c.beta = number % 3 == 0 ? 0.5 : 0;
      ++number;
      RunBoth(c, true);
      if (HasFatalFailure()) return;
    }
  }
}

// Sizes at which tensor_tile changes its tile, and the same with rows of odd lengths.
TEST_P(TensorGpuTest, EachTile) {
  for (const int64_t size : {520, 1032, 1544, 2056, 3080}) {
    for (const int ops : {0, 1, 2, 3}) {
      MatMulCase c = {size, size + 8, 72, 0};
      c.transpose_a = (ops & 1) != 0;
      c.transpose_b = (ops & 2) != 0;
      c.beta = ops == 2 ? 1 : 0;
      const absl::Status status = Run<Bf16, Bf16>(c, true);
      ASSERT_TRUE(status.ok()) << c << ": " << status;
      ++c.m;
      --c.n;
      c.k = 71;
      const absl::Status odd = Run<Bf16, Bf16>(c, true);
      ASSERT_TRUE(odd.ok()) << c << ": " << odd;
    }
  }
}

// The sizes at which tensor_pair changes its tile, either way round, with more steps of k than a
// block has stages; small enough for compute-sanitizer.
TEST_P(TensorGpuTest, TilesOfPairs) {
  const struct { int64_t few, many; } sizes[] = {{6, 3464}, {16, 2000}, {30, 2000}};
  for (const auto& size : sizes) {
    for (const bool transpose : {false, true}) {
      RunBoth({size.few, size.many, 1160, 0, false, transpose}, true);
      RunBoth({size.many, size.few, 1160, 0, transpose, true, -0.5, 2}, true);
      if (HasFatalFailure()) return;
    }
  }
}

// Few rows and columns beside whole lines of k, with more lines than all blocks have stages; small
// enough for compute-sanitizer.
TEST_P(TensorGpuTest, WholeLines) {
  const struct {
    int64_t few, many, k;
  } sizes[] = {{8, 3461, 4096}, {16, 10000, 1032}, {13, 2003, 2056}};
  for (const auto& size : sizes) {
    for (const bool turned : {false, true}) {
      if (turned && size.few % 8 != 0) continue;  // The TMA's condition.
      RunBoth({size.few, size.many, size.k, 0, turned, true}, true);
      RunBoth({size.many, size.few, size.k, 0, false, !turned, -0.5, 2}, true);
      if (HasFatalFailure()) return;
    }
  }
}

// Extents of hundreds, at which tensor_split has wide tiles and clusters divide k, tensor_turned
// clusters that share A, and tensor_k_parts up to nine parts of k; small enough for
// compute-sanitizer.
TEST_P(TensorGpuTest, TilesOfHundreds) {
  const struct { int64_t m, n; } sizes[] = {{264, 520}, {1000, 200}, {200, 1000}, {257, 1528}};
  for (const auto& size : sizes) {
    for (const int ops : {0, 1, 2, 3}) {
      MatMulCase c = {size.m, size.n, 1160, 0, (ops & 1) != 0, (ops & 2) != 0};
      RunBoth(c, true);
      c.alpha = -0.5;
      c.beta = 2;
      RunBoth(c, true);
      if (HasFatalFailure()) return;
    }
  }
}

using TensorDividedGpuTest = TensorGpuTest;  // Which divide tiles,
using TensorSumsGpuTest = TensorGpuTest;     // and which leave sums in the workspace.

// More tiles than clusters, of which tensor_divided divides the last ones: one step of k and many,
// two rounds and more, batches, C that the TMA cannot address, and old values of C.
TEST_P(TensorDividedGpuTest, DividedTiles) {
  const struct {
    int64_t m, n, k, batch;
  } sizes[] = {
      {2056, 2312, 64, 1}, {2056, 2311, 456, 1}, {1032, 1040, 136, 3}, {4360, 2056, 200, 1}};
  for (const auto& size : sizes) {
    for (const int ops : {0, 1, 2, 3}) {
      MatMulCase c = {size.m, size.n, size.k, 0, (ops & 1) != 0, (ops & 2) != 0};
      c.batch = size.batch;
      RunBoth(c, true);
      c.alpha = -0.5;
      c.beta = 2;
      if (ops == 1) RunBoth(c, true);
      if (HasFatalFailure()) return;
    }
  }
}

// A workspace is used again as the call before has left it.
TEST_P(TensorSumsGpuTest, AgainInTheSameWorkspace) {
  MatMulTestProblem<Bf16> problem(GetParam() == "tensor_k_parts" ? MatMulCase{264, 520, 4104, 0}
                                                                 : MatMulCase{2056, 2312, 1160, 0});
  const auto a = Upload(problem.a());
  const auto b = Upload(problem.b());
  const auto c = Upload(problem.c_with_guards());
  ASSERT_TRUE(a.ok() && b.ok() && c.ok());
  MatMulArgs args = problem.ArgsAt(a->data(), b->data(), c->data());
  args.workspace_bytes = MatMulWorkspaceBytes(*implementation_, args);
  ASSERT_GT(args.workspace_bytes, 0);
  const auto workspace = Upload(std::vector<uint8_t>(args.workspace_bytes, 0xff));
  ASSERT_TRUE(workspace.ok());
  args.workspace = workspace->data();
  for (int call = 0; call < 100; ++call) ASSERT_TRUE(RunMatMul(*implementation_, args).ok());
  ASSERT_TRUE(gpu::Synchronize(nullptr).ok());
  auto& result = problem.c_with_guards();
  ASSERT_TRUE(gpu::Copy(result.data(), c->data(), result.size() * sizeof(Bf16)).ok());
  const absl::Status check = problem.Check(cublas());
  EXPECT_TRUE(check.ok()) << check;
}

INSTANTIATE_TEST_SUITE_P(All, TensorGpuTest, DeviceImplementations(IsOurs), NameOfImplementation);
INSTANTIATE_TEST_SUITE_P(All, TensorDividedGpuTest, testing::Values("tensor_divided", "tensor"),
                         NameOfImplementation);
INSTANTIATE_TEST_SUITE_P(All, TensorSumsGpuTest,
                         testing::Values("tensor_divided", "tensor_k_parts"), NameOfImplementation);

}  // namespace
}  // namespace stridewise
