// Threads that sleep until a word changes, without a lock that they would have to take one after
// another when they wake.

#ifndef STRIDEWISE_COMMON_BASE_FUTEX_H_
#define STRIDEWISE_COMMON_BASE_FUTEX_H_

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>

namespace stridewise {

// Sleeps until another thread wakes this one, but not if *word is no longer `value`. May return
// early.
inline void SleepOn(std::atomic<uint32_t>* word, uint32_t value) {
  syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}

// Wakes all threads that sleep on the word.
inline void WakeAll(std::atomic<uint32_t>* word) {
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_FUTEX_H_
