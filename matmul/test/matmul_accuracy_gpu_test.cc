// `auto` is as accurate as cuBLAS's SGEMM, on inputs of four kinds.
//
// The measure is the error of all million elements together, ||C - R||_F against an FP64 reference.
// Sums along k from the first product to the last and from the last to the first, two equally good
// orders, differ by at most 0.4 % in it (the same four inputs on a CPU); sums in two halves have
// 0.71 of their error, or in the case of cancellation the same. So chance does not pass for a
// better order, nor a worse order for chance.

#include <cmath>
#include <cstdint>
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
#include "matmul/test/split_cases.h"

namespace stridewise {
namespace {

constexpr int64_t kExtent = 1000;
constexpr uint64_t kSeedA = 1;
constexpr uint64_t kSeedB = 2;
constexpr double kChance = 1.05;

// Either sign, and exponents over 12 decimal digits.
double WideExponents(uint64_t seed, int64_t index) {
  const double magnitude = std::exp2(20 * UniformValue(seed, 2 * index));
  return UniformValue(seed, 2 * index + 1) < 0 ? -magnitude : magnitude;
}

struct Inputs {
  std::string name;
  double (*value)(uint64_t seed, int64_t index);
  // The second half of each sum takes away the first but for one part in a thousand.
  bool cancels = false;
};

class MatMulAccuracyTest : public testing::TestWithParam<Inputs> {
 protected:
  void SetUp() override {
    const auto device = OpenDevice(0);
    if (!device.ok()) GTEST_SKIP() << device.status();
    auto cublas = CublasHandle::Create();
    ASSERT_TRUE(cublas.ok()) << cublas.status();
    cublas_ = *std::move(cublas);
    for (int64_t i = 0; i < kExtent * kExtent; ++i) {
      a_[i] = static_cast<float>(GetParam().value(kSeedA, i));
      b_[i] = static_cast<float>(GetParam().value(kSeedB, i));
    }
    if (GetParam().cancels) Cancel();
    const absl::Status status = Prepare();
    ASSERT_TRUE(status.ok()) << status;
  }

  // ||C - R||_F of what `run` makes of these inputs.
  absl::StatusOr<double> Error(absl::Status (*run)(const MatMulArgs& args)) {
    RETURN_IF_ERROR(device_c_.Poison());
    RETURN_IF_ERROR(run(args_));
    RETURN_IF_ERROR(gpu::Synchronize(nullptr));
    std::vector<float> c(r_.size());
    RETURN_IF_ERROR(gpu::Copy(c.data(), device_c_.data(), device_c_.bytes()));
    double squares = 0;
    for (size_t i = 0; i < c.size(); ++i) squares += (c[i] - r_[i]) * (c[i] - r_[i]);
    return std::sqrt(squares);
  }

 private:
  // A = [X X], B = [Y; -Y (1 + e)].
  void Cancel() {
    constexpr int64_t kHalf = kExtent / 2;
    for (int64_t row = 0; row < kExtent; ++row) {
      for (int64_t i = 0; i < kHalf; ++i) {
        a_[row * kExtent + kHalf + i] = a_[row * kExtent + i];
        float& last = b_[(kHalf + i) * kExtent + row];
        last = static_cast<float>(-b_[i * kExtent + row] * (1 + 1e-3 * last));
      }
    }
  }

  absl::Status Prepare() {
    const size_t bytes = a_.size() * sizeof(float);
    ASSIGN_OR_RETURN(device_a_, DeviceBuffer::Allocate(bytes));
    ASSIGN_OR_RETURN(device_b_, DeviceBuffer::Allocate(bytes));
    ASSIGN_OR_RETURN(device_c_, DeviceBuffer::Allocate(bytes));
    RETURN_IF_ERROR(gpu::Copy(device_a_.data(), a_.data(), bytes));
    RETURN_IF_ERROR(gpu::Copy(device_b_.data(), b_.data(), bytes));
    args_.m = args_.n = args_.k = kExtent;
    args_.cublas = cublas_.get();
    args_.a = {a_.data(), kExtent};
    args_.b = {b_.data(), kExtent};
    args_.c.ld = kExtent;
    std::vector<double> s(r_.size());
    RETURN_IF_ERROR(ReferenceProducts(args_, {r_.data(), kExtent, kExtent, kExtent},
                                      {s.data(), kExtent, kExtent, kExtent}));
    args_.a.data = device_a_.data();
    args_.b.data = device_b_.data();
    args_.c.data = device_c_.data();
    return absl::OkStatus();
  }

  std::vector<float> a_ = std::vector<float>(kExtent * kExtent);
  std::vector<float> b_ = a_;
  std::vector<double> r_ = std::vector<double>(kExtent * kExtent);
  CublasHandle cublas_;
  DeviceBuffer device_a_, device_b_, device_c_;
  MatMulArgs args_;
};

TEST_P(MatMulAccuracyTest, IsNoWorseThanCublas) {
  const auto own = Error(
      [](const MatMulArgs& args) { return RunMatMul(*FindMatMulImplementation("auto"), args); });
  const auto cublas = Error(
      [](const MatMulArgs& args) { return RunMatMul(*FindMatMulImplementation("cublas"), args); });
  ASSERT_TRUE(own.ok()) << own.status();
  ASSERT_TRUE(cublas.ok()) << cublas.status();
  EXPECT_GT(*cublas, 0);
  EXPECT_LE(*own, kChance * *cublas);
}

INSTANTIATE_TEST_SUITE_P(All, MatMulAccuracyTest,
                         testing::Values(Inputs{"uniform", UniformValue},
                                         Inputs{"normal", NormalValue},
                                         Inputs{"wide_exponents", WideExponents},
                                         Inputs{"cancellation", UniformValue, true}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace stridewise
