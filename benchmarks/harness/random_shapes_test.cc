#include "benchmarks/harness/random_shapes.h"

#include <cstdint>
#include <map>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

TEST(ShapeRandomTest, LogUniformReachesBothEndsAndHasAsManyBelowTheRoot) {
  std::map<int64_t, int> seen;
  int below = 0;
  for (uint64_t number = 0; number < 10000; ++number) {
    const int64_t drawn = ShapeRandom(7, number).LogUniform(1, 99);
    EXPECT_GE(drawn, 1);
    EXPECT_LE(drawn, 99);
    ++seen[drawn];
    below += drawn < 10 ? 1 : 0;
  }
  EXPECT_EQ(seen.size(), 99u);
  EXPECT_NEAR(below / 10000.0, 0.5, 0.02);
  EXPECT_NEAR(seen[1] / 10000.0, 0.1505, 0.02);  // log 2 over log 100.
  for (uint64_t number = 0; number < 100; ++number) {
    EXPECT_EQ(ShapeRandom(7, number).LogUniform(5, 5), 5);
  }
}

}  // namespace
}  // namespace stridewise
