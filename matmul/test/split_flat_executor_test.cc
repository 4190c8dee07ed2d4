// `split_flat` on the host executor: the device's choice between INT8 and pairs of FP16. The two
// round differently, so that C's bits say which of them has computed it.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "common/executor/executor.h"
#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/device/split_scheme.h"
#include "matmul/device/split_slices.h"
#include "matmul/dispatch.h"
#include "matmul/host_executor.h"
#include "matmul/registry.h"
#include "matmul/split_choice.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"
#include "matmul/test/run_on_executor.h"
#include "matmul/test/split_cases.h"
#include "matmul/test/split_entries.h"

namespace stridewise {
namespace {

using Problem = MatMulTestProblem<float>;
using Change = std::function<void(Problem*)>;

class SplitFlatTest : public testing::Test {
 protected:
  void SetUp() override {
    auto executor = executor::Executor::Create({});
    ASSERT_TRUE(executor.ok()) << executor.status();
    executor_ = *std::move(executor);
  }

  // Returns C with its guards, and checks it where `checks`.
  std::vector<float> Run(const char* name, const MatMulCase& c, const Change& change,
                         bool checks = false) {
    const auto implementation = OnHostExecutor(*FindMatMulImplementation(name));
    EXPECT_TRUE(implementation.ok()) << implementation.status();
    MatMulCase of_entry = c;
    of_entry.precision = implementation->precisions.front();
    Problem problem(of_entry);
    if (change) change(&problem);
    const absl::Status status =
        RunAsPlanned(*implementation, H200Model(), executor_.get(), &problem);
    EXPECT_TRUE(status.ok()) << name << ": " << status;
    if (checks) {
      EXPECT_TRUE(problem.Check().ok()) << problem.Check();
    }
    return problem.c_with_guards();
  }

  // Expects what `scheme` computes, bit by bit.
  void ExpectScheme(const char* scheme, const MatMulCase& c, const Change& change = nullptr) {
    SCOPED_TRACE(testing::Message() << scheme << ", " << c);
    const std::vector<float> flat = Run("split_flat", c, change, /*checks=*/true);
    const std::vector<float> of_scheme = Run(scheme, c, change);
    ASSERT_EQ(flat.size(), of_scheme.size());
    EXPECT_EQ(std::memcmp(flat.data(), of_scheme.data(), flat.size() * sizeof(float)), 0);
  }

  std::unique_ptr<executor::Executor> executor_;
};

constexpr MatMulCase kCase = {9, 10, 2048, 0};

TEST_F(SplitFlatTest, SchemesDiffer) {
  EXPECT_NE(Run("split_int8", kCase, nullptr), Run("split_fp16", kCase, nullptr));
}

// Uniform numbers, in all layouts, with edges, alpha, beta and batches.
TEST_F(SplitFlatTest, FlatRowsAreInt8) {
  for (const int ops : {0, 1, 2, 3}) {
    MatMulCase c = {12, 9, 2049, 1};
    c.transpose_a = (ops & 1) != 0;
    c.transpose_b = (ops & 2) != 0;
    ExpectScheme("split_int8", c);
  }
  EXPECT_EQ(executor_->launches().size(), 2u);  // Of split_int8, which ran last.
  ExpectScheme("split_int8", {9, 10, 2048, 0, false, false, -0.5, 2, 2, 8});
  ExpectScheme("split_int8", {9, 10, 2048, 0, false, false, 1, 0, 2, 8, false, /*one_b=*/true});
}

// A row or column whose largest element is 2^11 times the others, wherever it is: FP16 takes it,
// and INT8 does not. With it all of the call is one of FP16.
TEST_F(SplitFlatTest, OneRowThatIsNotFlat) {
  constexpr float kLarge = 2048;
  for (const int64_t row : {int64_t{0}, kCase.m - 1}) {
    ExpectScheme("split_fp16", kCase, [=](Problem* problem) { problem->SetA(row, 77, kLarge); });
  }
  for (const int64_t col : {int64_t{0}, kCase.n - 1}) {
    ExpectScheme("split_fp16", kCase, [=](Problem* problem) { problem->SetB(77, col, kLarge); });
  }
  MatMulCase turned = kCase;
  turned.transpose_a = turned.transpose_b = true;
  ExpectScheme("split_fp16", turned,
               [=](Problem* problem) { problem->SetA(kCase.m - 1, 2047, kLarge); });
  ExpectScheme("split_fp16", turned,
               [=](Problem* problem) { problem->SetB(2047, kCase.n - 1, kLarge); });
}

// More rows than the block that looks at them has threads, and the last one of them.
TEST_F(SplitFlatTest, ManyRows) {
  const MatMulCase tall = {1026, 3, 2048, 0};
  ExpectScheme("split_fp16", tall, [&](Problem* problem) { problem->SetA(tall.m - 1, 5, 2048); });
}

// The last matrix of a batch.
TEST_F(SplitFlatTest, OneMatrixThatIsNotFlat) {
  const MatMulCase batch = {5, 6, 2048, 0, false, false, 1, 0, 3};
  ExpectScheme("split_fp16", batch, [](Problem* problem) {
    const MatMulInput& a = problem->args().a;
    const_cast<float*>(static_cast<const float*>(a.data))[2 * a.stride + 4 * a.ld + 9] = 2048;
  });
  ExpectScheme("split_fp16", batch, [](Problem* problem) {
    const MatMulInput& b = problem->args().b;
    const_cast<float*>(static_cast<const float*>(b.data))[2 * b.stride + 9 * b.ld + 5] = 2048;
  });
}

// What the two cannot hold is FP32's, of the tiles that it is in.
TEST_F(SplitFlatTest, WhatNoSchemeHolds) {
  ExpectScheme("split_fp16", kCase, [](Problem* problem) {
    problem->ForOperands([](float x) { return std::ldexp(x, static_cast<int>(55 * x)); });
  });
  for (const float special :
       {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    const Change change = [=](Problem* problem) { problem->SetA(3, 100, special); };
    const std::vector<float> c = Run("split_flat", kCase, change);
    const float* const first = c.data() + Problem::kGuard;
    for (int64_t i = 0; i < kCase.m * kCase.n; ++i) {
      EXPECT_EQ(std::isfinite(first[i]), i / kCase.n != 3) << special << " at " << i;
    }
  }
}

// Rows of zeros are flat.
TEST_F(SplitFlatTest, Zeros) {
  ExpectScheme("split_int8", kCase, [](Problem* problem) {
    for (int64_t i = 0; i < kCase.k; ++i) problem->SetA(4, i, i % 2 == 0 ? 0.0F : -0.0F);
  });
}

// Returns the least range of rows of k elements, `step` apart, as slices of INT8.
int LeastRange(const std::vector<float>& x, int64_t rows, int64_t k, int64_t row_step,
               int64_t step) {
  int least = std::numeric_limits<int>::max();
  for (int64_t row = 0; row < rows; ++row) {
    uint32_t most = 0;
    for (int64_t i = 0; i < k; ++i) most = std::max(most, AbsBits(x[row * row_step + i * step]));
    const float power = PowerFor<Int8Slices>(most);
    Int8Slices::Counts counts;
    for (int64_t i = 0; i < k; i += 2) {
      TwoInt8 parts[3];
      const float* const at = &x[row * row_step + i * step];
      Int8Slices::Split({at[0], power}, {i + 1 < k ? at[step] : 0, power}, parts, &counts);
    }
    const SplitScale scale =
        SplitScaleFrom<Int8Slices>(most, counts.LargeX() + counts.LargeY(),
                                   counts.PoorX() + counts.PoorY(), static_cast<int>(k));
    least = std::min(least, RangeOf(scale) >> 1);
  }
  return least;
}

// Every distribution of split_cases.h, with a k that INT8 takes: the bound of FP32, and the scheme
// that the numbers allow.
TEST_F(SplitFlatTest, KeepsTheBoundOfFp32) {
  constexpr int64_t kSide = 6;
  constexpr int64_t kLongest = 5000;
  int of_int8 = 0, of_fp16 = 0;
  for (SplitCase split_case : SplitCases()) {
    if (split_case.k > kLongest) continue;
    const int64_t k = split_case.k = std::max(split_case.k, kCase.k);
    const SplitOperandsOfCase of = OperandsOf(split_case, kSide, kSide);
    const Change change = [&](Problem* problem) {
      for (int64_t i = 0; i < kSide * k; ++i) {
        problem->SetA(i / k, i % k, of.a[i]);
        problem->SetB(i / kSide, i % kSide, of.b[i]);
      }
    };
    const MatMulCase c = {kSide, kSide, k, 0};
    SCOPED_TRACE(split_case.name);
    const std::vector<float> got = Run("split_flat", c, change);
    const bool is_flat = PartsSuffice(/*poor=*/true, LeastRange(of.a, kSide, k, k, 1),
                                      LeastRange(of.b, kSide, k, 1, kSide));
    ++(is_flat ? of_int8 : of_fp16);
    const std::vector<float> want = Run(is_flat ? "split_int8" : "split_fp16", c, change);
    EXPECT_EQ(std::memcmp(got.data(), want.data(), got.size() * sizeof(float)), 0) << is_flat;
    const absl::Status check =
        CheckSplit(got.data() + Problem::kGuard, ReferenceOf(of, kSide, kSide),
                   /*bound=*/static_cast<double>(k + 2), /*limit=*/1);
    EXPECT_TRUE(check.ok()) << check;
  }
  EXPECT_GE(of_int8, 5);
  EXPECT_GE(of_fp16, 5);
}

// Without its workspace, and with a k that INT8 does not take, the call is split_fp16's.
TEST_F(SplitFlatTest, OtherCalls) {
  ExpectScheme("split_fp16", {9, 10, 2047, 0});
  ExpectScheme("split_fp16", {0, 10, 2048, 0});
}

// The library call takes it where it is asked for, and for nothing else.
TEST(SplitFlatChoice, OnlyWhereItIsAskedFor) {
  const DeviceModel device = H200Model();
  MatMulArgs args;
  args.m = args.n = args.k = 4096;
  args.a.ld = args.b.ld = args.c.ld = 4096;
  args.workspace_bytes = std::numeric_limits<int64_t>::max();
  args.device_model = &device;
  const auto chosen = [&](MatMulPrecision precision) -> std::string {
    args.precision = precision;
    return ChooseMatMul(args, device).implementation;
  };
  EXPECT_EQ(chosen(MatMulPrecision::kFp32SplitInt8), "split_flat");
  EXPECT_EQ(chosen(MatMulPrecision::kFp32Split), "split_fp16");
  args.k = 1024;
  EXPECT_EQ(chosen(MatMulPrecision::kFp32SplitInt8), "split_fp16");
  args.k = 2048;
  args.n = 2048;
  EXPECT_EQ(chosen(MatMulPrecision::kFp32SplitInt8), "split_fp16");
  args.k = args.n = 4096;
  args.workspace_bytes = FlatWorkspaceBytes(args) - 1;
  EXPECT_EQ(chosen(MatMulPrecision::kFp32SplitInt8), "split_fp16");
  args.workspace_bytes = 0;
  EXPECT_EQ(chosen(MatMulPrecision::kFp32SplitInt8), "split_fused");
}

}  // namespace
}  // namespace stridewise
