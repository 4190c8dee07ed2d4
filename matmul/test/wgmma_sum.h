// A sum as wgmma makes it, for the models of kernels.

#ifndef STRIDEWISE_MATMUL_TEST_WGMMA_SUM_H_
#define STRIDEWISE_MATMUL_TEST_WGMMA_SUM_H_

#include <algorithm>
#include <cmath>

namespace stridewise {

// Adds an instruction's products to a sum: all are aligned to the largest and cut off at 25
// fractional bits, and so is the sum at FP32's.
inline float SumOfInstruction(float sum, const double* products, int count) {
  double most = std::abs(sum);
  for (int i = 0; i < count; ++i) most = std::max(most, std::abs(products[i]));
  if (most == 0 || !std::isfinite(most)) return sum;
  const double unit = std::ldexp(1, std::ilogb(most) - 25);
  double total = std::trunc(sum / unit);
  for (int i = 0; i < count; ++i) total += std::trunc(products[i] / unit);
  total *= unit;
  const auto rounded = static_cast<float>(total);
  return std::abs(rounded) > std::abs(total) ? std::nextafter(rounded, 0.0F) : rounded;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TEST_WGMMA_SUM_H_
