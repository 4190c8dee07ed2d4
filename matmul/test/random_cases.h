// Random multiplications for tests, each made from a seed and its number alone.

#ifndef STRIDEWISE_MATMUL_TEST_RANDOM_CASES_H_
#define STRIDEWISE_MATMUL_TEST_RANDOM_CASES_H_

#include <algorithm>
#include <cstdint>

#include "common/base/case_random.h"
#include "matmul/test/matmul_cases.h"

namespace stridewise {

struct RandomMatMulLimits {
  int64_t extent = 300;
  int64_t batch = 4;  // Large matrices come alone.
  int64_t deep = 1280;
};

// Returns a random case. Half of all extents are 1 ... 20; the rest are multiples of 16 or
// anything, more often small than large. A quarter of all cases have everything in multiples of 16
// elements, half no padding. Half are plain products, A * B; alpha, beta or k is 0 in some of the
// others. One small one in eight is deep.
inline MatMulCase RandomMatMulCase(uint64_t seed, int64_t number,
                                   const RandomMatMulLimits& limits) {
  constexpr int64_t kMaxBatchElements = 1 << 15;
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
  MatMulCase c = {extent(), extent(), extent(), padding()};
  c.transpose_a = random.OneIn(2);
  c.transpose_b = random.OneIn(2);
  if (random.OneIn(2)) {
    constexpr double kFactors[] = {0, 1, -1, -0.5, 1.75};
    c.alpha = kFactors[random.Between(0, 4)];
    c.beta = kFactors[random.Between(0, 4)];
    if (random.OneIn(20)) c.k = 0;
  }
  if (c.m * c.n + c.m * c.k + c.k * c.n <= kMaxBatchElements) {
    c.batch = random.Between(1, limits.batch);
    c.gap = padding();
    c.one_a = random.OneIn(4);
    c.one_b = random.OneIn(4);
  }
  if (!aligned && random.OneIn(2)) {
    c.offset_a = random.Between(0, 3);
    c.offset_b = random.Between(0, 3);
    c.offset_c = random.Between(0, 3);
  }
  // Deep ones, of few tiles, are what is divided along k. A batch shares the depth: 20 of 400
  // cases, batches of 3 and 4, took two fifths of the time.
  constexpr int64_t kMostDeepElements = 4096;
  if (c.m * c.n * c.batch <= kMostDeepElements && random.OneIn(8)) {
    const int64_t unit = aligned ? 16 : 1;
    c.k += unit * random.Between(16, std::max<int64_t>(16, limits.deep / (unit * c.batch)));
  }
  return c;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TEST_RANDOM_CASES_H_
