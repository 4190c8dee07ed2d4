// The entries of `fp32_split` keep the bound of FP32 for every input, that of `fp32_medium` its
// own, and where their parts suffice they stay near what their own roundings make (split_cases.h).

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/cublas_handle.h"
#include "common/gpu/device.h"
#include "common/gpu/gpu_runtime.h"
#include "gtest/gtest.h"
#include "matmul/reference.h"
#include "matmul/registry.h"
#include "matmul/test/device_implementation_test.h"
#include "matmul/test/split_cases.h"
#include "matmul/test/split_entries.h"

namespace stridewise {
namespace {

constexpr int64_t kRows = 200;
constexpr int64_t kCols = 136;

class SplitAccuracyTest : public testing::TestWithParam<SplitEntryCase> {
 protected:
  void SetUp() override {
    const auto device = OpenDevice(0);
    if (!device.ok()) GTEST_SKIP() << device.status();
    if (device->compute_major != 9) GTEST_SKIP() << "not for " << device->name;
    auto cublas = CublasHandle::Create();
    ASSERT_TRUE(cublas.ok()) << cublas.status();
    cublas_ = *std::move(cublas);
  }

  // Computes C, the FP64 product and that of absolute values.
  absl::Status Run(const SplitEntryCase& param, double infinite = 0) {
    const int64_t k = param.split_case.k;
    auto [a, b] = OperandsOf(param.split_case, kRows, kCols);
    if (infinite != 0) a[k / 2] = static_cast<float>(infinite);
    c_.resize(kRows * kCols);
    reference_.r.resize(c_.size());
    reference_.s.resize(c_.size());
    MatMulArgs args;
    args.m = kRows;
    args.n = kCols;
    args.k = k;
    args.a = {a.data(), k};
    args.b = {b.data(), kCols};
    args.c.ld = kCols;
    args.cublas = cublas_.get();  // On the host 131072 of k take seconds.
    RETURN_IF_ERROR(ReferenceProducts(args, {reference_.r.data(), kRows, kCols, kCols},
                                      {reference_.s.data(), kRows, kCols, kCols}));
    ASSIGN_OR_RETURN(const DeviceBuffer device_a, Upload(a));
    ASSIGN_OR_RETURN(const DeviceBuffer device_b, Upload(b));
    ASSIGN_OR_RETURN(DeviceBuffer device_c, Upload(c_));
    RETURN_IF_ERROR(device_c.Poison());
    args.a.data = device_a.data();
    args.b.data = device_b.data();
    args.c.data = device_c.data();
    args.precision = param.Precision();
    const MatMulImplementation& entry = *FindMatMulImplementation(param.entry);
    args.workspace_bytes = MatMulWorkspaceBytes(entry, args);
    ASSIGN_OR_RETURN(DeviceBuffer workspace,
                     DeviceBuffer::Allocate(static_cast<size_t>(args.workspace_bytes)));
    RETURN_IF_ERROR(workspace.Poison());
    args.workspace = workspace.data();
    RETURN_IF_ERROR(RunMatMul(entry, args));
    RETURN_IF_ERROR(gpu::Synchronize(nullptr));
    return gpu::Copy(c_.data(), device_c.data(), device_c.bytes());
  }

  std::vector<float> c_;
  SplitReference reference_;

 private:
  CublasHandle cublas_;
};

TEST_P(SplitAccuracyTest, KeepsItsBound) {
  const absl::Status status = Run(GetParam());
  ASSERT_TRUE(status.ok()) << status;
  const absl::Status check =
      CheckSplit(c_.data(), reference_, GetParam().Bound(), GetParam().Limit());
  EXPECT_TRUE(check.ok()) << check;
}

INSTANTIATE_TEST_SUITE_P(All, SplitAccuracyTest, testing::ValuesIn(SplitEntryCases()),
                         NameOfSplitEntryCase);

using SplitSpecialTest = SplitAccuracyTest;

// One infinite element makes a row of C infinite or NaN, and no other element.
TEST_P(SplitSpecialTest, InfiniteElementsStayInTheirRow) {
  for (const double special :
       {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    const absl::Status status = Run(GetParam(), special);
    ASSERT_TRUE(status.ok()) << status;
    for (int64_t i = 0; i < kRows * kCols; ++i) {
      if (i >= kCols) {
        ASSERT_TRUE(std::isfinite(c_[i])) << i;
      } else if (std::isnan(special)) {
        ASSERT_TRUE(std::isnan(c_[i])) << i;
      } else {
        ASSERT_EQ(c_[i], static_cast<float>(reference_.r[i])) << i;
      }
    }
  }
}

using SplitFlatTest = SplitAccuracyTest;

// `split_flat` computes what the entry that it should have chosen does, bit by bit.
TEST_P(SplitFlatTest, FlatIsOneOfTwo) {
  ASSERT_TRUE(Run(GetParam()).ok());
  const std::vector<float> flat = c_;
  const SplitCase& split_case = GetParam().split_case;
  ASSERT_TRUE(Run({split_case.slice_limit < 1 ? "split_int8" : "split_fp16", split_case}).ok());
  EXPECT_EQ(std::memcmp(c_.data(), flat.data(), c_.size() * sizeof(float)), 0);
}

INSTANTIATE_TEST_SUITE_P(All, SplitFlatTest, testing::ValuesIn(SplitCasesOf("split_flat")),
                         NameOfSplitEntryCase);

// One that slices take.
SplitCase FlatCase() {
  for (const SplitCase& split_case : SplitCases()) {
    if (split_case.name == "uniform_2048") return split_case;
  }
  return {};
}

INSTANTIATE_TEST_SUITE_P(All, SplitSpecialTest,
                         testing::Values(SplitEntryCase{"split_fp16", SplitCases().front()},
                                         SplitEntryCase{"split_fused", SplitCases().front()},
                                         SplitEntryCase{"split_bf16_6", SplitCases().front()},
                                         SplitEntryCase{"split_bf16_9", SplitCases().front()},
                                         SplitEntryCase{"split_tf32", SplitCases().front()},
                                         SplitEntryCase{"split_int8", FlatCase()},
                                         SplitEntryCase{"split_flat", FlatCase()},
                                         SplitEntryCase{"split_fp8", SplitCases().front()}),
                         NameOfSplitEntryCase);

}  // namespace
}  // namespace stridewise
