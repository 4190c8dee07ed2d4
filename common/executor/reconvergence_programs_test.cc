// ReplayWarp() against random programs. A program is run for each lane alone, which gives the
// traces, and for all lanes in step under masks, which gives what the warp has to issue.

#include <cstdint>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "common/executor/reconvergence.h"
#include "common/executor/trace.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

struct Statement;
using Sequence = std::vector<Statement>;

struct Statement {
  enum Kind {
    kStep,
    kIf,       // (site) then body or other
    kWhile,    // (site) then body and back, or on
    kDoWhile,  // body, (site), then back or on
    kReturn,   // (site) then body and the end, or on; only at the top
  };
  Kind kind = kStep;
  Site site = 0;
  unsigned odds = 0;  // Of 8, to go into the body, or back.
  bool uniform = false;
  bool silent = false;  // Starts with a branch, as the code behind a barrier may.
  Sequence body;
  Sequence other;
};

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  Sequence Program() {
    Sequence program = Statements(1 + random_() % 5, /*depth=*/0);
    if (program[0].kind == Statement::kIf && random_() % 2 == 0) {
      program[0].silent = true;
      program.push_back(Make(Statement::kStep, 0));
    }
    return program;
  }

 private:
  Sequence Statements(unsigned count, int depth) {
    Sequence sequence;
    for (unsigned i = 0; i < count; ++i) {
      auto kind = static_cast<Statement::Kind>(random_() % 5);
      if (depth == 3 || (depth > 0 && kind == Statement::kReturn)) kind = Statement::kStep;
      sequence.push_back(Make(kind, depth));
    }
    return sequence;
  }

  Statement Make(Statement::Kind kind, int depth) {
    Statement s;
    s.kind = kind;
    const bool access = kind == Statement::kStep && random_() % 2 == 0;
    s.site = MakeSite(++sites_, access ? EventKind::kSharedStore : EventKind::kBasicBlock, 2);
    s.odds = 1 + random_() % 5;
    s.uniform = random_() % 4 == 0;
    if (kind != Statement::kStep) s.body = Statements(random_() % 3, depth + 1);
    if (kind == Statement::kIf) s.other = Statements(random_() % 3, depth + 1);
    return s;
  }

  std::mt19937 random_;
  uintptr_t sites_ = 0;
};

// What a lane decides when it comes to a statement for the n-th time: always the same, for the two
// ways of running a program to agree.
class Decisions {
 public:
  bool Next(const Statement& s, int lane) {
    std::seed_seq seed{static_cast<int>(s.site), s.uniform ? 0 : lane, visits_[{s.site, lane}]++};
    return std::minstd_rand(seed)() / 16 % 8 < s.odds;
  }

 private:
  std::map<std::pair<Site, int>, int> visits_;
};

// Lane for lane.
class OneLane {
 public:
  explicit OneLane(int lane) : lane_(lane) {}

  void Run(const Sequence& sequence) {
    for (const Statement& s : sequence) {
      if (s.kind == Statement::kDoWhile) {
        do {
          Run(s.body);
          Emit(s);
        } while (decisions_.Next(s, lane_));
        continue;
      }
      if (!s.silent) Emit(s);
      if (s.kind == Statement::kIf) Run(decisions_.Next(s, lane_) ? s.body : s.other);
      if (s.kind == Statement::kWhile) {
        while (decisions_.Next(s, lane_)) {
          Run(s.body);
          Emit(s);
        }
      }
      if (s.kind == Statement::kReturn && decisions_.Next(s, lane_)) {
        Run(s.body);
        return;
      }
    }
  }

  const std::vector<Event>& events() const { return events_; }

 private:
  void Emit(const Statement& s) {
    events_.push_back({s.site, static_cast<uint64_t>(lane_) << 32 | events_.size()});
  }

  const int lane_;
  Decisions decisions_;
  std::vector<Event> events_;
};

using Issues = std::vector<std::pair<Site, uint32_t>>;

// All lanes in step.
class InStep {
 public:
  void Run(const Sequence& sequence, uint32_t lanes, size_t from = 0) {
    for (size_t i = from; i < sequence.size(); ++i) {
      const Statement& s = sequence[i];
      uint32_t active = lanes;
      switch (s.kind) {
        case Statement::kStep:
          Issue(s, active);
          break;
        case Statement::kIf: {
          if (!s.silent) Issue(s, active);
          const uint32_t inside = Decide(s, active);
          CountIfParted(inside, lanes, !s.body.empty() || !s.other.empty());
          if (BodyFirst(inside, lanes)) Run(s.body, inside);
          Run(s.other, lanes & ~inside);
          if (!BodyFirst(inside, lanes)) Run(s.body, inside);
          break;
        }
        case Statement::kWhile:
        case Statement::kDoWhile:
          while (active != 0) {
            if (s.kind == Statement::kDoWhile) Run(s.body, active);
            Issue(s, active);
            const uint32_t again = Decide(s, active);
            CountIfParted(again, active, true);
            if (s.kind == Statement::kWhile) Run(s.body, again);
            active = again;
          }
          break;
        case Statement::kReturn: {
          Issue(s, active);
          const uint32_t leaving = Decide(s, active);
          CountIfParted(leaving, lanes, !s.body.empty() || i + 1 < sequence.size());
          if (BodyFirst(leaving, lanes)) Run(s.body, leaving);
          Run(sequence, lanes & ~leaving, i + 1);
          if (!BodyFirst(leaving, lanes)) Run(s.body, leaving);
          return;
        }
      }
    }
  }

  const Issues& issues() const { return issues_; }
  uint64_t divergent_branches() const { return divergent_branches_; }

 private:
  void Issue(const Statement& s, uint32_t lanes) {
    if (lanes != 0) issues_.emplace_back(s.site, lanes);
  }
  uint32_t Decide(const Statement& s, uint32_t lanes) {
    uint32_t inside = 0;
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      if (lanes >> lane & 1) inside |= uint32_t{decisions_.Next(s, lane)} << lane;
    }
    return inside;
  }
  // `visible`: the sides go to different places.
  void CountIfParted(uint32_t inside, uint32_t lanes, bool visible) {
    divergent_branches_ += inside != 0 && inside != lanes && visible;
  }
  // The lowest lane's side goes first.
  static bool BodyFirst(uint32_t inside, uint32_t lanes) { return (inside & lanes & -lanes) != 0; }

  Decisions decisions_;
  Issues issues_;
  uint64_t divergent_branches_ = 0;
};

// Also checks the addresses.
Issues Replay(const std::vector<std::vector<Event>>& events, ReplaySummary* summary) {
  std::vector<LaneTrace> traces;
  for (const auto& lane : events) traces.push_back({lane.data(), lane.size()});
  std::vector<size_t> next(events.size());
  Issues issues;
  *summary = ReplayWarp(traces, [&](Site site, uint32_t lanes, const uint64_t* address) {
    issues.emplace_back(site, lanes);
    for (size_t lane = 0; lane < kWarpLanes; ++lane) {
      if ((lanes >> lane & 1) == 0) continue;
      ASSERT_LT(next[lane], events[lane].size());
      const Event& event = events[lane][next[lane]++];
      EXPECT_TRUE(SiteKind(site) == EventKind::kBasicBlock || event.address == address[lane]);
    }
  });
  return issues;
}

TEST(ReplayWarp, IssuesWhatLanesInStepIssue) {
  uint64_t divergent_branches = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    const Sequence program = Generator(seed).Program();
    std::mt19937 random(seed);
    std::vector<std::vector<Event>> events(1 + random() % kWarpLanes);
    const uint32_t present = random() | random();
    uint32_t lanes = 0;
    for (int lane = 0; lane < static_cast<int>(events.size()); ++lane) {
      if ((present >> lane & 1) == 0) continue;
      OneLane alone(lane);
      alone.Run(program);
      events[lane] = alone.events();
      lanes |= uint32_t{1} << lane;
    }
    InStep in_step;
    if (lanes != 0) in_step.Run(program, lanes);
    ReplaySummary summary;
    EXPECT_EQ(Replay(events, &summary), in_step.issues());
    EXPECT_EQ(summary.divergent_branches, in_step.divergent_branches());
    EXPECT_EQ(summary.divergent, summary.divergent_branches > 0);
    divergent_branches += summary.divergent_branches;
    if (HasFailure()) return;  // One program is enough to look at.
  }
  EXPECT_GT(divergent_branches, 5000);
}

}  // namespace
}  // namespace stridewise::executor
