#include "common/base/progress.h"

#include <sstream>
#include <string>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

// What a terminal shows of one line of output.
std::string Screen(const std::string& output) {
  std::string line;
  size_t cursor = 0;
  for (char c : output) {
    if (c == '\r') {
      cursor = 0;
      continue;
    }
    EXPECT_NE(c, '\n');
    if (cursor == line.size()) line += ' ';
    line[cursor++] = c;
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

class ProgressTest : public testing::Test {
 protected:
  FakeClock clock_;
  std::ostringstream out_;
};

TEST_F(ProgressTest, CountsAndEstimates) {
  clock_.Advance(1000);
  Progress progress(4, true, &out_, &clock_);
  progress.Start("a name that is longer than what comes after it");
  EXPECT_EQ(Screen(out_.str()), "[1/4] a name that is longer than what comes after it | 0 s");
  clock_.Advance(10);
  progress.Start("b");
  EXPECT_EQ(Screen(out_.str()), "[2/4] b | 10 s, about 30 s left");
  clock_.Advance(110);
  progress.Start("c");
  EXPECT_EQ(Screen(out_.str()), "[3/4] c | 2 min 00 s, about 2 min 00 s left");
  clock_.Advance(7200);
  progress.Start("d");
  EXPECT_EQ(Screen(out_.str()), "[4/4] d | 2 h 02 min, about 40 min 40 s left");
}

TEST_F(ProgressTest, SkippedItemsDoNotSpoilTheAverage) {
  Progress progress(100, true, &out_, &clock_);
  for (int i = 0; i < 96; ++i) progress.Skip();
  progress.Start("a");
  EXPECT_EQ(Screen(out_.str()), "[97/100] a | 0 s");
  clock_.Advance(10);
  progress.Start("b");
  EXPECT_EQ(Screen(out_.str()), "[98/100] b | 10 s, about 30 s left");
}

TEST_F(ProgressTest, ClearLeavesAnEmptyLine) {
  Progress progress(2, true, &out_, &clock_);
  progress.Clear();
  EXPECT_EQ(out_.str(), "");
  progress.Start("a");
  progress.Clear();
  EXPECT_EQ(Screen(out_.str()), "");
  EXPECT_EQ(out_.str().back(), '\r');
  const std::string cleared = out_.str();
  progress.Clear();
  EXPECT_EQ(out_.str(), cleared);
  progress.Start("b");
  EXPECT_EQ(Screen(out_.str()).substr(0, 7), "[2/2] b");
}

TEST_F(ProgressTest, TheDestructorClears) {
  { Progress(1, true, &out_, &clock_).Start("a"); }
  EXPECT_NE(out_.str(), "");
  EXPECT_EQ(Screen(out_.str()), "");
}

TEST_F(ProgressTest, NeverWraps) {
  Progress progress(1, true, &out_, &clock_);
  progress.Start(std::string(500, 'x'));
  const std::string line = Screen(out_.str());
  EXPECT_LT(line.size(), 80u);
  EXPECT_EQ(line.substr(line.size() - 6), " | 0 s");
}

TEST_F(ProgressTest, MoreItemsThanAnnouncedAreNoCatastrophe) {
  Progress progress(1, true, &out_, &clock_);
  for (int i = 0; i < 3; ++i) {
    progress.Start("a");
    clock_.Advance(1);
  }
  EXPECT_EQ(Screen(out_.str()), "[3/1] a | 2 s, about 0 s left");
}

TEST_F(ProgressTest, QuietWhenDisabled) {
  {
    Progress progress(2, false, &out_, &clock_);
    progress.Start("a");
    progress.Clear();
    progress.Start("b");
  }
  EXPECT_EQ(out_.str(), "");
}

}  // namespace
}  // namespace stridewise
