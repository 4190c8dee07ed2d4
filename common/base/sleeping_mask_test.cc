#include "common/base/sleeping_mask.h"

#include <sched.h>

#include <optional>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

cpu_set_t Processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  return set;
}

bool Set(const cpu_set_t& set) { return sched_setaffinity(0, sizeof(set), &set) == 0; }

bool Equal(const cpu_set_t& a, const cpu_set_t& b) { return CPU_EQUAL(&a, &b); }

class SleepingMaskTest : public testing::Test {
 protected:
  SleepingMaskTest() : all_(Processors()) {
    for (int i = 0; i < CPU_SETSIZE && second_ < 0; ++i) {
      if (CPU_ISSET(i, &all_)) (first_ < 0 ? first_ : second_) = i;
    }
  }
  ~SleepingMaskTest() override { Set(all_); }

  cpu_set_t Only(int processor) const {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    return set;
  }

  cpu_set_t AllBut(int processor) const {
    cpu_set_t set = all_;
    CPU_CLR(processor, &set);
    return set;
  }

  const cpu_set_t all_;
  int first_ = -1;   // Of the processors that this thread may run on.
  int second_ = -1;  // Or -1 if there is no other one.
};

TEST_F(SleepingMaskTest, TakesOneProcessorOutForAWhile) {
  if (second_ < 0) GTEST_SKIP() << "one processor";
  for (const int processor : {first_, second_}) {
    {
      const SleepingMask mask(processor);
      EXPECT_TRUE(Equal(Processors(), AllBut(processor))) << processor;
    }
    EXPECT_TRUE(Equal(Processors(), all_)) << processor;
  }
}

TEST_F(SleepingMaskTest, LeavesAThreadItsOnlyProcessor) {
  ASSERT_TRUE(Set(Only(first_)));
  {
    const SleepingMask mask(first_);
    EXPECT_TRUE(Equal(Processors(), Only(first_)));
  }
  EXPECT_TRUE(Equal(Processors(), Only(first_)));
}

TEST_F(SleepingMaskTest, TakesOutNoneThatTheThreadDoesNotHave) {
  for (const int processor : {-1, CPU_SETSIZE - 1, CPU_SETSIZE, 1 << 30}) {
    if (processor >= 0 && processor < CPU_SETSIZE && CPU_ISSET(processor, &all_)) continue;
    const SleepingMask mask(processor);
    EXPECT_TRUE(Equal(Processors(), all_)) << processor;
  }
}

// What a user or the system sets meanwhile is not undone.
TEST_F(SleepingMaskTest, KeepsProcessorsThatAreSetMeanwhile) {
  if (second_ < 0) GTEST_SKIP() << "one processor";
  for (const cpu_set_t& theirs : {Only(first_), all_}) {
    ASSERT_TRUE(Set(all_));
    std::optional<SleepingMask> mask(first_);
    ASSERT_TRUE(Set(theirs));
    mask.reset();
    EXPECT_TRUE(Equal(Processors(), theirs));
  }
}

}  // namespace
}  // namespace stridewise
