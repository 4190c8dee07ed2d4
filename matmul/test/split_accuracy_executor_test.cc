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

bool IsInt8(const SplitEntryCase& entry_case) {
  return entry_case.entry == "split_int8" || entry_case.entry == "split_flat";
}

// Returns whether the host executor has time for the case: long sums on FP32 units take minutes.
bool IsForTheExecutor(const SplitEntryCase& entry_case) {
  const SplitCase& split_case = entry_case.split_case;
  if (IsInt8(entry_case)) return split_case.k == 2048 && split_case.slice_limit < 1;
  // All in FP32: whether ranges are looked at shows with one entry.
  if (split_case.name == "lost") return entry_case.entry == "split_fp16";
  return split_case.k <= 1000;
}

// The other entries differ in their parts, which the models of split_model_test.cc have too.
std::vector<SplitEntryCase> CasesForTheExecutor() {
  std::vector<SplitEntryCase> cases;
  for (const SplitEntryCase& entry_case : SplitEntryCases()) {
    const bool is_quick = entry_case.entry == "split_fp16" || entry_case.entry == "split_fused";
    if ((is_quick || IsExhaustive()) && IsForTheExecutor(entry_case)) cases.push_back(entry_case);
  }
  return cases;
}

class SplitAccuracyExecutorTest : public testing::TestWithParam<SplitEntryCase> {};

TEST_P(SplitAccuracyExecutorTest, KeepsItsBound) {
  const SplitEntryCase& param = GetParam();
  const int64_t k = param.split_case.k;
  // As many elements as keep the limits; of more, more would run on FP32 units.
  const int64_t side = IsInt8(param) ? 24 : 12;
  const auto executor = executor::Executor::Create({});
  ASSERT_TRUE(executor.ok()) << executor.status();
  const auto implementation = OnHostExecutor(*FindMatMulImplementation(param.entry));
  ASSERT_TRUE(implementation.ok()) << implementation.status();
  MatMulCase matmul_case = {side, side, k, 0};
  matmul_case.precision = param.Precision();
  MatMulTestProblem<float> problem(matmul_case);
  const SplitOperandsOfCase of = OperandsOf(param.split_case, side, side);
  for (int64_t i = 0; i < side * k; ++i) {
    problem.SetA(i / k, i % k, of.a[i]);
    problem.SetB(i / side, i % side, of.b[i]);
  }
  const absl::Status status = RunAsPlanned(*implementation, H200Model(), executor->get(), &problem);
  ASSERT_TRUE(status.ok()) << status;
  const float* const c = problem.c_with_guards().data() + MatMulTestProblem<float>::kGuard;
  const absl::Status check =
      CheckSplit(c, ReferenceOf(of, side, side), param.Bound(), param.Limit());
  EXPECT_TRUE(check.ok()) << check;
}

INSTANTIATE_TEST_SUITE_P(All, SplitAccuracyExecutorTest, testing::ValuesIn(CasesForTheExecutor()),
                         NameOfSplitEntryCase);

}  // namespace
}  // namespace stridewise
