// Memory on the host that is lent to another library, between two guards: who writes beside it is
// found out, and has not written to what is somebody else's.

#ifndef STRIDEWISE_BENCHMARKS_DISTRIBUTED_GUARDED_MEMORY_H_
#define STRIDEWISE_BENCHMARKS_DISTRIBUTED_GUARDED_MEMORY_H_

#include <algorithm>
#include <cstddef>
#include <memory>

namespace stridewise {

class GuardedMemory {
 public:
  static constexpr size_t kGuardBytes = 64 << 10;  // On each side.

  explicit GuardedMemory(size_t bytes) : bytes_(bytes), all_(new char[bytes + 2 * kGuardBytes]) {
    std::fill_n(all_.get(), bytes + 2 * kGuardBytes, kFill);
  }

  // Aligned as what operator new returns; never null.
  char* data() { return all_.get() + kGuardBytes; }
  size_t bytes() const { return bytes_; }

  // Returns whether the guards are as they were.
  bool IsIntact() const {
    const auto is_whole = [](const char* guard) {
      return std::all_of(guard, guard + kGuardBytes, [](char c) { return c == kFill; });
    };
    return is_whole(all_.get()) && is_whole(all_.get() + kGuardBytes + bytes_);
  }

  // Gives the memory up without freeing it, since who has it may still write to it. Nothing but to
  // end the object may follow.
  void Abandon() { (void)all_.release(); }

 private:
  static constexpr char kFill = '\xa5';

  size_t bytes_;
  std::unique_ptr<char[]> all_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_DISTRIBUTED_GUARDED_MEMORY_H_
