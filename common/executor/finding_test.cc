#include "common/executor/finding.h"

#include <set>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace stridewise::executor {

// Not in the unnamed namespace, so that the compiler cannot know all the callers. The asm keeps it
// from making two calls into one.
__attribute__((noinline)) uintptr_t WhereIAmCalledFrom() {
  asm volatile("");
  return reinterpret_cast<uintptr_t>(__builtin_return_address(0));
}

namespace {

struct Call {
  uintptr_t pc;
  int line;
  std::string Place() const { return absl::StrCat("finding_test.cc:", line); }
};

// The asm keeps the calls from becoming jumps, which would return elsewhere.
template <typename T>
__attribute__((noinline)) Call KernelThatLoads(T) {
  const Call call{WhereIAmCalledFrom(), __LINE__};
  asm volatile("");
  return call;
}

__attribute__((noinline)) Call KernelThatStores() {
  const Call call{WhereIAmCalledFrom(), __LINE__};
  asm volatile("");
  return call;
}

Finding FindingAt(const Call& call) {
  Finding finding;
  finding.check = Check::kOutOfBounds;
  finding.kernel = reinterpret_cast<uintptr_t>(&KernelThatLoads<int>);
  finding.culprit = {{1, 2, 3}, {4, 5, 6}, call.pc, false};
  finding.message = "4-byte load of buffer 'in'";
  return finding;
}

TEST(CheckName, EachHasItsOwn) {
  std::set<absl::string_view> names;
  for (int i = 0; i <= static_cast<int>(Check::kRunaway); ++i) {
    const absl::string_view name = CheckName(static_cast<Check>(i));
    EXPECT_FALSE(name.empty()) << i;
    EXPECT_TRUE(names.insert(name).second) << name;
  }
}

TEST(FindingsText, TellsWhatWhoAndWhere) {
  const Call call = KernelThatLoads(0);
  const std::string text = FindingsText({FindingAt(call)});
  for (const absl::string_view part :
       {CheckName(Check::kOutOfBounds), absl::string_view("KernelThatLoads"),
        absl::string_view("4-byte load of buffer 'in'"), absl::string_view("block (1,2,3)"),
        absl::string_view("thread (4,5,6)")}) {
    EXPECT_TRUE(absl::StrContains(text, part)) << part << " in\n" << text;
  }
  EXPECT_TRUE(absl::StrContains(text, call.Place())) << text;
  EXPECT_FALSE(absl::EndsWith(text, "\n"));
}

TEST(FindingsText, OfARaceTellsBothAccesses) {
  const Call load = KernelThatLoads(0), store = KernelThatStores();
  Finding race = FindingAt(load);
  race.check = Check::kRace;
  race.has_other = true;
  race.other = {{1, 2, 3}, {7, 8, 9}, store.pc, true};
  std::string text = FindingsText({race});
  const size_t first = text.find(load.Place()), second = text.find(store.Place());
  ASSERT_NE(first, std::string::npos) << text;
  ASSERT_NE(second, std::string::npos) << text;
  EXPECT_LT(first, second) << text;
  EXPECT_GT(text.find("thread (7,8,9)"), first) << text;
  EXPECT_TRUE(absl::StrContains(text.substr(first), "store")) << text;

  race.other.store = false;
  text = FindingsText({race});
  EXPECT_TRUE(absl::StrContains(text.substr(text.find(load.Place())), "load")) << text;

  race.has_other = false;
  EXPECT_FALSE(absl::StrContains(FindingsText({race}), "thread (7,8,9)"));
}

TEST(FindingsText, LeavesOutWhatIsNotKnown) {
  Finding finding;
  finding.check = Check::kRunaway;
  const std::string text = FindingsText({finding});
  EXPECT_TRUE(absl::StartsWith(text, CheckName(Check::kRunaway))) << text;
  EXPECT_FALSE(absl::StrContains(text, "unknown")) << text;
  EXPECT_FALSE(absl::StrContains(text, "??")) << text;
  EXPECT_FALSE(absl::StrContains(text, " \n")) << text;
}

TEST(FindingsText, SeveralInOrder) {
  const Call load = KernelThatLoads(0), store = KernelThatStores();
  Finding second = FindingAt(store);
  second.check = Check::kMisaligned;
  const std::string one = FindingsText({FindingAt(load)}), other = FindingsText({second});
  EXPECT_EQ(FindingsText({FindingAt(load), second, FindingAt(load)}),
            absl::StrCat(one, "\n", other, "\n", one));
  EXPECT_EQ(FindingsText({}), "");
}

}  // namespace
}  // namespace stridewise::executor
