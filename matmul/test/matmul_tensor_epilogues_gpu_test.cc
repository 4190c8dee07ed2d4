// Bias, activation and FP8's scales on a GPU: every kernel that takes them, in TF32, INT8 and FP8.

#include <cmath>
#include <cstdint>
#include <vector>

#include "common/base/fp8_types.h"
#include "common/base/half_types.h"
#include "common/gpu/launch_geometry.h"
#include "common/verify/fill.h"
#include "gtest/gtest.h"
#include "matmul/registry.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/tensor_types_test.h"

namespace stridewise {
namespace {

class TensorEpiloguesGpuTest : public TensorTypesGpuTest {
 protected:
  // Each bias and activation, with shapes that the TMA can address and others, tiles of each width,
  // and all layouts.
  template <typename T, typename Out, typename OfB = T>
  void RunFinished() {
    if (!Takes(kElementTypeOf<T>, kElementTypeOf<Out>) || !TakesBoth<T, OfB, Out>()) return;
    for (MatMulCase c : {MatMulCase{5, 3, 7, 1}, MatMulCase{656, 784, 272, 0},
                         MatMulCase{1040, 2064, 400, 0}, MatMulCase{143, 131, 300, 3}}) {
      for (const int ops : {0, 1, 2, 3}) {
        c.transpose_a = (ops & 1) != 0;
        c.transpose_b = (ops & 2) != 0;
        c.alpha = ops % 2 == 0 ? 1 : -0.5;
        c.beta = ops / 2 == 0 ? 0 : 2;
        for (const Activation activation :
             {Activation::kNone, Activation::kRelu, Activation::kGelu, Activation::kGeluErf}) {
          c.bias = ops % 2 == 0 || activation == Activation::kNone;
          c.activation = activation;
          RunCase<T, Out, OfB>(c);
        }
      }
    }
  }

  // Makes scales of 2^-3 to 2^4 with some bits of their own.
  MatMulScales MakeScales(const MatMulCase& c, bool per_128) {
    const int64_t blocks = per_128 ? CeilDiv(c.k, 128) : 1;
    scales_a_.resize(per_128 ? c.m * blocks : 1);
    scales_b_.resize(per_128 ? CeilDiv(c.n, 128) * blocks : 1);
    const auto fill = [](uint64_t seed, std::vector<float>* scales) {
      for (size_t i = 0; i < scales->size(); ++i) {
        const float fraction = 1.5f + 0.25f * UniformAt<float>(seed, static_cast<int64_t>(i));
        (*scales)[i] = std::ldexp(fraction, static_cast<int>(i * 5 % 8) - 3);
      }
    };
    fill(7, &scales_a_);
    fill(8, &scales_b_);
    return {scales_a_.data(), scales_b_.data(), per_128};
  }

  template <typename T, typename Out>
  void RunScaled() {
    if (!Takes(kElementTypeOf<T>, kElementTypeOf<Out>)) return;
    for (MatMulCase c :
         {MatMulCase{5, 3, 7, 1}, MatMulCase{128, 128, 128, 0}, MatMulCase{200, 328, 400, 0},
          MatMulCase{144, 272, 1040, 0}, MatMulCase{77, 131, 300, 3}, MatMulCase{48, 64, 0, 0}}) {
      for (const int ops : {0, 2, 3}) {
        c.transpose_a = (ops & 1) != 0;
        c.transpose_b = (ops & 2) != 0;
        for (const bool per_128 : {false, true}) {
          const MatMulScales scales = MakeScales(c, per_128);
          RunCase<T, Out>(c, scales);
          RunCase<T, Out>(c, {scales.a, nullptr, per_128});
          MatMulCase general = c;
          general.alpha = 0.5;
          general.beta = -1;
          general.batch = 2;
          RunCase<T, Out>(general, {nullptr, scales.b, per_128});
        }
      }
    }
  }

 private:
  std::vector<float> scales_a_, scales_b_;
};

TEST_P(TensorEpiloguesGpuTest, Epilogues) {
  RunFinished<float, float>();
  RunFinished<int8_t, float>();
  RunFinished<E4m3, float>();
  RunFinished<E4m3, Bf16>();
  RunFinished<E5m2, Fp16>();
  RunFinished<E4m3, Bf16, E5m2>();
}

// The widest tiles with all that an epilogue has, and operands through registers or not: few calls,
// so that compute-sanitizer ends.
TEST_P(TensorEpiloguesGpuTest, EpilogueOfWideTiles) {
  for (const bool transpose_b : {false, true}) {
    MatMulCase c = {1040, 2064, 144, 0, false, transpose_b, -0.5, 2};
    c.bias = true;
    c.activation = transpose_b ? Activation::kGeluErf : Activation::kGelu;
    if (Takes(ElementType::kFloat, ElementType::kFloat)) RunCase<float, float>(c);
    if (Takes(ElementType::kS8, ElementType::kFloat)) RunCase<int8_t, float>(c);
    if (TakesBoth<E4m3, E5m2, float>()) RunCase<E4m3, float, E5m2>(c);
    if (TakesBoth<E5m2, E4m3, Bf16>()) RunCase<E5m2, Bf16, E4m3>(c);
  }
}

using TensorScalesGpuTest = TensorEpiloguesGpuTest;
using TensorFastSumsGpuTest = TensorEpiloguesGpuTest;

TEST_P(TensorScalesGpuTest, Scales) {
  RunScaled<E4m3, float>();
  RunScaled<E5m2, Bf16>();
}

TEST_P(TensorFastSumsGpuTest, OfFastSums) {
  sums_ = MatMulPrecision::kFastSums;
  if (implementation_->takes_epilogue) RunFinished<E4m3, Bf16>();
  RunScaled<E5m2, Bf16>();
}

INSTANTIATE_TEST_SUITE_P(All, TensorEpiloguesGpuTest,
                         TensorTypesImplementations([](const auto& i) { return i.takes_epilogue; }),
                         NameOfImplementation);
INSTANTIATE_TEST_SUITE_P(All, TensorScalesGpuTest,
                         TensorTypesImplementations([](const auto& i) { return i.takes_scales; }),
                         NameOfImplementation);
INSTANTIATE_TEST_SUITE_P(All, TensorFastSumsGpuTest, TensorTypesImplementations(TakesFastSums),
                         NameOfImplementation);

}  // namespace
}  // namespace stridewise
