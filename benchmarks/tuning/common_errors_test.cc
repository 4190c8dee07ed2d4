// Times of two fast kernels, a slow one and one alone, whose predictions are known.

#include "benchmarks/tuning/common_errors.h"

#include <cmath>
#include <cstddef>
#include <vector>

#include "benchmarks/tuning/fit_costs.h"
#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/cost_model.h"
#include "matmul/dispatch.h"

namespace stridewise {
namespace {

constexpr DeviceModel kH200 = H200Model();

MatMulArgs SmallArgs() {
  MatMulArgs args;
  args.m = args.n = args.k = 64;
  args.a.ld = args.b.ld = args.c.ld = 64;
  return args;
}

// Kernels, each of which is predicted to take its `predicted_us` whatever the product.
class CommonErrorsTest : public testing::Test {
 protected:
  void AddKernel(double predicted_us) {
    KernelSamples kernel = {&MatMulDispatchTable()[0], {}, {}, {}};
    kernel.model.costs.fixed = predicted_us;
    kernels_.push_back(kernel);
  }

  // Adds a sample to the last kernel.
  void AddSample(size_t product, double us, double weight) {
    const MatMulCall call(args_, kH200);
    kernels_.back().samples.push_back({call, {}, us, weight});
    kernels_.back().products.push_back(product);
  }

  double Us(size_t kernel, size_t sample) const { return kernels_[kernel].samples[sample].us; }

  const MatMulArgs args_ = SmallArgs();
  std::vector<KernelSamples> kernels_;
};

TEST_F(CommonErrorsTest, WhatTwoFastKernelsShareIsDividedOutOfAllTimes) {
  AddKernel(10);
  AddSample(0, 20, 1);
  AddKernel(30);
  AddSample(0, 60, 1);
  AddKernel(20);  // Four times as slow as predicted, but too slow to have a say.
  AddSample(0, 80, 0);
  DivideByCommonErrors(1, &kernels_);
  // Both take twice as long as predicted; with the error of 0 that is two thirds of log 2.
  const double common = std::pow(2, 2.0 / 3);
  EXPECT_NEAR(Us(0, 0), 20 / common, 1e-9);
  EXPECT_NEAR(Us(1, 0), 60 / common, 1e-9);
  EXPECT_NEAR(Us(2, 0), 80 / common, 1e-9);
}

TEST_F(CommonErrorsTest, OppositeErrorsStay) {
  AddKernel(10);
  AddSample(0, 20, 1);
  AddKernel(10);
  AddSample(0, 5, 1);
  DivideByCommonErrors(1, &kernels_);
  EXPECT_NEAR(Us(0, 0), 20, 1e-9);
  EXPECT_NEAR(Us(1, 0), 5, 1e-9);
}

TEST_F(CommonErrorsTest, AWeightCountsByItsFourthPower) {
  AddKernel(10);
  AddSample(0, 20, 1);
  AddKernel(10);
  AddSample(0, 10, 0.5);
  DivideByCommonErrors(1, &kernels_);
  const double common = std::pow(2, 1 / (1 + 1 + 1.0 / 16));
  EXPECT_NEAR(Us(0, 0), 20 / common, 1e-9);
  EXPECT_NEAR(Us(1, 0), 10 / common, 1e-9);
}

TEST_F(CommonErrorsTest, ProductsAreApartAndOneKernelCountsByHalf) {
  AddKernel(10);
  AddSample(0, 40, 1);
  AddSample(2, 10, 1);
  DivideByCommonErrors(3, &kernels_);
  EXPECT_NEAR(Us(0, 0), 20, 1e-9);
  EXPECT_NEAR(Us(0, 1), 10, 1e-9);
}

TEST_F(CommonErrorsTest, CorrectionsArePartOfThePrediction) {
  AddKernel(10);
  AddSample(0, 20, 1);
  MatMulCorrection doubled = {};
  for (float& factor : doubled.factors) factor = 2;
  kernels_[0].model.corrections = {doubled};
  kernels_[0].model.most_correction = 2;
  DivideByCommonErrors(1, &kernels_);
  EXPECT_NEAR(Us(0, 0), 20, 1e-5);
}

}  // namespace
}  // namespace stridewise
