// Operands of the tests of this folder: whole numbers from -5 to 5, whose sums are exact in any
// order.

#ifndef STRIDEWISE_MATMUL_CPU_WHOLE_NUMBERS_H_
#define STRIDEWISE_MATMUL_CPU_WHOLE_NUMBERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stridewise {

// Returns `count` of them; those of another `step` stand in another order.
template <typename T>
std::vector<T> WholeNumbers(int64_t count, int64_t step) {
  std::vector<T> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    values[static_cast<size_t>(i)] = static_cast<T>(static_cast<float>(i * step % 11 - 5));
  }
  return values;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_CPU_WHOLE_NUMBERS_H_
