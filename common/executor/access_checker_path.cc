// Events that a lane's path does not expect, and where a lane waits.

#include <cstddef>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "common/executor/access_checker.h"

namespace stridewise::executor {
namespace {

constexpr size_t kMaxEvents = size_t{1} << 24;

}  // namespace

void AccessChecker::Wait(Lane& lane, LaneState state, uintptr_t pc) {
  lane.wait_pc = pc;
  lane.state = state;
  lane.fiber.Suspend();
}

// Adds an event that the lane's path does not expect, once there is room for it.
void AccessChecker::AddToPath(Lane& lane, Site site) {
  while (lane.path.size() >= lane.event_limit) {
    if (lane.event_limit >= kMaxEvents) {
      if (!context_->exact) Suspect(lane, Stop::kExactly);
      ReportFatal(
          Check::kRunaway, lane, false, SitePc(lane.path.site(lane.path.size() - 1)),
          absl::StrCat("more than ", kMaxEvents,
                       " steps without a synchronisation; does it wait for another block?"));
    }
    Wait(lane, LaneState::kTraceFull, 0);
  }
  lane.path.Add(site);
}

void AccessChecker::NewBasicBlock(Lane& lane, Site site) {
  if (++lane.steps > max_steps_) Runaway(lane, SitePc(site));
  if (profile_events_) AddToPath(lane, site);
}

void AccessChecker::Runaway(Lane& lane, uintptr_t pc) {
  if (!context_->exact) Suspect(lane, Stop::kExactly);
  ReportFatal(Check::kRunaway, lane, false, pc,
              absl::StrCat("more than ", context_->options->max_steps,
                           " basic blocks in one thread; does it wait for another block?"));
}

}  // namespace stridewise::executor
