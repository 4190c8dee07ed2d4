#include "common/base/crew.h"

#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <system_error>
#include <thread>
#include <vector>

#include "common/base/crew_job.h"
#include "common/base/futex.h"

namespace stridewise {
namespace {

using Clock = std::chrono::steady_clock;

// Threads sleep after so long without work: to wake one takes some 50 us.
constexpr std::chrono::microseconds kSpinTime(300);
constexpr int kSpinsOfClock = 32;

// A range is left to the thread that had it in the call before, and that has what it wrote in its
// caches, for as long as the thread's own ranges took, which taking another one would last at
// least. Threads that were asleep are known to come. After a call in which one came too late in
// spite of that, because others have its core, nobody waits for long.
constexpr std::chrono::microseconds kLeastPatience(3);
constexpr std::chrono::microseconds kMostPatience(100);

// Spins between looks at the clock.
constexpr int kSpinsOfPatience = 4;

// Spins until the waiting thread offers its core to others: it may be theirs that it waits for.
constexpr int kSpinsOfWait = 1000;

inline void Pause() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  asm volatile("" ::: "memory");
#endif
}

// What the threads of a crew share. Threads spin on `job`, which has a cache line of its own: they
// would fetch that of the others before all are written.
struct Shared {
  explicit Shared(int most) : lanes(static_cast<size_t>(most)) {}

  alignas(64) std::atomic<uint64_t> job{0};

  alignas(64) std::atomic<int64_t> parts{0};
  std::atomic<CrewFunction> function{nullptr};
  std::atomic<const void*> work{nullptr};
  std::atomic<bool> woke_some{false};
  std::atomic<bool> patient{true};
  std::vector<CrewLane> lanes;

  alignas(64) std::atomic<int> asleep{0};
  std::atomic<uint32_t> bell{0};  // Changes before sleeping threads are woken.

  alignas(64) std::atomic<uint64_t> over{0};  // The number of the last job that is.
  std::atomic<bool> came_late{false};         // Some thread, so that another one took its range.
  std::atomic<bool> ended{false};
};

thread_local bool in_crew = false;

// Returns until when ranges are left to their owners by a thread that is done with its own.
Clock::time_point EndOfPatience(const Shared& shared, Clock::time_point start) {
  const Clock::time_point now = Clock::now();
  if (!shared.patient.load(std::memory_order_relaxed)) return now + kLeastPatience;
  if (shared.woke_some.load(std::memory_order_relaxed)) return now + kMostPatience;
  return now + std::clamp<Clock::duration>(now - start, kLeastPatience, kMostPatience);
}

// Computes the ranges of a thread that nobody has taken, and returns how many. Having taken one, it
// knows that what it has read of the job is of this job.
int64_t WorkInLane(Shared* shared, CrewJob job, int64_t thread) {
  CrewLane& lane = shared->lanes[static_cast<size_t>(thread)];
  const int64_t parts = shared->parts.load(std::memory_order_relaxed);
  const CrewFunction function = shared->function.load(std::memory_order_relaxed);
  const void* const work = shared->work.load(std::memory_order_relaxed);
  int64_t count = 0;
  for (int64_t range = 0; (range = lane.Take(job)) >= 0; ++count) {
    const int64_t first = job.FirstPart(parts, thread, range);
    const int64_t end = job.FirstPart(parts, thread, range + 1);
    if (first < end) function(work, first, end);
  }
  if (count > 0) lane.AddDone(count);
  return count;
}

// Computes the thread's own ranges, and then those that others leave for too long. Until then it
// looks only at what is_over() does, so that the others' lanes stay in their caches.
template <typename IsOver>
void WorkAtJob(Shared* shared, CrewJob job, int64_t thread, IsOver is_over) {
  if (thread >= job.threads()) return;
  const Clock::time_point start = Clock::now();
  WorkInLane(shared, job, thread);
  if (is_over()) return;
  const Clock::time_point patient_until = EndOfPatience(*shared, start);
  do {
    for (int i = 0; i < kSpinsOfPatience; ++i) {
      Pause();
      if (is_over()) return;
    }
  } while (Clock::now() < patient_until);
  if (shared->over.load(std::memory_order_relaxed) >= job.number()) return;
  for (int64_t i = 1; i < job.threads(); ++i) {
    if (WorkInLane(shared, job, (thread + i) % job.threads()) == 0) continue;
    shared->came_late.store(true, std::memory_order_relaxed);
  }
}

// Returns the next job, or 0 where there will be none.
uint64_t WaitForJob(Shared* shared, uint64_t last) {
  Clock::time_point since = Clock::now();
  for (int spins = 1;; ++spins) {
    const uint64_t job = shared->job.load(std::memory_order_acquire);
    if (job != last) return job;
    Pause();
    if (spins % kSpinsOfClock != 0) continue;
    if (shared->ended.load(std::memory_order_relaxed)) return 0;
    if (Clock::now() - since < kSpinTime) continue;
    while (shared->job.load() == last && !shared->ended.load()) {
      const uint32_t bell = shared->bell.load();
      shared->asleep.fetch_add(1);
      // The calling thread either sees a thread asleep or has stored its job before this.
      if (shared->job.load() == last && !shared->ended.load()) SleepOn(&shared->bell, bell);
      shared->asleep.fetch_sub(1);
    }
    // The calling thread woke one, which has time to wake the others.
    if (shared->asleep.load() > 0) WakeAll(&shared->bell);
    since = Clock::now();
  }
}

void Help(const std::shared_ptr<Shared>& shared, int thread) {
  in_crew = true;
  for (uint64_t job = 0; (job = WaitForJob(shared.get(), job)) != 0;) {
    WorkAtJob(shared.get(), CrewJob(job), thread,
              [&] { return shared->job.load(std::memory_order_relaxed) != job; });
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
    threads = static_cast<int>(std::min<int64_t>(Hire(threads), parts));
    const int64_t ranges = std::min((parts + threads - 1) / threads, CrewJob::kMostRanges);
    const CrewJob job(++jobs_, threads, ranges);
    for (int i = 0; i < threads; ++i) Lane(i).Expect(ranges);
    shared_->parts.store(parts, std::memory_order_relaxed);
    shared_->function.store(function, std::memory_order_relaxed);
    shared_->work.store(work, std::memory_order_relaxed);
    const bool came_late = shared_->came_late.load(std::memory_order_relaxed);
    if (came_late) shared_->came_late.store(false, std::memory_order_relaxed);
    shared_->patient.store(!came_late, std::memory_order_relaxed);
    shared_->woke_some.store(shared_->asleep.load() > 0, std::memory_order_relaxed);
    shared_->job.store(job.word());
    if (shared_->asleep.load() > 0) {
      shared_->bell.fetch_add(1);
      WakeOne(&shared_->bell);
    }
    int done = 0;  // Threads whose ranges are.
    const auto is_over = [&] {
      while (done < threads && Lane(done).IsDone()) ++done;
      return done == threads;
    };
    in_crew = true;
    WorkAtJob(shared_.get(), job, 0, is_over);
    in_crew = false;
    for (int spins = 1; !is_over(); ++spins) {
      Pause();
      if (spins >= kSpinsOfWait) std::this_thread::yield();
    }
    shared_->over.store(job.number(), std::memory_order_relaxed);
  }

 private:
  // Has that many threads with the calling one, or as many as the system allows, and returns how
  // many may work.
  int Hire(int threads) {
    if (process_ != getpid()) {
      // A child of fork() has its parent's memory, but none of its threads, some of which may have
      // been in the middle of a job. That memory is left as it is.
      if (shared_ != nullptr) new std::shared_ptr<Shared>(shared_);
      const auto processors = static_cast<int>(std::thread::hardware_concurrency());
      shared_ =
          std::make_shared<Shared>(std::min(std::max(processors, threads), CrewJob::kMostThreads));
      process_ = getpid();
      hired_ = 1;
    }
    threads = std::min(threads, static_cast<int>(shared_->lanes.size()));
    try {
      for (; hired_ < threads; ++hired_) std::thread(Help, shared_, hired_).detach();
    } catch (const std::system_error&) {  // Parts are for whoever is there.
    }
    return threads;
  }

  void End() {
    shared_->ended.store(true);
    shared_->bell.fetch_add(1);
    WakeAll(&shared_->bell);
  }

  CrewLane& Lane(int thread) { return shared_->lanes[static_cast<size_t>(thread)]; }

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
