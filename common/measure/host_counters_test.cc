#include "common/measure/host_counters.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace stridewise {
namespace {

TEST(HostCountersTest, NamesOfTheHostBeginWithCpu) {
  EXPECT_TRUE(IsHostCounter("cpu.cycles"));
  EXPECT_FALSE(IsHostCounter("dram__bytes_read.sum"));
}

#if defined(__linux__)

TEST(HostCountersTest, RefusesWhatItDoesNotKnow) {
  const absl::Status status = OpenHostCounters({"cpu.cycles", "cpu.wishes"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(
      std::string(status.message()).find("'cpu.wishes' is not allowed; allowed is cpu.cycles"), 0u)
      << status;
}

// The kernel counts these on any machine that permits it.
TEST(HostCountersTest, CountsPageFaultsAndTime) {
  const auto counters = OpenHostCounters({"cpu.page_faults", "cpu.task_clock"});
  if (absl::IsUnavailable(counters.status())) GTEST_SKIP() << counters.status();
  ASSERT_TRUE(counters.ok()) << counters.status();
  ASSERT_EQ(counters->missing, std::vector<std::string>());
  constexpr size_t kPages = 200;
  CountedWork work;
  work.run = [] {
    std::vector<char> memory(kPages * 4096 + (size_t{32} << 20));  // Large: mapped, not reused.
    volatile char* bytes = memory.data();
    for (size_t i = 0; i < kPages; ++i) bytes[i * 4096] = 1;
    return absl::OkStatus();
  };
  const auto values = ReadCounters(*counters->source, work);
  ASSERT_TRUE(values.ok()) << values.status();
  ASSERT_EQ(values->size(), 2u);
  EXPECT_GE((*values)[0], 10);  // Huge pages fault once for 512 small ones.
  EXPECT_GT((*values)[1], 1e3);
  EXPECT_LT((*values)[1], 6e10);
}

// Virtual machines often have no counters of hardware: what is left is counted all the same.
TEST(HostCountersTest, WhatIsMissingTakesNothingElseAlong) {
  const auto counters = OpenHostCounters({"cpu.cycles", "cpu.page_faults", "cpu.llc_misses"});
  if (absl::IsUnavailable(counters.status())) GTEST_SKIP() << counters.status();
  ASSERT_TRUE(counters.ok()) << counters.status();
  EXPECT_EQ(counters->names.size() + counters->missing.size(), 3u);
  EXPECT_EQ(std::count(counters->names.begin(), counters->names.end(), "cpu.page_faults"), 1);
  for (const std::string& line : counters->missing) {
    EXPECT_NE(line.find("does not count cpu."), std::string::npos) << line;
  }
  CountedWork work;
  work.run = [] { return absl::OkStatus(); };
  const auto values = ReadCounters(*counters->source, work);
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_EQ(values->size(), counters->names.size());
}

// Libraries compute in threads of their own, which began before the counters or begin during the
// run.
TEST(HostCountersTest, CountsTheOtherThreads) {
  const auto counters = OpenHostCounters({"cpu.page_faults"});
  if (absl::IsUnavailable(counters.status())) GTEST_SKIP() << counters.status();
  ASSERT_TRUE(counters.ok()) << counters.status();
  ASSERT_NE(counters->source, nullptr);
  constexpr int64_t kPages = 200;
  const auto touch = [] {
    void* memory = mmap(nullptr, kPages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                        /*fd=*/-1, /*offset=*/0);
    ASSERT_NE(memory, MAP_FAILED);
    madvise(memory, kPages * 4096, MADV_NOHUGEPAGE);
    for (int64_t i = 0; i < kPages; ++i) static_cast<volatile char*>(memory)[i * 4096] = 1;
    munmap(memory, kPages * 4096);
  };
  std::promise<void> go, done;
  std::thread early([&] {
    go.get_future().wait();
    touch();
    done.set_value();
  });
  CountedWork work;
  work.run = [&] {
    go.set_value();
    done.get_future().wait();
    std::thread late(touch);
    late.join();
    return absl::OkStatus();
  };
  const auto values = ReadCounters(*counters->source, work);
  early.join();
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_GE((*values)[0], 2 * kPages);
}

#endif

}  // namespace
}  // namespace stridewise
