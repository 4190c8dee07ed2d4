// The kernels of `fp32_split` and `fp32_medium` on the host executor, whose tensor cores cut sums
// off as a GPU's do: they keep the bounds and limits that split_accuracy_gpu_test.cc holds them to,
// so that a mistake in a kernel, as tools/mutate_kernels.py plants them, shows without a GPU.

#include <cstdint>
#include <vector>

#include "common/base/case_random.h"
#include "common/executor/executor.h"
#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/host_executor.h"
#include "matmul/registry.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"
#include "matmul/test/run_on_executor.h"
#include "matmul/test/split_entries.h"

namespace stridewise {
namespace {

constexpr int64_t kSide = 24;  // As many elements as the models have.

// Returns whether all of the case's elements are computed on FP32 units, which takes minutes here.
// One such case is enough: it says whether ranges are looked at.
bool IsInFp32(const SplitEntryCase& entry_case) {
  const bool is_lost = entry_case.split_case.name.rfind("lost", 0) == 0;
  return is_lost && !(entry_case.entry == "split_fp16" && entry_case.split_case.name == "lost");
}

// The other entries differ in their parts, which the models of split_model_test.cc have too.
std::vector<SplitEntryCase> CasesForTheExecutor() {
  const int64_t most_k = CaseCount(1024, 5000);
  std::vector<SplitEntryCase> cases;
  for (const SplitEntryCase& entry_case : SplitEntryCases()) {
    const bool is_quick = entry_case.entry == "split_fp16" || entry_case.entry == "split_fused";
    if (entry_case.split_case.k <= most_k && (is_quick || IsExhaustive()) &&
        !IsInFp32(entry_case)) {
      cases.push_back(entry_case);
    }
  }
  return cases;
}

class SplitAccuracyExecutorTest : public testing::TestWithParam<SplitEntryCase> {};

TEST_P(SplitAccuracyExecutorTest, KeepsItsBound) {
  const SplitEntryCase& param = GetParam();
  const int64_t k = param.split_case.k;
  const auto executor = executor::Executor::Create({});
  ASSERT_TRUE(executor.ok()) << executor.status();
  const auto implementation = OnHostExecutor(*FindMatMulImplementation(param.entry));
  ASSERT_TRUE(implementation.ok()) << implementation.status();
  MatMulCase matmul_case = {kSide, kSide, k, 0};
  matmul_case.precision = param.Precision();
  MatMulTestProblem<float> problem(matmul_case);
  const SplitOperandsOfCase of = OperandsOf(param.split_case, kSide, kSide);
  for (int64_t i = 0; i < kSide * k; ++i) {
    problem.SetA(i / k, i % k, of.a[i]);
    problem.SetB(i / kSide, i % kSide, of.b[i]);
  }
  const absl::Status status = RunAsPlanned(*implementation, H200Model(), executor->get(), &problem);
  ASSERT_TRUE(status.ok()) << status;
  const float* const c = problem.c_with_guards().data() + MatMulTestProblem<float>::kGuard;
  const absl::Status check =
      CheckSplit(c, ReferenceOf(of, kSide, kSide), param.Bound(), param.Limit());
  EXPECT_TRUE(check.ok()) << check;
}

INSTANTIATE_TEST_SUITE_P(All, SplitAccuracyExecutorTest, testing::ValuesIn(CasesForTheExecutor()),
                         NameOfSplitEntryCase);

}  // namespace
}  // namespace stridewise
