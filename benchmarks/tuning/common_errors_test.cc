// Times of two fast kernels, a slow one and one alone, whose predictions are known.

#include "benchmarks/tuning/common_errors.h"

#include <cmath>
#include <cstddef>

#include "benchmarks/tuning/kernel_samples_fixture.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

class CommonErrorsTest : public KernelSamplesFixture {
 protected:
  double Us(size_t kernel, size_t sample) const { return Sample(kernel, sample).us; }
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
  Correct(2);
  DivideByCommonErrors(1, &kernels_);
  EXPECT_NEAR(Us(0, 0), 20, 1e-5);
}

}  // namespace
}  // namespace stridewise
