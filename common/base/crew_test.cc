#include "common/base/crew.h"

#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

// Counts how often each part is computed.
class Counts {
 public:
  explicit Counts(int64_t parts) : counts_(static_cast<size_t>(parts)) {}

  void Run(int threads) {
    RunInCrew(threads, static_cast<int64_t>(counts_.size()), [this](int64_t part) {
      counts_[static_cast<size_t>(part)].fetch_add(1, std::memory_order_relaxed);
    });
  }

  // The number of parts that were not computed `times` times.
  int64_t Others(int times) const {
    int64_t others = 0;
    for (const std::atomic<int>& count : counts_) others += count.load() != times;
    return others;
  }

 private:
  std::vector<std::atomic<int>> counts_;
};

TEST(CrewTest, ComputesEachPartOnce) {
  for (const int64_t parts : {0, 1, 2, 3, 7, 8, 9, 31, 33, 1000}) {
    for (const int threads : {1, 2, 8, 3, 40, 5}) {
      Counts counts(parts);
      counts.Run(threads);
      EXPECT_EQ(counts.Others(1), 0) << parts << " parts, " << threads << " threads";
    }
  }
}

// A thread that still looks for work in one call is there for the next, of other parts.
TEST(CrewTest, CallsFollowEachOther) {
  constexpr int kCalls = 3000;
  Counts few(3);
  Counts many(50);
  for (int i = 0; i < kCalls; ++i) {
    few.Run(2 + i % 3);
    many.Run(4);
  }
  EXPECT_EQ(few.Others(kCalls), 0);
  EXPECT_EQ(many.Others(kCalls), 0);
}

TEST(CrewTest, StoresOfPartsAreSeen) {
  std::vector<int64_t> values(64);
  for (int64_t call = 1; call < 500; ++call) {
    RunInCrew(4, 64, [&](int64_t part) { values[static_cast<size_t>(part)] += part; });
    int64_t sum = 0;
    for (const int64_t value : values) sum += value;
    ASSERT_EQ(sum, call * 63 * 32);
  }
}

// Each part waits for all others to begin, so that each needs a thread of its own. Between calls
// threads fall asleep, or are about to. A thread of its own has a crew of as many threads.
TEST(CrewTest, AllSleepingThreadsAreWoken) {
  constexpr int kThreads = 5;
  int calls_met = 0;
  std::thread([&calls_met] {
    for (int call = 0; call < 60; ++call) {
      std::this_thread::sleep_for(std::chrono::microseconds(call % 3 == 0 ? 2000 : 250 + 5 * call));
      std::atomic<int> begun{0};
      std::atomic<bool> late{false};
      RunInCrew(kThreads, kThreads, [&](int64_t) {
        begun.fetch_add(1);
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
        while (begun.load() < kThreads) {
          if (std::chrono::steady_clock::now() > end) late.store(true);
          if (late.load()) return;
          std::this_thread::yield();
        }
      });
      if (late.load()) return;
      ++calls_met;
    }
  }).join();
  EXPECT_EQ(calls_met, 60);
}

// The call is over once all parts are, and each is taken while another thread is held up: one part
// waits for all others.
TEST(CrewTest, PartsOfAThreadThatIsHeldUpAreTaken) {
  constexpr int64_t kParts = 16;
  for (int64_t late = 0; late < kParts; ++late) {
    std::atomic<int64_t> done{0};
    RunInCrew(2, kParts, [&](int64_t part) {
      // Ranges are of two parts: the one behind it in its range is computed later.
      const int64_t others = late % 2 == 0 ? kParts - 2 : kParts - 1;
      while (part == late && done.load() < others) std::this_thread::yield();
      done.fetch_add(1);
    });
    EXPECT_EQ(done.load(), kParts);
  }
}

TEST(CrewTest, APartMayCall) {
  std::atomic<int64_t> sum{0};
  RunInCrew(3, 5, [&](int64_t part) {
    RunInCrew(3, 4, [&](int64_t inner) { sum.fetch_add(10 * part + inner); });
  });
  EXPECT_EQ(sum.load(), 4 * 100 + 5 * 6);
}

TEST(CrewTest, ThreadsHaveCrewsOfTheirOwn) {
  std::vector<std::thread> callers;
  std::atomic<int64_t> wrong{0};
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      Counts counts(9);
      for (int call = 0; call < 200; ++call) counts.Run(3);
      wrong.fetch_add(counts.Others(200));
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong.load(), 0);
}

// Threads sleep after a while, and are there again.
TEST(CrewTest, WakesThreads) {
  Counts counts(6);
  for (int call = 0; call < 20; ++call) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    counts.Run(4);
  }
  EXPECT_EQ(counts.Others(20), 0);
}

// Calls the crew on two threads, each of which computes one part, and returns the other one's
// number. `in_other` runs on that one, in its part.
template <typename Fn>
pid_t CallBoth(const Fn& in_other) {
  const auto caller = static_cast<pid_t>(syscall(SYS_gettid));
  std::atomic<int> begun{0};
  std::atomic<pid_t> other{0};
  RunInCrew(2, 2, [&](int64_t) {
    begun.fetch_add(1);
    while (begun.load() < 2) std::this_thread::yield();
    const auto thread = static_cast<pid_t>(syscall(SYS_gettid));
    if (thread == caller) return;
    in_other();
    other.store(thread);
  });
  return other.load();
}

// Returns whether the thread has come to have that many processors. Waits until it has.
bool ComesToHave(pid_t thread, int processors) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < end) {
    cpu_set_t set;
    if (sched_getaffinity(thread, sizeof(set), &set) == 0 && CPU_COUNT(&set) == processors) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  return false;
}

// A thread that sleeps is off the processor of the calling thread, which computes while it wakes,
// but works on all of them, and on those that were set since.
TEST(CrewTest, ThreadsSleepAwayFromTheCaller) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "one processor";
  std::thread([&all] {  // With a crew of its own.
    cpu_set_t had;
    const auto look = [&had] { sched_getaffinity(0, sizeof(had), &had); };
    for (int call = 0; call < 5; ++call) {
      const pid_t other = CallBoth(look);
      EXPECT_TRUE(CPU_EQUAL(&had, &all)) << call;
      EXPECT_TRUE(ComesToHave(other, CPU_COUNT(&all) - 1)) << call;
    }
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int i = 0; CPU_COUNT(&one) == 0; ++i) {
      if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
    }
    CallBoth([&one] { sched_setaffinity(0, sizeof(one), &one); });
    for (int call = 0; call < 3; ++call) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      CallBoth(look);
      EXPECT_TRUE(CPU_EQUAL(&had, &one)) << call;
    }
  })
      .join();
}

// The child has no threads of its parent's crew.
TEST(CrewTest, WorksInAChildOfFork) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer follows no threads of such a child";
#endif
  Counts counts(8);
  counts.Run(4);
  const pid_t child = fork();
  if (child == 0) {
    counts.Run(4);
    _exit(counts.Others(2) == 0 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  counts.Run(4);
  EXPECT_EQ(counts.Others(2), 0);
}

}  // namespace
}  // namespace stridewise
