// Every access to every byte that could still race, with where in the code it was: slow, and only
// for a launch in which shadow.h has seen something suspicious. Names both sides of a race, and
// clears what only looked like one.

#ifndef STRIDEWISE_COMMON_EXECUTOR_EXACT_SHADOW_H_
#define STRIDEWISE_COMMON_EXECUTOR_EXACT_SHADOW_H_

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/executor/shadow.h"

namespace stridewise::executor {

class ExactShadow {
 public:
  struct Access {
    uint32_t thread;
    uint32_t clock;
    uintptr_t pc;
    bool store;
    bool atomic;
  };

  // Notes the access to the bytes from `address` on; returns an earlier one that nothing orders
  // before it and that must be, if there is one.
  std::optional<Access> Touch(uint64_t address, int bytes, const Access& access,
                              const Present& now);

  void Clear() { bytes_.clear(); }

 private:
  // Of what is ordered before a later access nothing needs to be kept.
  struct Byte {
    bool written = false;
    Access writer{};
    std::vector<Access> readers;
  };
  // Two threads of one warp or block, or of two blocks, stand for all that read the same byte: more
  // readers than this are not kept.
  static constexpr size_t kMaxReaders = 72;

  std::unordered_map<uint64_t, Byte> bytes_;
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_EXACT_SHADOW_H_
