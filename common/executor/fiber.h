// A function on a stack of its own that can be left in the middle and entered again: one CUDA
// thread. A switch takes about 10 ns (Boost.Context).

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

  // The next Resume() calls function(argument) on the stack that ends at `stack_top`. Whatever the
  // fiber was in the middle of is forgotten: no destructors run. `function` must not return; it
  // ends in a Suspend() after which nobody resumes.
  void Start(void* stack_top, size_t stack_bytes, Function function, void* argument);

  // Runs the fiber until its next Suspend(). REQUIRES: not called from within it.
  void Resume();

  // REQUIRES: called from within the fiber.
  void Suspend();

 private:
  void* context_ = nullptr;  // Of the side that is not running.
  Function function_ = nullptr;
  void* argument_ = nullptr;
};

// Stacks side by side, each above a page that must not be touched. Pages are taken from the system
// when they are first used. Move-only by unique_ptr.
class FiberStacks {
 public:
  static constexpr size_t kStackBytes = size_t{64} << 10;

  // ResourceExhausted where the system gives no more address space.
  static absl::StatusOr<std::unique_ptr<FiberStacks>> Create(int count);
  ~FiberStacks();
  FiberStacks(const FiberStacks&) = delete;
  FiberStacks& operator=(const FiberStacks&) = delete;

  // The lowest usable byte of stack i; it ends kStackBytes further on.
  uintptr_t Bottom(int i) const { return base_ + i * kStride + (kStride - kStackBytes); }

  // Where stack i starts to grow down. Not the same distance from each stack's end: the tops would
  // share the few cache lines that addresses 64 KB apart compete for.
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
