// A function on a stack of its own that can be suspended and resumed: one CUDA thread. A switch
// takes a few nanoseconds.

#ifndef STRIDEWISE_COMMON_EXECUTOR_FIBER_H_
#define STRIDEWISE_COMMON_EXECUTOR_FIBER_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"

namespace stridewise::executor {

class Fiber {
 public:
  using Function = void (*)(void* argument);

  // Makes the next Resume() call function(argument) on the stack that ends at `stack_top`. The
  // previous call, if it has not ended, is abandoned: no destructors run. `function` must not
  // return; it ends in a Suspend() after which no one resumes it.
  void Start(void* stack_top, size_t stack_bytes, Function function, void* argument);

  // Runs the fiber until its next Suspend(). REQUIRES: not called from within it.
  void Resume();

  // Returns to the caller of Resume(). REQUIRES: called from within the fiber.
  void Suspend();

 private:
  void* context_ = nullptr;      // The context of the side that is not running.
  Function function_ = nullptr;  // Of processors without a switch of our own.
  void* argument_ = nullptr;
};

// Owns adjacent stacks, each above a guard page as long as there are no more than kMaxGuarded: each
// takes two of the mappings that the system allows, 65,530 by default. The system allocates their
// pages when they are first touched. Move-only by unique_ptr.
class FiberStacks {
 public:
  static constexpr size_t kStackBytes = size_t{64} << 10;
  static constexpr int kMaxGuarded = 1 << 14;

  // Returns ResourceExhausted where the system has no more address space.
  static absl::StatusOr<std::unique_ptr<FiberStacks>> Create(int count);
  ~FiberStacks();
  FiberStacks(const FiberStacks&) = delete;
  FiberStacks& operator=(const FiberStacks&) = delete;

  // Returns the lowest usable byte of stack i, which is kStackBytes large.
  uintptr_t Bottom(int i) const { return base_ + i * kStride + (kStride - kStackBytes); }

  // Returns the address from which stack i grows down. Its distance from the stack's end differs
  // between stacks: tops that are 64 KB apart would compete for the same few cache lines.
  void* Top(int i) const {
    return reinterpret_cast<void*>(Bottom(i) + kStackBytes - i % 16 * size_t{320});
  }
  size_t UsableBytes(int i) const { return kStackBytes - i % 16 * size_t{320}; }

 private:
  static constexpr size_t kStride = kStackBytes + 4096;

  FiberStacks(uintptr_t base, size_t bytes) : base_(base), bytes_(bytes) {}
  uintptr_t base_;
  size_t bytes_;
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_FIBER_H_
