// Random transposes for tests, each made from a seed and its number alone.

#ifndef STRIDEWISE_TRANSPOSE_TEST_RANDOM_CASES_H_
#define STRIDEWISE_TRANSPOSE_TEST_RANDOM_CASES_H_

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

// Returns case `number`: a RandomShape, half of whose unaligned matrices start at any element.
inline RandomTranspose RandomTransposeCase(uint64_t seed, int64_t number,
                                           const RandomLimits& limits) {
  CaseRandom random(seed, number);
  RandomShape shape(&random, limits.extent);
  const bool shifted = !shape.aligned() && random.OneIn(2);
  RandomTranspose made = {{shape.Extent(), shape.Extent(), shape.Padding(), shape.Padding()},
                          int64_t{1} << random.Between(0, 4)};
  TransposeCase& c = made.shape;
  if (limits.square) {
    c.cols = c.rows;
    c.pad_out = c.pad;
  }
  if (c.rows * c.cols * made.element_bytes <= (int64_t{1} << 18)) {
    c.batch = random.Between(1, limits.batch);
    c.gap = shape.Padding();
  }
  c.offset_in = shifted ? random.Between(0, 15) : 0;
  c.offset_out = shifted ? random.Between(0, 15) : 0;
  return made;
}

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_TEST_RANDOM_CASES_H_
