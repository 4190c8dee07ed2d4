// Random transposes for tests, each made from a seed and its number alone.

#ifndef STRIDEWISE_TRANSPOSE_TEST_RANDOM_CASES_H_
#define STRIDEWISE_TRANSPOSE_TEST_RANDOM_CASES_H_

#include <algorithm>
#include <cstdint>

#include "common/base/case_random.h"
#include "transpose/test/transpose_test_problem.h"

namespace stridewise {

struct RandomTranspose {
  TransposeCase shape;
  int64_t element_bytes;
};

struct RandomLimits {
  int64_t extent = 300;
  int64_t batch = 4;  // Large matrices come alone.
  bool square = false;
};

// Half of all extents are 1 ... 20; the rest are multiples of 16 or anything, more often small than
// large. A quarter of all cases have everything in multiples of 16 elements, half no padding.
inline RandomTranspose RandomTransposeCase(uint64_t seed, int64_t number,
                                           const RandomLimits& limits) {
  CaseRandom random(seed, number);
  const bool aligned = random.OneIn(4);
  const auto extent = [&] {
    const int64_t largest = std::max<int64_t>(20, limits.extent >> random.Between(0, 3));
    if (aligned || random.OneIn(4)) return 16 * random.Between(1, largest / 16);
    return random.OneIn(3) ? random.Between(1, largest) : random.Between(1, 20);
  };
  const bool padded = random.OneIn(2);
  const auto padding = [&]() -> int64_t {
    if (!padded) return 0;
    return aligned ? 16 * random.Between(0, 1) : random.Between(0, 17);
  };
  const bool shifted = !aligned && random.OneIn(2);
  RandomTranspose made = {{extent(), extent(), padding(), padding()},
                          int64_t{1} << random.Between(0, 4)};
  TransposeCase& c = made.shape;
  if (limits.square) {
    c.cols = c.rows;
    c.pad_out = c.pad;
  }
  if (c.rows * c.cols * made.element_bytes <= (int64_t{1} << 18)) {
    c.batch = random.Between(1, limits.batch);
    c.gap = padding();
  }
  c.offset_in = shifted ? random.Between(0, 15) : 0;
  c.offset_out = shifted ? random.Between(0, 15) : 0;
  return made;
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_TEST_RANDOM_CASES_H_
