// `split_fp16` keeps the bound of FP32 for every input, and where its pairs of FP16 numbers suffice
// it stays near what its own roundings make. The limits lie 15 to 35 % above what was measured, so
// that a product that is left out, sums that are not promoted, or a first half that is truncated
// show. Truncating the second half changes nothing that a sum of products would show.

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/device.h"
#include "common/gpu/gpu_runtime.h"
#include "common/verify/fill.h"
#include "gtest/gtest.h"
#include "matmul/reference.h"
#include "matmul/registry.h"
#include "matmul/test/device_implementation_test.h"

namespace stridewise {
namespace {

constexpr int64_t kRows = 200;
constexpr int64_t kCols = 136;
constexpr double kRoundoff = 0x1p-24;

double Uniform(uint64_t seed, int64_t index) { return UniformAt<double>(seed, index); }

// Box and Muller's.
double Normal(uint64_t seed, int64_t index) {
  const double radius = std::sqrt(-2 * std::log((Uniform(seed, 2 * index) + 1) / 2 + 1e-9));
  return radius * std::cos(M_PI * Uniform(seed, 2 * index + 1));
}

double Positive(uint64_t seed, int64_t index) { return (Uniform(seed, index) + 1) / 2; }

// (U - 0.5) * exp(phi * N).
template <int kTwicePhi>
double Spread(uint64_t seed, int64_t index) {
  return Uniform(seed, index) / 2 * std::exp(0.5 * kTwicePhi * Normal(seed + 1, index));
}

double SpreadElements(uint64_t seed, int64_t index) {
  return std::ldexp(Uniform(seed, index), static_cast<int>(30 * Uniform(seed + 1, index)));
}
double Denormal(uint64_t seed, int64_t index) { return 1e-39 * Uniform(seed, index); }
double Huge(uint64_t seed, int64_t index) { return 1e17 * Uniform(seed, index); }
double HalfZeros(uint64_t seed, int64_t index) {
  const double x = Normal(seed, index);
  return x > 0 ? x : -0.0;
}
double Cancelling(uint64_t seed, int64_t index) {
  return (index % 2 == 0 ? 1 : -1) * (1 + 1e-3 * Uniform(seed, index));
}

struct Inputs {
  std::string name;
  double (*value)(uint64_t seed, int64_t index);
  int64_t k;
  double limit = 1;  // Of ||C - R||_F / ||R||_F.
  // Multiplies row i of A, or column j of B, by a power of two up to 2^30 and down to 2^-30.
  bool spread_rows = false;
};

class SplitAccuracyTest : public testing::TestWithParam<Inputs> {
 protected:
  void SetUp() override {
    const auto device = OpenDevice(0);
    if (!device.ok()) GTEST_SKIP() << device.status();
    if (device->compute_major != 9) GTEST_SKIP() << "not for " << device->name;
  }

  // Computes C, the FP64 product and that of absolute values.
  absl::Status Run(const Inputs& inputs, double infinite = 0) {
    const int64_t k = inputs.k;
    std::vector<float> a(kRows * k), b(k * kCols);
    const auto factor = [&](int64_t i) {
      return inputs.spread_rows ? std::exp2(i * 7 % 61 - 30) : 1;
    };
    for (int64_t i = 0; i < kRows * k; ++i) {
      a[i] = static_cast<float>(inputs.value(1, i) * factor(i / k));
    }
    for (int64_t i = 0; i < k * kCols; ++i) {
      b[i] = static_cast<float>(inputs.value(11, i) * factor(i % kCols));
    }
    if (infinite != 0) a[k / 2] = static_cast<float>(infinite);
    c_.resize(kRows * kCols);
    r_.resize(c_.size());
    s_.resize(c_.size());
    MatMulArgs args;
    args.m = kRows;
    args.n = kCols;
    args.k = k;
    args.a = {a.data(), k};
    args.b = {b.data(), kCols};
    args.c.ld = kCols;
    RETURN_IF_ERROR(ReferenceProducts(args, {r_.data(), kRows, kCols, kCols},
                                      {s_.data(), kRows, kCols, kCols}));
    ASSIGN_OR_RETURN(const DeviceBuffer device_a, Upload(a));
    ASSIGN_OR_RETURN(const DeviceBuffer device_b, Upload(b));
    ASSIGN_OR_RETURN(DeviceBuffer device_c, Upload(c_));
    RETURN_IF_ERROR(device_c.Poison());
    args.a.data = device_a.data();
    args.b.data = device_b.data();
    args.c.data = device_c.data();
    args.precision = MatMulPrecision::kFp32Split;
    const MatMulImplementation& entry = *FindMatMulImplementation("split_fp16");
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
  std::vector<double> r_, s_;
};

TEST_P(SplitAccuracyTest, KeepsTheBoundOfFp32) {
  const Inputs& inputs = GetParam();
  const absl::Status status = Run(inputs);
  ASSERT_TRUE(status.ok()) << status;
  double errors = 0, squares = 0;
  for (size_t i = 0; i < c_.size(); ++i) {
    const double error = std::abs(c_[i] - r_[i]);
    // Below FP32's range there are no digits.
    const double bound = static_cast<double>(inputs.k + 2) * kRoundoff * s_[i] +
                         std::numeric_limits<float>::denorm_min();
    ASSERT_LE(error, bound) << "element " << i;
    errors += error * error;
    squares += r_[i] * r_[i];
  }
  EXPECT_LE(std::sqrt(errors / squares), inputs.limit);
}

INSTANTIATE_TEST_SUITE_P(
    All, SplitAccuracyTest,
    testing::Values(
        Inputs{"uniform", Uniform, 1000, 2.1e-7},
        Inputs{"uniform_rows_spread", Uniform, 1000, 4e-7, true},
        Inputs{"uniform_least_k", Uniform, 128, 1.45e-7}, Inputs{"normal", Normal, 1000, 2.1e-7},
        Inputs{"positive", Positive, 1000, 2.4e-7},
        Inputs{"positive_least_k", Positive, 128, 2.3e-7},
        Inputs{"phi_half", Spread<1>, 1000, 2.1e-7}, Inputs{"phi_1", Spread<2>, 1000, 2.3e-7},
        Inputs{"phi_2", Spread<4>, 1000}, Inputs{"phi_4", Spread<8>, 1000},
        Inputs{"elements_spread", SpreadElements, 1000}, Inputs{"denormal", Denormal, 200},
        Inputs{"huge", Huge, 1000, 2.1e-7}, Inputs{"half_zeros", HalfZeros, 1000},
        Inputs{"cancelling", Cancelling, 1000}, Inputs{"k_1", Uniform, 1},
        Inputs{"k_127", Uniform, 127}, Inputs{"long", Uniform, 131072}),
    [](const auto& info) { return info.param.name; });

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
        ASSERT_EQ(c_[i], static_cast<float>(r_[i])) << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SplitSpecialTest, testing::Values(Inputs{"uniform", Uniform, 1000}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace stridewise
