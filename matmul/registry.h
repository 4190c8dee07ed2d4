// Matrix multiplication C = A * B, and C = alpha * op(A) * op(B) + beta * C: every implementation
// here, by name. Programs that want just the fastest multiplication include matmul.h instead.
//
// op(A) is m x k, op(B) is k x n, C is m x n, all row-major with leading dimensions in elements;
// any extent may be 0 (k = 0 gives beta * C); k is below 2^31 for our own kernels. C must not
// overlap A or B. What C held before is not read where beta is 0, and A and B are not where alpha
// is 0. Rounding: each element is a sum of k products in the order and with the roundings that the
// implementation's `math` says; common/verify/validation.h bounds the error.

#ifndef STRIDEWISE_MATMUL_REGISTRY_H_
#define STRIDEWISE_MATMUL_REGISTRY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/base/element_type.h"
#include "common/gpu/device_model.h"
#include "common/gpu/implementation.h"
#include "common/gpu/launch_status.h"
#include "matmul/args.h"
#include "matmul/kernel_work.h"
#include "matmul/operands.h"

namespace stridewise {

// The precisions that implementations take, for MatMulImplementation::precisions.
inline constexpr MatMulPrecision kFullPrecision[] = {MatMulPrecision::kFp32};
// Rounding to 16 bits is allowed, not asked for: TF32 has FP16's digits and the exponents of float.
inline constexpr MatMulPrecision kTf32Precisions[] = {
    MatMulPrecision::kTf32, MatMulPrecision::kBf16, MatMulPrecision::kFp16};
inline constexpr MatMulPrecision kCublasLtPrecisions[] = {
    MatMulPrecision::kTf32, MatMulPrecision::kBf16, MatMulPrecision::kFp16,
    MatMulPrecision::kFp16Sums, MatMulPrecision::kFastSums};
inline constexpr MatMulPrecision kFp16SumsPrecision[] = {MatMulPrecision::kFp16Sums};
inline constexpr MatMulPrecision kFastSumsPrecision[] = {MatMulPrecision::kFastSums};
inline constexpr MatMulPrecision kRoundedPrecisions[] = {MatMulPrecision::kBf16,
                                                         MatMulPrecision::kFp16};
inline constexpr MatMulPrecision kSplitPrecision[] = {MatMulPrecision::kFp32Split};
inline constexpr MatMulPrecision kMediumPrecision[] = {MatMulPrecision::kFp32Medium};
inline constexpr MatMulPrecision kFlatPrecisions[] = {MatMulPrecision::kFp32Split,
                                                      MatMulPrecision::kFp32SplitInt8};
inline constexpr MatMulPrecision kSplitPrecisions[] = {
    MatMulPrecision::kFp32Split, MatMulPrecision::kFp32SplitInt8, MatMulPrecision::kFp32Medium};
inline constexpr MatMulPrecision kAllPrecisions[] = {
    MatMulPrecision::kFp32,          MatMulPrecision::kFp32Split,  MatMulPrecision::kTf32,
    MatMulPrecision::kFp32SplitInt8, MatMulPrecision::kFp32Medium, MatMulPrecision::kBf16,
    MatMulPrecision::kFp16,          MatMulPrecision::kFp16Sums,   MatMulPrecision::kFastSums};

// The element types that implementations take, for MatMulImplementation::types.
inline constexpr MatMulTypes kFp32[] = {AllOf(ElementType::kFloat)};
inline constexpr MatMulTypes kFp32AndFp64[] = {AllOf(ElementType::kFloat),
                                               AllOf(ElementType::kDouble)};
// 16-bit operands with sums in FP32, and C of either type.
inline constexpr MatMulTypes kBf16ToBf16 = {ElementType::kBf16, ElementType::kBf16,
                                            ElementType::kBf16, ElementType::kFloat};
inline constexpr MatMulTypes kBf16ToFloat = {ElementType::kBf16, ElementType::kBf16,
                                             ElementType::kFloat, ElementType::kFloat};
inline constexpr MatMulTypes kFp16ToFp16 = {ElementType::kFp16, ElementType::kFp16,
                                            ElementType::kFp16, ElementType::kFloat};
inline constexpr MatMulTypes kFp16ToFloat = {ElementType::kFp16, ElementType::kFp16,
                                             ElementType::kFloat, ElementType::kFloat};
inline constexpr MatMulTypes kBf16[] = {kBf16ToBf16};
inline constexpr MatMulTypes kHostBf16Types[] = {kBf16ToBf16, kBf16ToFloat};
inline constexpr MatMulTypes kOneDnnTypes[] = {AllOf(ElementType::kFloat), kBf16ToFloat};
inline constexpr MatMulTypes k16Bit[] = {kBf16ToBf16, kBf16ToFloat, kFp16ToFp16, kFp16ToFloat};
// 8-bit operands: integers with exact sums, and floating-point ones with sums in FP32.
inline constexpr MatMulTypes kS8ToInt = {ElementType::kS8, ElementType::kS8, ElementType::kInt,
                                         ElementType::kInt};
inline constexpr MatMulTypes kE4m3ToFloat = {ElementType::kE4m3, ElementType::kE4m3,
                                             ElementType::kFloat, ElementType::kFloat};
inline constexpr MatMulTypes kE4m3ToBf16 = {ElementType::kE4m3, ElementType::kE4m3,
                                            ElementType::kBf16, ElementType::kFloat};
inline constexpr MatMulTypes kE5m2ToFloat = {ElementType::kE5m2, ElementType::kE5m2,
                                             ElementType::kFloat, ElementType::kFloat};
inline constexpr MatMulTypes kE5m2ToBf16 = {ElementType::kE5m2, ElementType::kE5m2,
                                            ElementType::kBf16, ElementType::kFloat};
inline constexpr MatMulTypes kE4m3ToFp16 = {ElementType::kE4m3, ElementType::kE4m3,
                                            ElementType::kFp16, ElementType::kFloat};
inline constexpr MatMulTypes kE5m2ToFp16 = {ElementType::kE5m2, ElementType::kE5m2,
                                            ElementType::kFp16, ElementType::kFloat};
// Operands of different types, as cuBLASLt takes them.
inline constexpr MatMulTypes kE4m3E5m2ToFloat = {ElementType::kE4m3, ElementType::kE5m2,
                                                 ElementType::kFloat, ElementType::kFloat};
inline constexpr MatMulTypes kE4m3E5m2ToBf16 = {ElementType::kE4m3, ElementType::kE5m2,
                                                ElementType::kBf16, ElementType::kFloat};
inline constexpr MatMulTypes kE4m3E5m2ToFp16 = {ElementType::kE4m3, ElementType::kE5m2,
                                                ElementType::kFp16, ElementType::kFloat};
inline constexpr MatMulTypes kE5m2E4m3ToFloat = {ElementType::kE5m2, ElementType::kE4m3,
                                                 ElementType::kFloat, ElementType::kFloat};
inline constexpr MatMulTypes kE5m2E4m3ToBf16 = {ElementType::kE5m2, ElementType::kE4m3,
                                                ElementType::kBf16, ElementType::kFloat};
inline constexpr MatMulTypes kE5m2E4m3ToFp16 = {ElementType::kE5m2, ElementType::kE4m3,
                                                ElementType::kFp16, ElementType::kFloat};
// Exact sums, rounded to float and scaled.
inline constexpr MatMulTypes kS8ToFloat = {ElementType::kS8, ElementType::kS8, ElementType::kFloat,
                                           ElementType::kInt};
inline constexpr MatMulTypes kFp64[] = {AllOf(ElementType::kDouble)};
inline constexpr MatMulTypes kInt8[] = {kS8ToInt, kS8ToFloat};
inline constexpr MatMulTypes kInt8InInt[] = {kS8ToInt};
inline constexpr MatMulTypes kE4m3[] = {kE4m3ToFloat, kE4m3ToBf16, kE4m3ToFp16};
inline constexpr MatMulTypes kE5m2[] = {kE5m2ToFloat, kE5m2ToBf16, kE5m2ToFp16};
inline constexpr MatMulTypes kMixedFp8[] = {kE4m3E5m2ToFloat, kE4m3E5m2ToBf16, kE4m3E5m2ToFp16,
                                            kE5m2E4m3ToFloat, kE5m2E4m3ToBf16, kE5m2E4m3ToFp16};

// Returns the types of all lists, in order.
template <size_t... kSizes>
constexpr auto Together(const MatMulTypes (&... lists)[kSizes]) {
  std::array<MatMulTypes, (kSizes + ...)> all{};
  size_t count = 0;
  const auto add = [&](const MatMulTypes* list, size_t size) {
    for (size_t i = 0; i < size; ++i) all[count++] = list[i];
  };
  (add(lists, kSizes), ...);
  return all;
}

inline constexpr auto kFp8OfOneType = Together(kE4m3, kE5m2);
inline constexpr auto kFp8 = Together(kE4m3, kE5m2, kMixedFp8);
inline constexpr auto k8Bit = Together(kInt8, kE4m3, kE5m2, kMixedFp8);
inline constexpr auto kCublasLtTypes = Together(kFp32, k16Bit, kInt8InInt, kE4m3, kMixedFp8);
// Sums rounded to FP16.
inline constexpr MatMulTypes kFp16InFp16[] = {AllOf(ElementType::kFp16)};
// All that `auto` takes.
inline constexpr auto kAutoTypes = Together(kFp32, k16Bit, kInt8, kE4m3, kE5m2, kMixedFp8);
inline constexpr auto kCublasTypes = Together(kFp32AndFp64, k16Bit);

// Returns the bytes that any implementation must move: A and B are read once, C is written once.
double MatMulBytes(int64_t m, int64_t n, int64_t k, const MatMulTypes& types);

// Returns the operations that any implementation must do; a multiply-add counts as two.
double MatMulFlops(int64_t m, int64_t n, int64_t k);

// What a kernel takes: the condition, and the same in words.
struct MatMulTakes {
  const char* text = "";
  bool (*takes)(const MatMulArgs& args) = nullptr;
};

// What `auto` knows of an implementation that it can run: the calls that it takes, on a device that
// it was written for, and the work that it then does, from which cost_model.h predicts its time.
struct MatMulDispatchRule {
  MatMulTakes takes;  // Looks at everything but the memory that pointers point to.

  // Counts for a call that it takes. Null for implementations that `auto` never runs.
  MatMulWork (*work)(const MatMulCall& call, const MatMulTile& tile) = nullptr;

  const char* measured = "";  // One line: what it is there for, with figures.

  // Of calls that are not of FP32 there is no prediction: `auto` runs the first entry that is
  // `first`, takes the call and runs on the device.
  bool first = false;
};

// An entry of the registry, as a line of kernels.inc makes it.
struct MatMulImplementation : Implementation {
  std::string math = "fma";  // How products are summed: "fma", "multiply_add", a library's mode.
  absl::Span<const MatMulTypes> types = kFp32;  // The combinations of element types that it takes.
  bool general = false;  // Takes transposed operands, alpha, beta and batches.
  bool takes_epilogue = false;
  bool takes_scales = false;
  absl::Span<const MatMulPrecision> precisions = kFullPrecision;
  MatMulTile tile;
  MatMulDispatchRule dispatch;

  // Returns the bytes of workspace that make it fastest for these arguments; fewer are allowed.
  // Null for most: a workspace makes no difference.
  int64_t (*workspace_bytes)(const MatMulArgs& args) = nullptr;

  // Null where the program was built without what it needs (device code). Use RunMatMul().
  LaunchStatus (*run)(const MatMulArgs& args) = nullptr;
};

// Returns the types that the implementation multiplies these operands with: those of a, b and c,
// and the accumulator that belongs to them. Null where it does not take them.
const MatMulTypes* FindTypes(const MatMulImplementation& implementation, const MatMulArgs& args);

// Returns whether cuBLASLt takes operands stored like these: of 8-bit ones only those along k.
inline bool CublasLtTakesLayouts(const MatMulArgs& args) {
  return ElementBytes(args.a.type) > 1 || (!args.a.transposed && args.b.transposed);
}

// Returns whether the precision is one of such operands.
bool IsPrecisionOf(MatMulPrecision precision, ElementType operands);

// Returns whether the implementation multiplies such operands in this precision. Of other types
// than float it takes kFp32, too: then its sums are what they are.
bool TakesPrecision(const MatMulImplementation& implementation, MatMulPrecision precision,
                    ElementType operands = ElementType::kFloat);

// Returns whether the implementation takes A, B and C of this type.
bool TakesType(const MatMulImplementation& implementation, ElementType type);

// Returns all implementations in the order of kernels.inc.
absl::Span<const MatMulImplementation> MatMulImplementations();

// Returns the implementation's workspace_bytes() for these arguments; 0 where it has none.
int64_t MatMulWorkspaceBytes(const MatMulImplementation& implementation, const MatMulArgs& args);

// Returns the entry of that name; null where there is none.
const MatMulImplementation* FindMatMulImplementation(absl::string_view name);

// Checks the arguments and runs the implementation. Returns InvalidArgument, naming the argument
// and its value, before anything is launched, also for what the implementation does not take;
// Unavailable when it was not built in. A device implementation is queued on args.stream and not
// waited for.
absl::Status RunMatMul(const MatMulImplementation& implementation, const MatMulArgs& args);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_REGISTRY_H_
