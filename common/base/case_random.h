// Random numbers for the random cases of tests. A case is made from a seed and its number alone: a
// message that names both is enough to have it again.

#ifndef STRIDEWISE_COMMON_BASE_CASE_RANDOM_H_
#define STRIDEWISE_COMMON_BASE_CASE_RANDOM_H_

#include <cstdint>

#include "common/verify/fill.h"

namespace stridewise {

class CaseRandom {
 public:
  CaseRandom(uint64_t seed, int64_t number)
      : state_(Mix64(seed) ^ Mix64(~static_cast<uint64_t>(number))) {}

  // low ... high, both included.
  int64_t Between(int64_t low, int64_t high) {
    state_ = Mix64(state_);
    return low + static_cast<int64_t>((state_ >> 8) % static_cast<uint64_t>(high - low + 1));
  }
  bool OneIn(int64_t n) { return Between(1, n) == 1; }

 private:
  uint64_t state_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_CASE_RANDOM_H_
