// The state of an mbarrier, and of the named barriers of a block: arrivals and bytes that a phase
// still waits for, and what the threads that arrived had done before.

#ifndef STRIDEWISE_COMMON_EXECUTOR_PTX_MBARRIER_H_
#define STRIDEWISE_COMMON_EXECUTOR_PTX_MBARRIER_H_

#include <cstdint>
#include <string>
#include <vector>

namespace stridewise::executor {

class Mbarrier {
 public:
  static constexpr uint32_t kMaxCount = (1u << 20) - 1;
  static constexpr int64_t kMaxBytes = (1 << 20) - 1;

  // Each phase waits for this number of arrivals. REQUIRES: 1 <= expected <= kMaxCount.
  explicit Mbarrier(uint32_t expected = 1) : expected_(expected), pending_(expected) {}

  // These return what is wrong with the call, in words, or an empty string; the state is then
  // unchanged. The phase completes when no arrival and no byte is pending.
  //
  // Adds bytes, and counts arrivals; with `drop` the later phases expect fewer by the same number.
  std::string Arrive(uint32_t count, int64_t expect_bytes, bool drop);
  std::string ExpectBytes(int64_t bytes);
  std::string CompleteBytes(int64_t bytes);

  // Makes the running phase, and later ones, wait for this number of arrivals. REQUIRES:
  // untouched().
  void Expect(uint32_t expected) { expected_ = pending_ = expected; }

  // Makes the later phases expect one arrival fewer, and not the running one. REQUIRES: they expect
  // some.
  void ExpectOneFewer() { --expected_; }

  uint64_t phase() const { return phase_; }  // The number of phases that are complete.
  uint32_t expected() const { return expected_; }
  uint32_t pending() const { return pending_; }
  int64_t pending_bytes() const { return bytes_; }
  bool untouched() const { return pending_ == expected_ && bytes_ == 0; }

  // What arrive returns: the phase and the arrivals that were pending in it.
  uint64_t State() const { return phase_ << 20 | pending_; }
  static uint64_t PhaseOf(uint64_t state) { return state >> 20; }
  static uint32_t PendingOf(uint64_t state) { return static_cast<uint32_t>(state) & kMaxCount; }

  // "1 of 4 arrivals and 512 bytes are pending".
  std::string PendingText() const;

  // For each thread of the block, the time before which its accesses are ordered before what
  // follows the end of the running phase, and of the last complete one; empty before any arrival.
  std::vector<uint32_t>* released() { return &released_; }
  const std::vector<uint32_t>& acquired() const { return acquired_; }

 private:
  void CompleteIfNothingIsPending();

  uint32_t expected_;
  uint32_t pending_;
  int64_t bytes_ = 0;
  uint64_t phase_ = 0;
  std::vector<uint32_t> released_;
  std::vector<uint32_t> acquired_;
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_PTX_MBARRIER_H_
