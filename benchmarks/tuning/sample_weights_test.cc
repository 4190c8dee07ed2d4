// Weights of samples whose predictions are known.

#include "benchmarks/tuning/sample_weights.h"

#include <cstddef>

#include "benchmarks/tuning/boost.h"
#include "benchmarks/tuning/kernel_samples_fixture.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

constexpr double kLeast = 0.15;

class SampleWeightsTest : public KernelSamplesFixture {
 protected:
  double Weight(size_t kernel, size_t sample) const { return Sample(kernel, sample).weight; }
};

TEST_F(SampleWeightsTest, FallsByTheFourthPowerToALeastOne) {
  EXPECT_DOUBLE_EQ(WeightOf(1), 1);
  EXPECT_DOUBLE_EQ(WeightOf(1.25), 0.4096);
  EXPECT_DOUBLE_EQ(WeightOf(100), kLeast);
}

TEST_F(SampleWeightsTest, ASlowKernelThatIsPredictedToBeFastCounts) {
  AddKernel(10);
  AddSample(0, 10, 1);
  AddKernel(12.5);
  AddSample(0, 100, kLeast);
  AddKernel(1000);
  AddSample(0, 100, kLeast);
  WeighByPredictions(1, &kernels_);
  EXPECT_DOUBLE_EQ(Weight(0, 0), 1);
  EXPECT_NEAR(Weight(1, 0), 0.4096, 1e-12);
  EXPECT_DOUBLE_EQ(Weight(2, 0), kLeast);
}

TEST_F(SampleWeightsTest, AWeightByTimesStaysWhereItIsGreater) {
  AddKernel(10);
  AddSample(0, 10, 1);
  AddKernel(100);
  AddSample(0, 11, 0.7);
  WeighByPredictions(1, &kernels_);
  EXPECT_DOUBLE_EQ(Weight(1, 0), 0.7);
}

TEST_F(SampleWeightsTest, ProductsAreApart) {
  AddKernel(10);
  AddSample(0, 10, kLeast);
  AddKernel(20);
  AddSample(1, 10, kLeast);
  WeighByPredictions(2, &kernels_);
  EXPECT_DOUBLE_EQ(Weight(0, 0), 1);
  EXPECT_DOUBLE_EQ(Weight(1, 0), 1);
}

// The fastest of all has a workspace; without one the second kernel is the fastest.
TEST_F(SampleWeightsTest, WithoutWorkspaceOnlyThoseWithoutAreCompared) {
  AddKernel(8);
  AddSample(0, 8, kLeast, /*workspace=*/true);
  AddKernel(10);
  AddSample(0, 10, kLeast);
  AddSample(0, 10, kLeast, /*workspace=*/true);
  WeighByPredictions(1, &kernels_);
  EXPECT_DOUBLE_EQ(Weight(0, 0), 1);
  EXPECT_DOUBLE_EQ(Weight(1, 0), 1);
  EXPECT_NEAR(Weight(1, 1), 0.4096, 1e-12);
}

TEST_F(SampleWeightsTest, CorrectionsArePartOfThePrediction) {
  AddKernel(10);
  AddSample(0, 10, kLeast);
  AddKernel(5);
  Correct(2.5);
  AddSample(0, 10, kLeast);
  WeighByPredictions(1, &kernels_);
  EXPECT_DOUBLE_EQ(Weight(0, 0), 1);
  EXPECT_NEAR(Weight(1, 0), 0.4096, 1e-6);
}

}  // namespace
}  // namespace stridewise
