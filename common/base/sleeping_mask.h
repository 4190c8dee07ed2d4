// The processors that a thread may be woken on.

#ifndef STRIDEWISE_COMMON_BASE_SLEEPING_MASK_H_
#define STRIDEWISE_COMMON_BASE_SLEEPING_MASK_H_

#include <sched.h>

namespace stridewise {

// Takes a processor out of those that the calling thread may run on, until it is destroyed. A
// thread that sleeps meanwhile is woken on another one.
//
// Kernels of some virtual machines wake a thread on the processor of the one that wakes it. If that
// goes on computing, the other one waits for milliseconds (docs/cpu_matmul.md, "Threads").
//
// Does nothing where the thread may run on no other processor, and where the system has more than
// cpu_set_t can name. The processors that the thread had are its own again afterwards, unless
// someone has set others meanwhile, which stay.
class SleepingMask {
 public:
  // Takes out `processor`, or none if it is negative.
  explicit SleepingMask(int processor) {
    if (processor < 0 || processor >= CPU_SETSIZE) return;
    if (sched_getaffinity(0, sizeof(before_), &before_) != 0) return;
    narrowed_ = before_;
    CPU_CLR(processor, &narrowed_);
    if (CPU_COUNT(&narrowed_) == 0 || CPU_EQUAL(&narrowed_, &before_)) return;
    changed_ = sched_setaffinity(0, sizeof(narrowed_), &narrowed_) == 0;
  }

  ~SleepingMask() {
    cpu_set_t now;
    if (!changed_ || sched_getaffinity(0, sizeof(now), &now) != 0) return;
    if (CPU_EQUAL(&now, &narrowed_)) sched_setaffinity(0, sizeof(before_), &before_);
  }

  SleepingMask(const SleepingMask&) = delete;
  SleepingMask& operator=(const SleepingMask&) = delete;

 private:
  cpu_set_t before_;
  cpu_set_t narrowed_;
  bool changed_ = false;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_SLEEPING_MASK_H_
