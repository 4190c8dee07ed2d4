// Random numbers for the random cases of tests, and how many cases a test runs. A case is made from
// a seed and its number alone: a message that names both is enough to repeat it.

#ifndef STRIDEWISE_COMMON_BASE_CASE_RANDOM_H_
#define STRIDEWISE_COMMON_BASE_CASE_RANDOM_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "common/verify/fill.h"

namespace stridewise {

class CaseRandom {
 public:
  CaseRandom(uint64_t seed, int64_t number)
      : state_(Mix64(seed) ^ Mix64(~static_cast<uint64_t>(number))) {}

  // Returns a number from low to high, both included.
  int64_t Between(int64_t low, int64_t high) {
    state_ = Mix64(state_);
    return low + static_cast<int64_t>((state_ >> 8) % static_cast<uint64_t>(high - low + 1));
  }
  bool OneIn(int64_t n) { return Between(1, n) == 1; }

 private:
  uint64_t state_;
};

// The extents and paddings of the matrices of one case. A quarter of all cases have everything in
// multiples of 16 elements, and half of them no padding.
class RandomShape {
 public:
  RandomShape(CaseRandom* random, int64_t limit)
      : random_(random), limit_(limit), aligned_(random->OneIn(4)) {}

  // Returns an extent: half of all are 1 to 20, the others multiples of 16 or anything up to the
  // limit, more often small than large.
  int64_t Extent() {
    const int64_t largest = std::max<int64_t>(20, limit_ >> random_->Between(0, 3));
    if (aligned_ || random_->OneIn(4)) return 16 * random_->Between(1, largest / 16);
    return random_->OneIn(3) ? random_->Between(1, largest) : random_->Between(1, 20);
  }
  // Returns elements to add to a leading dimension or between two matrices.
  int64_t Padding() {
    if (!padded_) return 0;
    return aligned_ ? 16 * random_->Between(0, 1) : random_->Between(0, 17);
  }
  bool aligned() const { return aligned_; }

 private:
  CaseRandom* random_;
  int64_t limit_;
  bool aligned_;
  bool padded_ = random_->OneIn(2);
};

// Returns whether the environment asks for the most cases: STRIDEWISE_EXHAUSTIVE=1.
inline bool IsExhaustive() {
  const char* value = std::getenv("STRIDEWISE_EXHAUSTIVE");
  return value != nullptr && std::strcmp(value, "1") == 0;
}

// Returns the number of cases that a test runs: `quick` by default.
inline int64_t CaseCount(int64_t quick, int64_t exhaustive) {
  return IsExhaustive() ? exhaustive : quick;
}

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_CASE_RANDOM_H_
