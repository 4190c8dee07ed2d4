// TF32, INT8 and FP8 on a GPU: every kernel with the cases that all share, with and without a
// workspace, what the types round and lose, and the scales of FP8.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "common/base/fp8_types.h"
#include "common/base/half_types.h"
#include "common/gpu/launch_geometry.h"
#include "gtest/gtest.h"
#include "matmul/reference.h"
#include "matmul/registry.h"
#include "matmul/test/device_implementation_test.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"
#include "matmul/test/spoilt_problem.h"

namespace stridewise {
namespace {

// Rounds to 11 significant bits, to the nearest and ties to even.
float RoundToTf32(float value) {
  const uint32_t bits = BitsOfFloat(value);
  if (std::isnan(value)) return value;
  return FloatOfBits((bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu);
}

class TensorTypesGpuTest : public DeviceImplementationTest {
 protected:
  bool Takes(ElementType operands, ElementType output) const {
    const bool precision =
        operands != ElementType::kFloat || TakesPrecision(*implementation_, MatMulPrecision::kTf32);
    return precision && TakesTypes(operands, output);
  }
  template <typename OfA, typename OfB, typename Out>
  bool TakesBoth() const {
    MatMulArgs args;
    args.a.type = kElementTypeOf<OfA>;
    args.b.type = kElementTypeOf<OfB>;
    args.c.type = kElementTypeOf<Out>;
    return FindTypes(*implementation_, args) != nullptr;
  }

  template <typename T, typename Out, typename OfB = T>
  void RunCase(const MatMulCase& c, const MatMulScales& scales = {}) {
    for (const bool with_workspace : {true, false}) {
      MatMulTestProblem<T, Out, OfB> problem(c);
      const ProductAccuracy accuracy = Prepare(scales, &problem);
      const absl::Status status = RunOnDevice(&problem, with_workspace);
      ASSERT_TRUE(status.ok()) << c << ": " << status;
      const absl::Status check = problem.Check(ReferenceHandle(c, scales), accuracy);
      ASSERT_TRUE(check.ok()) << c << (with_workspace ? "" : ", no workspace") << ": " << check;
    }
  }

  // Returns the handle by which the device computes a reference that takes the host a second, and
  // null for others: cases of all kernels took 190 seconds, nearly all of them the host's.
  cublasHandle_t ReferenceHandle(const MatMulCase& c, const MatMulScales& scales) {
    constexpr int64_t kMostOnHost = int64_t{1} << 24;
    const bool scaled = scales.a != nullptr || scales.b != nullptr;
    return !scaled && c.m * c.n * c.k > kMostOnHost ? cublas() : nullptr;
  }

  // Sets precision and scales, and rounds operands of float to TF32.
  template <typename T, typename Out, typename OfB>
  ProductAccuracy Prepare(const MatMulScales& scales, MatMulTestProblem<T, Out, OfB>* problem) {
    if constexpr (std::is_same_v<T, float>) {
      problem->SetPrecision(MatMulPrecision::kTf32);
      problem->ForOperands(RoundToTf32);
    }
    if (!std::is_same_v<T, float>) problem->SetPrecision(sums_);
    problem->SetScales(scales);
    ProductAccuracy accuracy = AccuracyOf(*implementation_, problem->args());
    accuracy.operand_unit = 0;
    return accuracy;
  }

  template <typename T, typename Out, typename OfB = T>
  void RunCases() {
    if (!Takes(kElementTypeOf<T>, kElementTypeOf<Out>) || !TakesBoth<T, OfB, Out>()) return;
    std::vector<MatMulCase> cases = MatMulCasesFor(*implementation_, /*all=*/false);
    // Tiles cut on all sides, with rows that the TMA can address, several rounds of blocks, and
    // more than one round of 128 of k.
    for (const int ops : {0, 1, 2, 3}) {
      MatMulCase large = {656, 784, 272, 0};
      large.transpose_a = (ops & 1) != 0;
      large.transpose_b = (ops & 2) != 0;
      cases.push_back(large);
      large.m = large.n = 144;
      large.k = 1040;
      large.batch = 3;
      large.alpha = -2;
      large.beta = ops % 2 == 0 ? 0 : 2;
      cases.push_back(large);
      large.n = 143;
      large.k = 1001;
      cases.push_back(large);
    }
    for (const MatMulCase& c : cases) {
      if (std::is_integral_v<Out> && c.alpha != std::trunc(c.alpha)) continue;
      RunCase<T, Out, OfB>(c);
    }
  }

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

  void RunAdversarial(MatMulPrecision sums);

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

  std::vector<float> scales_a_, scales_b_;
  MatMulPrecision sums_ = MatMulPrecision::kFp32;  // Of operands that are not floats.
};

TEST_P(TensorTypesGpuTest, Tf32) { RunCases<float, float>(); }
TEST_P(TensorTypesGpuTest, Int8) { RunCases<int8_t, int32_t>(); }
TEST_P(TensorTypesGpuTest, E4m3ToFloat) { RunCases<E4m3, float>(); }
TEST_P(TensorTypesGpuTest, E4m3ToBf16) { RunCases<E4m3, Bf16>(); }
TEST_P(TensorTypesGpuTest, E4m3ToFp16) { RunCases<E4m3, Fp16>(); }
TEST_P(TensorTypesGpuTest, E5m2ToFloat) { RunCases<E5m2, float>(); }
TEST_P(TensorTypesGpuTest, E5m2ToBf16) { RunCases<E5m2, Bf16>(); }
TEST_P(TensorTypesGpuTest, E5m2ToFp16) { RunCases<E5m2, Fp16>(); }

TEST_P(TensorTypesGpuTest, Int8ToFloat) { RunCases<int8_t, float>(); }
TEST_P(TensorTypesGpuTest, E4m3AndE5m2) {
  RunCases<E4m3, float, E5m2>();
  RunCases<E4m3, Bf16, E5m2>();
  RunCases<E5m2, Bf16, E4m3>();
  RunCases<E5m2, Fp16, E4m3>();
}

TEST_P(TensorTypesGpuTest, Epilogues) {
  if (!implementation_->takes_epilogue) GTEST_SKIP() << "takes none";
  RunFinished<float, float>();
  RunFinished<int8_t, float>();
  RunFinished<E4m3, float>();
  RunFinished<E4m3, Bf16>();
  RunFinished<E5m2, Fp16>();
  RunFinished<E4m3, Bf16, E5m2>();
}

// The widest tiles with all that an epilogue has, and operands through registers or not: few calls,
// so that compute-sanitizer ends.
TEST_P(TensorTypesGpuTest, EpilogueOfWideTiles) {
  if (!implementation_->takes_epilogue) GTEST_SKIP() << "takes none";
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

TEST_P(TensorTypesGpuTest, Fp16InFp16) {
  if (implementation_->types.size() > 1) GTEST_SKIP() << "sums in FP32";
  RunCases<Fp16, Fp16>();
}

TEST_P(TensorTypesGpuTest, Fp16SumsThatAreAskedFor) {
  if (!TakesPrecision(*implementation_, MatMulPrecision::kFp16Sums, ElementType::kFp16)) {
    GTEST_SKIP() << "sums in FP32";
  }
  sums_ = MatMulPrecision::kFp16Sums;
  RunCases<Fp16, Fp16>();
  RunCases<Fp16, float>();
}

TEST_P(TensorTypesGpuTest, FastSumsThatAreAskedFor) {
  if (!TakesPrecision(*implementation_, MatMulPrecision::kFastSums, ElementType::kE4m3)) {
    GTEST_SKIP() << "sums that are promoted";
  }
  sums_ = MatMulPrecision::kFastSums;
  RunCases<E4m3, Bf16>();
  RunCases<E5m2, float>();
  RunCases<E4m3, Fp16, E5m2>();
  if (implementation_->takes_epilogue) RunFinished<E4m3, Bf16>();
  RunScaled<E5m2, Bf16>();
}

TEST_P(TensorTypesGpuTest, Scales) {
  if (!implementation_->takes_scales) GTEST_SKIP() << "takes none";
  RunScaled<E4m3, float>();
  RunScaled<E5m2, Bf16>();
}

// Every float is rounded as RoundToTf32() does, not cut off: ties to even, subnormals, what rounds
// to infinity, and infinity.
TEST_P(TensorTypesGpuTest, Tf32RoundsOperands) {
  if (!Takes(ElementType::kFloat, ElementType::kFloat)) GTEST_SKIP() << "no TF32";
  constexpr uint32_t kMantissas[] = {0,      0xfff,  0x1000, 0x1001,   0x1fff,  0x2000,
                                     0x2fff, 0x3000, 0x3001, 0x7ff000, 0x7fffff};
  constexpr uint32_t kExponents[] = {0, 1, 2, 63, 126, 127, 128, 200, 253, 254};
  std::vector<float> values = {std::numeric_limits<float>::infinity()};
  for (const uint32_t exponent : kExponents) {
    for (const uint32_t mantissa : kMantissas) {
      for (const uint32_t sign : {0u, 1u}) {
        values.push_back(FloatOfBits(sign << 31 | exponent << 23 | mantissa));
      }
    }
  }
  for (const bool in_a : {true, false}) {
    for (const bool with_workspace : {true, false}) {
      const auto count = static_cast<int64_t>(values.size());
      MatMulTestProblem<float> problem({in_a ? count : 8, in_a ? 8 : count, 1, 0});
      problem.SetPrecision(MatMulPrecision::kTf32);
      problem.ForOperands([](float) { return 1.0f; });
      for (int64_t i = 0; i < count; ++i) {
        if (in_a) problem.SetA(i, 0, values[i]);
        if (!in_a) problem.SetB(0, i, values[i]);
      }
      const absl::Status status = RunOnDevice(&problem, with_workspace);
      ASSERT_TRUE(status.ok()) << status;
      const Matrix<float> c = problem.args().C<float>();
      for (int64_t i = 0; i < count; ++i) {
        const float want = RoundToTf32(values[i]);
        const float got = in_a ? c(i, 1) : c(1, i);
        EXPECT_EQ(got, want) << std::hexfloat << values[i] << (in_a ? " in A" : " in B")
                             << (with_workspace ? "" : ", no workspace");
      }
    }
  }
}

// The largest sum that INT32 holds: no step on the way there saturates.
TEST_P(TensorTypesGpuTest, Int8SumsUpToTheLargestInt) {
  if (!Takes(ElementType::kS8, ElementType::kInt)) GTEST_SKIP() << "no INT8";
  constexpr int64_t kDepth = 131071;
  for (const bool with_workspace : {true, false}) {
    MatMulTestProblem<int8_t, int32_t> problem({17, 24, kDepth, 0});
    problem.ForOperands([](int8_t) { return int8_t{-128}; });
    const absl::Status status = RunOnDevice(&problem, with_workspace);
    ASSERT_TRUE(status.ok()) << status;
    const Matrix<int32_t> c = problem.args().C<int32_t>();
    for (int64_t row = 0; row < c.rows; ++row) {
      for (int64_t col = 0; col < c.cols; ++col) ASSERT_EQ(c(row, col), 16384 * kDepth);
    }
  }
}

// Numbers of all exponents of E5m2, and k of which a few numbers decide: the bounds hold, and sums
// of positive numbers, whose errors do not cancel, show what promotion is for.
TEST_P(TensorTypesGpuTest, Fp8Adversarial) {
  if (!Takes(ElementType::kE5m2, ElementType::kFloat)) GTEST_SKIP() << "no FP8";
  for (const MatMulPrecision sums : {MatMulPrecision::kFp32, MatMulPrecision::kFastSums}) {
    if (TakesPrecision(*implementation_, sums, ElementType::kE5m2)) RunAdversarial(sums);
  }
}

void TensorTypesGpuTest::RunAdversarial(MatMulPrecision sums) {
  const MatMulCase deep = {144, 160, 8192, 0, false, true};
  MatMulTestProblem<E5m2, float> wide(deep);
  wide.SetPrecision(sums);
  int64_t number = 0;
  wide.ForOperands([&](E5m2 value) {
    const float wide_value = value;
    const int exponent = static_cast<int>(Mix64(static_cast<uint64_t>(number++)) % 24) - 16;
    return E5m2(std::ldexp(wide_value, exponent));
  });
  ASSERT_TRUE(RunOnDevice(&wide, true).ok());
  const ProductAccuracy accuracy = AccuracyOf(*implementation_, wide.args());
  const absl::Status check =
      wide.Check(nullptr, {accuracy.unit * std::sqrt(deep.k), accuracy.output_unit,
                           accuracy.output_least, accuracy.toward_zero});
  EXPECT_TRUE(check.ok()) << check;

  MatMulTestProblem<E5m2, float> positive(deep);
  positive.SetPrecision(sums);
  positive.ForOperands([](E5m2 value) { return E5m2(std::abs(static_cast<float>(value))); });
  ASSERT_TRUE(RunOnDevice(&positive, true).ok());
  const Matrix<float> c = positive.args().C<float>();
  std::vector<double> r(static_cast<size_t>(deep.m * deep.n));
  std::vector<double> s(r.size());
  ASSERT_TRUE(ReferenceProducts(positive.args(), {r.data(), deep.m, deep.n, deep.n},
                                {s.data(), deep.m, deep.n, deep.n})
                  .ok());
  double worst = 0;
  for (int64_t i = 0; i < deep.m * deep.n; ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(c(i / deep.n, i % deep.n)) / r[i] - 1));
  }
  RecordProperty("worst_relative_error", std::to_string(worst));
  std::printf("%s, %s: relative error of positive sums of k = %d: %.2e\n", GetParam().c_str(),
              PrecisionName(sums), static_cast<int>(deep.k), worst);
  if (implementation_->math == "tensor_fast" || sums == MatMulPrecision::kFastSums) {
    EXPECT_GT(worst, 0x1p-8);
  } else {
    EXPECT_LT(worst, 0x1p-9);
  }
}

// A NaN, or an infinity, spoils its row or column and nothing else: zero padding must not meet it.
TEST_P(TensorTypesGpuTest, NanAndInfinityStayInTheirRowAndColumn) {
  if (!Takes(ElementType::kFloat, ElementType::kFloat)) GTEST_SKIP() << "no TF32";
  for (const MatMulCase& c : SpoiltMatMulCases(*implementation_)) {
    for (const float value : {NAN, INFINITY}) {
      for (const bool in_a : {true, false}) {
        for (const bool with_workspace : {true, false}) {
          MatMulTestProblem<float> problem(c);
          problem.SetPrecision(MatMulPrecision::kTf32);
          Spoil(value, in_a, &problem);
          ASSERT_TRUE(RunOnDevice(&problem, with_workspace).ok()) << c;
          const absl::Status check = CheckSpoilt(in_a, problem);
          ASSERT_TRUE(check.ok()) << c << ", " << value << " in " << (in_a ? "A: " : "B: ")
                                  << check;
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, TensorTypesGpuTest,
                         testing::Values("auto", "tensor_tf32", "tensor_few_tf32",
                                         "tensor_mma_tf32", "tensor_int8", "tensor_fp8",
                                         "tensor_fp8_fast", "tensor_mma_8bit", "tensor_fp16_sums"),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace stridewise
