// The fixture of GPU tests of TF32, INT8 and FP8: products of these types with and without a
// workspace, every element compared.

#ifndef STRIDEWISE_MATMUL_TEST_TENSOR_TYPES_TEST_H_
#define STRIDEWISE_MATMUL_TEST_TENSOR_TYPES_TEST_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <type_traits>

#include "absl/strings/string_view.h"
#include "common/base/element_type.h"
#include "common/base/half_types.h"
#include "gtest/gtest.h"
#include "matmul/reference.h"
#include "matmul/registry.h"
#include "matmul/test/device_implementation_test.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"

namespace stridewise {

// Rounds to 11 significant bits, to the nearest and ties to even.
inline float RoundToTf32(float value) {
  const uint32_t bits = BitsOfFloat(value);
  if (std::isnan(value)) return value;
  return FloatOfBits((bits + 0xfff + (bits >> 13 & 1)) & ~0x1fffu);
}

class TensorTypesGpuTest : public DeviceImplementationTest {
 protected:
  // Returns whether the kernel takes operands of this type; floats as TF32.
  bool Takes(ElementType operands, ElementType output) const {
    const bool precision =
        operands != ElementType::kFloat || TakesPrecision(*implementation_, MatMulPrecision::kTf32);
    return precision && TakesTypes(*implementation_, operands, output);
  }
  // Returns whether it takes an A and a B of these types.
  template <typename OfA, typename OfB, typename Out>
  bool TakesBoth() const {
    MatMulArgs args;
    args.a.type = kElementTypeOf<OfA>;
    args.b.type = kElementTypeOf<OfB>;
    args.c.type = kElementTypeOf<Out>;
    return FindTypes(*implementation_, args) != nullptr;
  }

  // Runs the product with and without a workspace, and compares both with one reference.
  template <typename T, typename Out, typename OfB = T>
  void RunCase(const MatMulCase& c, const MatMulScales& scales = {}) {
    MatMulTestProblem<T, Out, OfB> problem(c);
    const ProductAccuracy accuracy = Prepare(scales, &problem);
    for (const bool with_workspace : {true, false}) {
      problem.ResetC();
      const absl::Status status = RunOnDevice(&problem, with_workspace);
      ASSERT_TRUE(status.ok()) << c << ": " << status;
      const absl::Status check = problem.Check(ReferenceHandle(c, scales), accuracy);
      ASSERT_TRUE(check.ok()) << c << (with_workspace ? "" : ", no workspace") << ": " << check;
    }
  }

  MatMulPrecision sums_ = MatMulPrecision::kFp32;  // Of operands that are not floats.

 private:
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
};

inline bool TakesTf32(const MatMulImplementation& implementation) {
  return TakesType(implementation, ElementType::kFloat) &&
         TakesPrecision(implementation, MatMulPrecision::kTf32);
}

inline bool TakesFastSums(const MatMulImplementation& implementation) {
  return TakesPrecision(implementation, MatMulPrecision::kFastSums, ElementType::kE4m3);
}

// Returns those of the fixture's kernels to which a suite applies.
template <typename Applies>
auto TensorTypesImplementations(Applies applies) {
  return DeviceImplementations([applies](const MatMulImplementation& implementation) {
    constexpr absl::string_view kNames[] = {
        "auto",        "tensor_tf32", "tensor_few_tf32", "tensor_mma_tf32", "tensor_few_int8",
        "tensor_int8", "tensor_fp8",  "tensor_fp8_fast", "tensor_mma_8bit", "tensor_fp16_sums"};
    const auto* const end = std::end(kNames);
    return std::find(std::begin(kNames), end, implementation.name) != end &&
           applies(implementation);
  });
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TEST_TENSOR_TYPES_TEST_H_
