// What makes a launch start again: suspicions, cells that are too coarse, and stores to a buffer
// whose loads were not recorded.

#include <cstdint>
#include <thread>

#include "common/executor/access_checker.h"

namespace stridewise::executor {

void AccessChecker::SuspectFinerCells(Lane& lane, Region* region, int granule_log2) {
  context_->RequestFinerCells(region, granule_log2);
  Suspect(lane, Stop::kOtherCells);
}

bool AccessChecker::MustRecordLoads(Region* region) {
  if (region->updated) return true;
  RegionUse use = RegionUse::kNone;
  if (region->use.compare_exchange_strong(use, RegionUse::kOnlyRead)) {
    region->plain_loads = region->initialised;
    return false;
  }
  return use != RegionUse::kOnlyRead;
}

void AccessChecker::BeginStores(Lane& lane, Region* region) {
  RegionUse use = RegionUse::kNone;
  if (region->use.compare_exchange_strong(use, RegionUse::kSaving)) {
    context_->before->Save(region);
    region->use.store(RegionUse::kStored, std::memory_order_release);
  } else if (use == RegionUse::kOnlyRead) {
    context_->RequestLoads(region);
    Suspect(lane, Stop::kOtherCells);
  }
  while (region->use.load(std::memory_order_acquire) == RegionUse::kSaving) {
    std::this_thread::yield();
  }
}

void AccessChecker::Suspect(Lane& lane, Stop stop) {
  context_->stop = stop;
  Leave(lane);
}

void AccessChecker::Leave(Lane& lane) {
  lane.fiber.Suspend();
  __builtin_unreachable();  // The next launch starts the fiber afresh.
}

}  // namespace stridewise::executor
