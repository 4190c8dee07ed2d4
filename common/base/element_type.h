// The element types of matrices, and what follows from them: name, size and unit roundoff.

#ifndef STRIDEWISE_COMMON_BASE_ELEMENT_TYPE_H_
#define STRIDEWISE_COMMON_BASE_ELEMENT_TYPE_H_

#include <cstdint>

#include "common/base/fp8_types.h"
#include "common/base/half_types.h"

namespace stridewise {

// Lists every type that any operation knows. Each registry line says which of them it takes.
enum class ElementType {
  kU8,
  kU16,
  kInt,
  kFloat,
  kDouble,
  kFloat4,
  kBf16,
  kFp16,
  kS8,
  kE4m3,
  kE5m2
};
inline constexpr int kNumElementTypes = 11;

// Returns the name that flags and CSV rows use: "u8", "float", "bf16".
const char* ElementTypeName(ElementType type);

int64_t ElementBytes(ElementType type);

// Returns the largest relative error of rounding a number to the type: 2^-24 for float. Returns 0
// for types whose elements are only moved.
double UnitRoundoff(ElementType type);

// Is the element type of the C++ type T. There is none for types that are not specialised here.
template <typename T>
inline constexpr ElementType kElementTypeOf = T::kHasNoElementType;
template <>
inline constexpr ElementType kElementTypeOf<float> = ElementType::kFloat;
template <>
inline constexpr ElementType kElementTypeOf<double> = ElementType::kDouble;
template <>
inline constexpr ElementType kElementTypeOf<Bf16> = ElementType::kBf16;
template <>
inline constexpr ElementType kElementTypeOf<Fp16> = ElementType::kFp16;
template <>
inline constexpr ElementType kElementTypeOf<int8_t> = ElementType::kS8;
template <>
inline constexpr ElementType kElementTypeOf<int32_t> = ElementType::kInt;
template <>
inline constexpr ElementType kElementTypeOf<E4m3> = ElementType::kE4m3;
template <>
inline constexpr ElementType kElementTypeOf<E5m2> = ElementType::kE5m2;

// Calls fn(T()) for the T of the list whose element type is `type`, and returns what fn returns.
// REQUIRES: `type` is that of one of them; the last is taken unseen.
template <typename T, typename... Others, typename Fn>
auto ForElementType(ElementType type, Fn&& fn) {
  if constexpr (sizeof...(Others) > 0) {
    if (type != kElementTypeOf<T>) return ForElementType<Others...>(type, fn);
  }
  return fn(T());
}

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_ELEMENT_TYPE_H_
