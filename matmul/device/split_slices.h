// The three INT8 numbers that a float becomes, and for which sums of products they are good enough.
//
// A scaled element x is rounded to a whole number of 2^-8, whose three bytes are digits from -128
// to 127: x is 2^8 d[0] + d[1] + 2^-8 d[2], but for 2^-9. Sums of their products are exact. The
// error is relative to the largest of a row, so that a row needs many elements that are not much
// smaller. docs/fp32_split.md has the bound of the products, and why the counts suffice.
//
// Source: H. Ootomo, K. Ozaki, R. Yokota, "DGEMM on Integer Matrix Multiplication Unit", 2023.

#ifndef STRIDEWISE_MATMUL_DEVICE_SPLIT_SLICES_H_
#define STRIDEWISE_MATMUL_DEVICE_SPLIT_SLICES_H_

#include <cmath>
#include <cstdint>

#include "matmul/device/split_number.h"
#include "matmul/device/split_scheme.h"

namespace stridewise {

struct Int8Slices {
  using Element = int8_t;
  using Two = TwoInt8;
  using Sum = int32_t;
  static constexpr SplitForm kForm = kInt8SliceForm;
  static constexpr int kMostOrder = 2;
  // The largest number of three digits is 0x7f7f7f; above it the next power of two is taken.
  static constexpr uint32_t kExponentSlack = 0x10101;

  // Elements from here on, as scaled, count as large.
  static constexpr float kLargeElement = 2048;

  // Poor is the sum of the elements' sizes, as scaled, in units of 2^7.
  struct Counts {
    float size_x = 0, size_y = 0;
    int large_x = 0, large_y = 0;

    STRIDEWISE_HOST_DEVICE int LargeX() const { return large_x; }
    STRIDEWISE_HOST_DEVICE int LargeY() const { return large_y; }
    STRIDEWISE_HOST_DEVICE int PoorX() const { return static_cast<int>(size_x * 0x1p-7F) + 1; }
    STRIDEWISE_HOST_DEVICE int PoorY() const { return static_cast<int>(size_y * 0x1p-7F) + 1; }
  };

  STRIDEWISE_HOST_DEVICE static void Split(ScaledElement x, ScaledElement y, Two (&parts)[3],
                                           Counts* counts) {
    counts->size_x += std::abs(x.value);
    counts->size_y += std::abs(y.value);
    if (std::abs(x.value) >= kLargeElement) ++counts->large_x;
    if (std::abs(y.value) >= kLargeElement) ++counts->large_y;
    // With 128 added to each digit, the digits are the bytes.
    const uint32_t bytes_x = RoundToInt(x.value * 256) + 0x808080;
    const uint32_t bytes_y = RoundToInt(y.value * 256) + 0x808080;
    const uint32_t low = LowBytes(bytes_x, bytes_y) ^ 0x80808080;
    const uint32_t high = LowBytes(bytes_x >> 16, bytes_y >> 16) ^ 0x80808080;
    parts[0] = TwoOf(high);
    parts[1] = TwoOf(low >> 16);
    parts[2] = TwoOf(low);
  }

  // With l large elements in a row of A and m in a column of B, l + m - k products are of two large
  // ones: k 2^-24 of their sum is at least (l + m - k) k / 4. The error is at most 129 k and 2^-9
  // of the sizes of both.
  STRIDEWISE_HOST_DEVICE static int Range(int large, int poor, int k) {
    const int balance = 2 * large - k - 520 - 2 * (poor / k + 1);
    return 2 * (balance > kNoSplit / 2 ? balance : kNoSplit / 2) + 1;
  }

  // Returns the sum of products from those of each order.
  STRIDEWISE_HOST_DEVICE static float Total(Sum large, Sum middle, Sum small) {
    return std::fma(static_cast<float>(large), 0x1p16F,
                    std::fma(static_cast<float>(middle), 0x1p8F, static_cast<float>(small)));
  }

 private:
  STRIDEWISE_HOST_DEVICE static Two TwoOf(uint32_t bytes) {
    return {static_cast<int8_t>(bytes), static_cast<int8_t>(bytes >> 8)};
  }
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_SPLIT_SLICES_H_
