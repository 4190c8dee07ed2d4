// Records every access to every byte that could still race, with its position in the code. Slow,
// and only used for a launch in which shadow.h found something suspicious: it names both sides of a
// race, and dismisses false alarms.

#ifndef STRIDEWISE_COMMON_EXECUTOR_EXACT_SHADOW_H_
#define STRIDEWISE_COMMON_EXECUTOR_EXACT_SHADOW_H_

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "absl/functional/function_ref.h"

namespace stridewise::executor {

class ExactShadow {
 public:
  struct Access {
    uint32_t thread;
    uint32_t clock;
    uintptr_t pc;
    bool store;
    bool atomic;  // Or volatile, in global memory.
    // An atomic store: the how many-th strong one of its address.
    uint32_t number;
  };

  // Records the access to the bytes from `address` on. Returns an earlier access with which it
  // races: one that conflicts with it and that `ordered` says not to be ordered before it.
  std::optional<Access> Touch(uint64_t address, int bytes, const Access& access,
                              absl::FunctionRef<bool(const Access&)> ordered);

  // Returns the last store to the byte; null where there is none.
  const Access* WriterOf(uint64_t address) const;

  void Clear() { bytes_.clear(); }

 private:
  // Accesses that are ordered before a later one are not kept.
  struct Byte {
    bool written = false;
    Access writer{};
    std::vector<Access> readers;
  };
  // A few readers of a warp, of a block and of other blocks represent all others of the same byte:
  // no more readers than this are kept.
  static constexpr size_t kMaxReaders = 72;

  std::unordered_map<uint64_t, Byte> bytes_;
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_EXACT_SHADOW_H_
