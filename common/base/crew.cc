#include "common/base/crew.h"

#include <omp.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include "common/base/futex.h"
#include "common/base/sleeping_mask.h"

namespace stridewise {
namespace {

// Ranges of parts for each thread, where there are that many: who is slowed down takes fewer.
constexpr int64_t kRangesOfThread = 4;
constexpr int kMostThreads = 4096;

using Clock = std::chrono::steady_clock;

// Threads sleep after so long without work: to wake one takes some 50 us, fifteen some 130.
constexpr std::chrono::microseconds kSpinTime(300);
constexpr int kSpinsOfClock = 32;

// A range is left to the thread that had it in the call before, and that has what it wrote in its
// caches, for as long as the thread's own ranges took, which taking another one would last at
// least. Threads that were asleep are known to come, the last of sixteen within 330 us: a range
// that another one took from it would have the next call take twice the time, since what it wrote
// is then in that one's caches. After a call in which one came too late in spite of that, because
// others have its core, nobody waits for long.
constexpr std::chrono::microseconds kLeastPatience(3);
constexpr std::chrono::microseconds kMostPatience(100);
constexpr std::chrono::microseconds kPatienceWithSleepers(500);

// Spins until the waiting thread offers its core to others: it may be theirs that it waits for.
constexpr int kSpinsOfWait = 1000;

inline void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  asm volatile("" ::: "memory");
#endif
}

// A range of parts. Who stores the number of the current job in `taken` computes it.
struct alignas(64) Range {
  std::atomic<uint64_t> taken{0};
  std::atomic<uint64_t> done{0};
};

// What the threads of a crew share. `job` is its number and, in its low bits, its ranges: a thread
// that has read a job and then takes one of its ranges knows that the job is not over, and that
// what it has read of it is of this job. Threads spin on `job`, which has a cache line of its own:
// they would fetch that of the others before all are written.
struct Shared {
  static constexpr int kRangeBits = 16;

  explicit Shared(int most)
      : most_threads(most), ranges(static_cast<size_t>(most * kRangesOfThread)) {}

  alignas(64) std::atomic<uint64_t> job{0};

  alignas(64) std::atomic<int> threads{0};
  std::atomic<int64_t> parts{0};
  std::atomic<CrewFunction> function{nullptr};
  std::atomic<const void*> work{nullptr};
  std::atomic<bool> woke_some{false};
  std::atomic<bool> patient{true};
  const int most_threads;
  std::vector<Range> ranges;

  alignas(64) std::atomic<int> asleep{0};
  std::atomic<bool> came_late{false};  // Some thread, so that another one took its range.
  std::atomic<bool> ended{false};
  std::atomic<uint32_t> calls{0};  // Who sleeps waits for it to change.
  std::atomic<int> caller_processor{-1};
};

thread_local bool in_crew = false;

// Returns until when ranges are left to their owners by a thread that is done with its own.
Clock::time_point EndOfPatience(const Shared& shared, Clock::time_point start) {
  const Clock::time_point now = Clock::now();
  if (!shared.patient.load(std::memory_order_relaxed)) return now + kLeastPatience;
  if (shared.woke_some.load(std::memory_order_relaxed)) return now + kPatienceWithSleepers;
  return now + std::clamp<Clock::duration>(now - start, kLeastPatience, kMostPatience);
}

// Takes ranges of the job that nobody has taken, first its own ones.
void TakeRanges(Shared* shared, uint64_t job, int64_t thread) {
  const auto ranges = static_cast<int64_t>(job & ((1U << Shared::kRangeBits) - 1));
  const int64_t threads = shared->threads.load(std::memory_order_relaxed);
  const int64_t parts = shared->parts.load(std::memory_order_relaxed);
  const CrewFunction function = shared->function.load(std::memory_order_relaxed);
  const void* const work = shared->work.load(std::memory_order_relaxed);
  if (thread >= threads) return;
  const int64_t first = thread * ranges / threads;
  const int64_t own = (thread + 1) * ranges / threads - first;
  const Clock::time_point start = Clock::now();
  Clock::time_point patient_until;
  for (int64_t i = 0; i < ranges; ++i) {
    const int64_t at = (first + i) % ranges;
    Range& range = shared->ranges[static_cast<size_t>(at)];
    uint64_t taken = range.taken.load(std::memory_order_relaxed);
    if (i == own) patient_until = EndOfPatience(*shared, start);
    while (i >= own && taken < job && Clock::now() < patient_until) {
      Pause();
      taken = range.taken.load(std::memory_order_relaxed);
    }
    if (taken >= job) continue;
    if (!range.taken.compare_exchange_strong(taken, job, std::memory_order_acq_rel)) continue;
    if (i >= own) shared->came_late.store(true, std::memory_order_relaxed);
    function(work, parts * at / ranges, parts * (at + 1) / ranges);
    range.done.store(job, std::memory_order_release);
  }
}

// Sleeps until there is another job than the last one, away from the processor of the calling
// thread, which computes while others wake.
void Sleep(Shared* shared, uint64_t last) {
  const SleepingMask mask(shared->caller_processor.load(std::memory_order_relaxed));
  const uint32_t calls = shared->calls.load();
  shared->asleep.fetch_add(1);
  if (shared->job.load() == last && !shared->ended.load()) SleepOn(&shared->calls, calls);
  shared->asleep.fetch_sub(1);
}

// Returns the next job, or 0 where there will be none.
uint64_t WaitForJob(Shared* shared, uint64_t last) {
  Clock::time_point since = Clock::now();
  for (int spins = 1;; ++spins) {
    const uint64_t job = shared->job.load(std::memory_order_acquire);
    if (shared->ended.load(std::memory_order_relaxed)) return 0;
    if (job != last) return job;
    Pause();
    if (spins % kSpinsOfClock != 0) continue;
    if (Clock::now() - since < kSpinTime) continue;
    Sleep(shared, last);
    since = Clock::now();
  }
}

void Help(const std::shared_ptr<Shared>& shared, int thread) {
  in_crew = true;
  for (uint64_t job = 0; (job = WaitForJob(shared.get(), job)) != 0;) {
    TakeRanges(shared.get(), job, thread);
  }
}

// The crew of a calling thread.
class Crew {
 public:
  Crew() = default;
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;
  ~Crew() {
    if (process_ == getpid()) End();
  }

  void Run(int threads, int64_t parts, CrewFunction function, const void* work) {
    threads = Hire(threads);
    const int64_t ranges = std::min(parts, parts <= threads ? parts : threads * kRangesOfThread);
    shared_->threads.store(threads, std::memory_order_relaxed);
    shared_->parts.store(parts, std::memory_order_relaxed);
    shared_->function.store(function, std::memory_order_relaxed);
    shared_->work.store(work, std::memory_order_relaxed);
    shared_->patient.store(!shared_->came_late.exchange(false), std::memory_order_relaxed);
    shared_->caller_processor.store(sched_getcpu(), std::memory_order_relaxed);
    shared_->woke_some.store(shared_->asleep.load() > 0, std::memory_order_relaxed);
    const uint64_t job = ++jobs_ << Shared::kRangeBits | static_cast<uint64_t>(ranges);
    shared_->job.store(job);
    if (shared_->asleep.load() > 0) {
      shared_->calls.fetch_add(1);
      WakeAll(&shared_->calls);
    }
    in_crew = true;
    TakeRanges(shared_.get(), job, 0);
    in_crew = false;
    for (int64_t i = 0; i < ranges; ++i) {
      const Range& range = shared_->ranges[static_cast<size_t>(i)];
      for (int spins = 1; range.done.load(std::memory_order_acquire) != job; ++spins) {
        Pause();
        if (spins >= kSpinsOfWait) std::this_thread::yield();
      }
    }
  }

 private:
  // Has that many threads with the calling one, or as many as the system allows, and returns how
  // many may work.
  int Hire(int threads) {
    if (process_ != getpid()) {
      // A child of fork() has its parent's memory, but none of its threads, which own a part of it.
      if (shared_ != nullptr) new std::shared_ptr<Shared>(shared_);
      const auto processors = static_cast<int>(std::thread::hardware_concurrency());
      shared_ = std::make_shared<Shared>(std::min(std::max(processors, threads), kMostThreads));
      process_ = getpid();
      hired_ = 1;
    }
    threads = std::min(threads, shared_->most_threads);
    try {
      for (; hired_ < threads; ++hired_) std::thread(Help, shared_, hired_).detach();
    } catch (const std::system_error&) {  // Parts are for whoever is there.
    }
    return threads;
  }

  void End() {
    shared_->ended.store(true);
    shared_->calls.fetch_add(1);
    WakeAll(&shared_->calls);
  }

  std::shared_ptr<Shared> shared_;
  pid_t process_ = 0;
  int hired_ = 0;
  uint64_t jobs_ = 0;
};

}  // namespace

void RunRangesInCrew(int threads, int64_t parts, CrewFunction function, const void* work) {
  if (parts <= 0) return;
  if (threads <= 1 || parts == 1 || in_crew || omp_in_parallel() != 0) {
    return function(work, 0, parts);
  }
  if (omp_get_proc_bind() != omp_proc_bind_false) {
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (int64_t i = 0; i < parts; ++i) function(work, i, i + 1);
    return;
  }
  static thread_local Crew crew;
  crew.Run(threads, parts, function, work);
}

}  // namespace stridewise
