// A job of a crew (crew.h): ranges of parts, some for each thread, and how threads take them.

#ifndef STRIDEWISE_COMMON_BASE_CREW_JOB_H_
#define STRIDEWISE_COMMON_BASE_CREW_JOB_H_

#include <atomic>
#include <cstdint>

namespace stridewise {

// The number of a job, how many threads may work at it and how many ranges each has, in one word,
// so that a thread has all three of the same job.
class CrewJob {
 public:
  static constexpr int kMostThreads = 4096;
  static constexpr int64_t kMostRanges = 4;  // Of a thread.

  explicit CrewJob(uint64_t word) : word_(word) {}
  CrewJob(uint64_t number, int64_t threads, int64_t ranges)
      : word_((number << kThreadBits | static_cast<uint64_t>(threads)) << kRangeBits |
              static_cast<uint64_t>(ranges)) {}

  uint64_t word() const { return word_; }
  uint64_t number() const { return word_ >> (kRangeBits + kThreadBits); }
  int64_t threads() const { return Bits(word_ >> kRangeBits, kThreadBits); }
  int64_t ranges() const { return Bits(word_, kRangeBits); }

  // Returns the first of the parts of a range of a thread. Ranges follow each other, and those of a
  // thread those of the thread before.
  int64_t FirstPart(int64_t parts, int64_t thread, int64_t range) const {
    return parts * (thread * ranges() + range) / (threads() * ranges());
  }

 private:
  static constexpr int kThreadBits = 13;
  static constexpr int kRangeBits = 3;
  static_assert(kMostThreads < 1 << kThreadBits && kMostRanges < 1 << kRangeBits);

  static int64_t Bits(uint64_t word, int bits) {
    return static_cast<int64_t>(word & ((uint64_t{1} << bits) - 1));
  }

  uint64_t word_;
};

// What has become of a thread's ranges, in a cache line of its own: as long as nobody else takes
// one, no other core but the waiting one reads it.
class alignas(64) CrewLane {
 public:
  // Takes one of the thread's ranges of the job, and returns which, or -1 if all are taken or the
  // job is over. Whoever has taken one knows that the job is not over before it is done.
  int64_t Take(CrewJob job) {
    uint64_t seen = taken_.load(std::memory_order_relaxed);
    for (;;) {
      const uint64_t number = seen >> kTakenBits;
      const uint64_t taken = number == job.number() ? seen & ((1U << kTakenBits) - 1) : 0;
      if (number > job.number() || static_cast<int64_t>(taken) >= job.ranges()) {
        return -1;
      };
      const uint64_t next = job.number() << kTakenBits | (taken + 1);
      if (taken_.compare_exchange_weak(seen, next, std::memory_order_acq_rel)) {
        return static_cast<int64_t>(taken);
      }
    }
  }

  // Counts ranges that are done.
  void AddDone(int64_t ranges) {
    done_.fetch_add(static_cast<uint64_t>(ranges), std::memory_order_release);
  }

  // Of the calling thread: before a job, how many ranges it adds; then whether they are done.
  void Expect(int64_t ranges) { expected_ += static_cast<uint64_t>(ranges); }
  bool IsDone() const { return done_.load(std::memory_order_acquire) == expected_; }

 private:
  static constexpr int kTakenBits = 8;
  static_assert(CrewJob::kMostRanges < 1 << kTakenBits);

  std::atomic<uint64_t> taken_{0};  // The job's number, and how many of its ranges.
  std::atomic<uint64_t> done_{0};   // Ranges of all jobs so far.
  uint64_t expected_ = 0;           // The same when the job is over.
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_CREW_JOB_H_
