#include "common/executor/reconvergence.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "common/executor/trace.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

constexpr uint32_t kAll = ~uint32_t{0};

// Small letters are loads of global memory, 1 to 9 those of shared memory by the instructions a to
// i, all others basic blocks.
Site SiteOf(char letter) {
  if (letter >= '1' && letter <= '9')
    return MakeSite(letter - '1' + 'a', EventKind::kSharedLoad, 2);
  const bool load = letter >= 'a' && letter <= 'z';
  return MakeSite(letter, load ? EventKind::kGlobalLoad : EventKind::kBasicBlock, 2);
}

char LetterOf(Site site) {
  const auto letter = static_cast<char>(SitePc(site));
  return IsShared(SiteKind(site)) ? static_cast<char>(letter - 'a' + '1') : letter;
}

// Unlike those of all other lanes and events.
uint64_t AddressOf(size_t lane, size_t event) { return lane << 32 | event; }

struct Issue {
  char letter;
  uint32_t lanes;
};

struct Replayed {
  std::vector<Issue> issues;
  ReplaySummary summary;
  uint64_t Issues(char letter) const {
    uint64_t count = 0;
    for (const Issue& issue : issues) count += issue.letter == letter;
    return count;
  }
  // "A11 B01": the lanes as binary digits, lane 0 rightmost.
  std::string ToString(size_t lanes) const {
    std::string text;
    for (const Issue& issue : issues) {
      if (!text.empty()) text += ' ';
      text += issue.letter;
      for (size_t i = lanes; i-- > 0;) text += issue.lanes >> i & 1 ? '1' : '0';
    }
    return text;
  }
};

// Replays lanes written as one letter an event, and checks what holds for any: every lane's events
// are issued once, in its order and with its addresses.
Replayed Replay(const std::vector<std::string>& lanes) {
  std::vector<std::vector<Event>> events(lanes.size());
  std::vector<LaneTrace> traces;
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    for (size_t i = 0; i < lanes[lane].size(); ++i) {
      events[lane].push_back({SiteOf(lanes[lane][i]), AddressOf(lane, i)});
    }
    traces.push_back({events[lane].data(), events[lane].size()});
  }
  Replayed replayed;
  std::vector<std::string> issued(lanes.size());
  replayed.summary =
      ReplayWarp(traces, [&](Site site, uint32_t mask, const uint64_t address[kWarpLanes]) {
        const char letter = LetterOf(site);
        EXPECT_NE(mask, 0);
        EXPECT_EQ(site, SiteOf(letter));
        for (size_t lane = 0; lane < kWarpLanes; ++lane) {
          if ((mask >> lane & 1) == 0) continue;
          ASSERT_LT(lane, lanes.size());
          if (SiteKind(site) != EventKind::kBasicBlock) {
            EXPECT_EQ(address[lane], AddressOf(lane, issued[lane].size()));
          }
          issued[lane] += letter;
        }
        replayed.issues.push_back({letter, mask});
      });
  EXPECT_EQ(issued, lanes);
  return replayed;
}

TEST(ReplayWarp, IssuesTogetherWhatTheWarpDoesTogether) {
  const struct {
    const char* name;
    std::vector<std::string> lanes;
    std::string issues;
    uint64_t divergent_branches;
  } cases[] = {
      {"no lanes", {}, "", 0},
      {"no events", {"", ""}, "", 0},
      {"one lane", {"Aab"}, "A1 a1 b1", 0},
      {"uniform", {"Aab", "Aab", "Aab"}, "A111 a111 b111", 0},
      {"lanes without events", {"", "Aa", "", "Aa"}, "A1010 a1010", 0},
      {"if", {"ABbC", "AC", "ABbC"}, "A111 B101 b101 C111", 1},
      {"if and else", {"ABaD", "ACcD"}, "A11 B01 a01 C10 c10 D11", 1},
      {"the lowest lane's side first", {"AcD", "AbD", "AcD"}, "A111 c101 b010 D111", 1},
      {"three ways", {"AbE", "AcE", "AdE"}, "A111 b001 c010 d100 E111", 1},
      {"loop", {"HbHbHX", "HbHX", "HX"}, "H111 b011 H011 b001 H001 X111", 2},
      {"loop that tests at its end", {"bbbX", "bX", "bbX"}, "b111 b101 b001 X111", 2},
      {"nested", {"ABcDE", "ABDE", "AE"}, "A111 B011 c001 D011 E111", 2},
      {"nested, one meeting point", {"ABcE", "ABE", "AdE"}, "A111 B011 c001 d100 E111", 2},
      {"if in a loop", {"HabHaHX", "HaHabHX"}, "H11 a11 b01 H11 a11 b10 H11 X11", 2},
      {"lanes that are off wait for the inner loop",
       {"HLLX", "HLX", "HX"},
       "H111 L011 L001 X111",
       2},
      {"early exit", {"A", "AbC", "AbC"}, "A111 b110 C110", 1},
      {"early exit after a load", {"Ab", "AcD", "AcD"}, "A111 b001 c110 D110", 1},
      {"exit from a loop", {"HbHX", "Hb"}, "H11 b11 H01 X01", 1},
      {"parted from the start", {"abC", "bC"}, "a01 b11 C11", 1},
      {"no meeting before the end", {"AbD", "Ac"}, "A11 b01 D01 c10", 1},
      // A function that is not inlined is one place in the code: both sides meet in it, and part
      // again where it returns.
      {"a call from both sides", {"ABfCE", "ADfGE"}, "A11 B01 D10 f11 C01 G10 E11", 2},
      // By a pointer that is chosen: two requests, behind which the lanes go on together.
      {"shared memory for some lanes",
       {"AabcX", "A1bcX", "A12cX"},
       "A111 a001 1110 b011 2100 c111 X111",
       0},
      {"shared memory for some lanes of a loop",
       {"HaHaHX", "H1HX", "H1HaHX"},
       "H111 a001 1110 H111 a101 H101 X111",
       1},
      // The load of lane 0 and that of lane 1 are each lane's first, in different iterations.
      {"same count, different iterations",
       {"HBaHBHX", "HBHBaHX"},
       "H11 B11 a01 H11 B11 a10 H11 X11",
       2},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.name);
    const Replayed replayed = Replay(c.lanes);
    EXPECT_EQ(replayed.ToString(c.lanes.size()), c.issues);
    EXPECT_EQ(replayed.summary.divergent_branches, c.divergent_branches);
    EXPECT_EQ(replayed.summary.divergent, c.divergent_branches > 0);
  }
}

// for (k = 0; k < i; ++k) if ((k ^ i) & 1) load;
TEST(ReplayWarp, BranchInALoopWithTripCountsOfItsOwnForEachLane) {
  std::vector<std::string> lanes;
  for (unsigned i = 0; i < kWarpLanes; ++i) {
    std::string lane;
    for (unsigned k = 0; k < i; ++k) lane += (k ^ i) & 1 ? "HBlJ" : "HBJ";
    lanes.push_back(lane + "HX");
  }
  std::vector<uint32_t> expected;
  for (unsigned k = 0; k < kWarpLanes - 1; ++k) {
    uint32_t mask = 0;
    for (unsigned i = k + 1; i < kWarpLanes; ++i) mask |= ((k ^ i) & 1) << i;
    expected.push_back(mask);
  }
  const Replayed replayed = Replay(lanes);
  std::vector<uint32_t> loads;
  for (const Issue& issue : replayed.issues) {
    if (issue.letter == 'l') loads.push_back(issue.lanes);
  }
  EXPECT_EQ(loads, expected);
  EXPECT_EQ(replayed.Issues('H'), 32);
  EXPECT_EQ(replayed.Issues('J'), 31);
  EXPECT_EQ(replayed.Issues('X'), 1);
  // One lane leaves in each of the first 31 turns; in 30 of them the others part over the load.
  EXPECT_EQ(replayed.summary.divergent_branches, 31 + 30);
}

// Longer than any stretch that an implementation might take at once.
TEST(ReplayWarp, PartsAnywhereInALongTrace) {
  for (size_t length = 0; length < 100; ++length) {
    const std::string common(length, 'a');
    std::vector<std::string> lanes(kWarpLanes, "A" + common + "D");
    lanes[9] = "A" + common + "bD";
    const Replayed replayed = Replay(lanes);
    ASSERT_EQ(replayed.issues.size(), length + 3);
    for (size_t i = 0; i < length + 1; ++i) ASSERT_EQ(replayed.issues[i].lanes, kAll);
    EXPECT_EQ(replayed.issues[length + 1].lanes, 1u << 9);
    EXPECT_EQ(replayed.issues[length + 2].letter, 'D');
    EXPECT_EQ(replayed.issues[length + 2].lanes, kAll);
    EXPECT_EQ(replayed.summary.divergent_branches, 1);
  }
}

// Whatever lanes do, also what no structured program does: gotos, returns out of loops, recursion.
TEST(ReplayWarp, IssuesEveryEventOfRandomWalks) {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    const unsigned sites = 1 + random() % 8;
    const unsigned ways = 1 + random() % 3;
    std::vector<std::string> lanes(1 + random() % kWarpLanes);
    for (std::string& lane : lanes) {
      uint64_t site = 0;
      for (size_t length = random() % 80; lane.size() < length;) {
        lane += "aBcDeF37"[site];
        site = (site * 5 + random() % ways) % sites;
      }
    }
    Replay(lanes);
    if (HasFailure()) return;  // One seed is enough to look at.
  }
}

}  // namespace
}  // namespace stridewise::executor
