#include "common/executor/publication.h"

#include <algorithm>

namespace stridewise::executor {

void Publications::BeginLaunch(uint32_t block_threads) {
  block_threads_ = block_threads;
  lanes_.clear();
  locations_.clear();
}

void Publications::BeginCluster() { lanes_.clear(); }

Publications::LaneState& Publications::Lane(int lane) {
  if (static_cast<size_t>(lane) >= lanes_.size()) lanes_.resize(static_cast<size_t>(lane) + 1);
  return lanes_[lane];
}

void Publications::Add(const Seen& seen, SeenList* list) {
  for (Seen& s : *list) {
    if (s.location != seen.location || seen.begin > s.end || s.begin > seen.end) continue;
    s.begin = std::min(s.begin, seen.begin);
    s.end = std::max(s.end, seen.end);
    s.writes = std::max(s.writes, seen.writes);
    return;
  }
  list->push_back(seen);
}

Publications::SharedSeen Publications::Join(const SharedSeen& a, const SeenList& b) {
  if (b.empty()) return a;
  auto joined = a == nullptr ? std::make_shared<SeenList>() : std::make_shared<SeenList>(*a);
  for (const Seen& seen : b) Add(seen, joined.get());
  return joined;
}

void Publications::Fence(int lane, const Present& now) {
  LaneState& state = Lane(lane);
  state.seen = Join(state.seen, state.read);
  state.read.clear();
  auto release = std::make_shared<Release>();
  release->block_first = now.block_first;
  release->barrier_clock = now.barrier_clock;
  const uint32_t warp_first = now.block_first + (now.thread - now.block_first) / 32 * 32;
  for (uint32_t l = 0; now.known != nullptr && l < 32; ++l) {
    if (now.known[l] > 0 && warp_first + l != now.thread) {
      release->threads.emplace_back(warp_first + l, now.known[l]);
    }
  }
  release->threads.emplace_back(now.thread, now.clock);
  release->seen = state.seen;
  state.release = std::move(release);
}

void Publications::Read(int lane, uint64_t address) {
  const auto found = locations_.find(address);
  if (found == locations_.end()) return;
  const Location& location = found->second;
  Add({&location, location.first, location.releases.size(), location.writes}, &Lane(lane).read);
}

void Publications::AddRelease(const LaneState& lane, Location* location) const {
  if (lane.release == nullptr) return;
  location->of_block[lane.release->block_first].push_back(location->releases.size());
  location->releases.push_back(lane.release);
}

void Publications::Write(int lane, uint64_t address) {
  Location& location = locations_[address];
  location.first = location.releases.size();
  ++location.writes;
  AddRelease(Lane(lane), &location);
}

void Publications::ReadAndWrite(int lane, uint64_t address) {
  Location& location = locations_[address];
  ++location.writes;
  Read(lane, address);
  AddRelease(Lane(lane), &location);
}

// Afterwards all of them know what any of them knew.
void Publications::Synchronise(const std::vector<LaneState*>& lanes) {
  SharedSeen seen;
  SharedRelease release;
  bool same = true;
  for (const LaneState* lane : lanes) {
    same &= lane->seen == lanes[0]->seen && lane->release == lanes[0]->release;
    if (lane->seen != nullptr && lane->seen != seen) seen = Join(seen, *lane->seen);
  }
  if (same) return;
  auto joined = std::make_shared<Release>();
  for (const LaneState* lane : lanes) {
    if (lane->release == nullptr || lane->release == release) continue;
    release = lane->release;
    joined->block_first = release->block_first;
    joined->barrier_clock = std::max(joined->barrier_clock, release->barrier_clock);
    joined->threads.insert(joined->threads.end(), release->threads.begin(), release->threads.end());
    if (release->seen != nullptr) joined->seen = Join(joined->seen, *release->seen);
  }
  if (release != nullptr) release = std::move(joined);
  for (LaneState* lane : lanes) {
    lane->seen = seen;
    lane->release = release;
  }
}

void Publications::Barrier(int first) {
  if (lanes_.empty()) return;
  Lane(first + static_cast<int>(block_threads_) - 1);
  std::vector<LaneState*> lanes;
  for (uint32_t i = 0; i < block_threads_; ++i) {
    LaneState& lane = lanes_[static_cast<uint32_t>(first) + i];
    lane.seen = Join(lane.seen, lane.read);
    lane.read.clear();
    lanes.push_back(&lane);
  }
  Synchronise(lanes);
}

void Publications::WarpSync(int first, uint32_t mask) {
  if (lanes_.empty()) return;
  Lane(first + 31);
  std::vector<LaneState*> lanes;
  for (int l = 0; l < 32; ++l) {
    if ((mask >> l & 1) != 0) lanes.push_back(&lanes_[first + l]);
  }
  Synchronise(lanes);
}

uint32_t Publications::Writes(uint64_t address) const {
  const auto found = locations_.find(address);
  return found == locations_.end() ? 0 : found->second.writes;
}

bool Publications::Covers(const Release& release, uint32_t thread, uint32_t clock) const {
  if (thread - release.block_first >= block_threads_) return false;
  if (clock < release.barrier_clock) return true;
  return std::any_of(release.threads.begin(), release.threads.end(), [&](const auto& bound) {
    return bound.first == thread && clock < bound.second;
  });
}

bool Publications::Orders(int lane, uint32_t thread, uint32_t clock) const {
  if (static_cast<size_t>(lane) >= lanes_.size() || lanes_[lane].seen == nullptr) return false;
  const uint32_t block_first = thread / block_threads_ * block_threads_;
  // What the lane saw, what those saw who released it, and so on.
  SeenList all;
  std::vector<Seen> next = *lanes_[lane].seen;
  while (!next.empty()) {
    const Seen seen = next.back();
    next.pop_back();
    const bool known = std::any_of(all.begin(), all.end(), [&](const Seen& s) {
      return s.location == seen.location && s.begin <= seen.begin && seen.end <= s.end;
    });
    if (known) continue;
    Add(seen, &all);
    const auto of_block = seen.location->of_block.find(block_first);
    if (of_block != seen.location->of_block.end()) {
      for (const size_t i : of_block->second) {
        if (i >= seen.begin && i < seen.end && Covers(*seen.location->releases[i], thread, clock)) {
          return true;
        }
      }
    }
    for (size_t i = seen.begin; i < seen.end; ++i) {
      const SharedSeen& earlier = seen.location->releases[i]->seen;
      if (earlier != nullptr) next.insert(next.end(), earlier->begin(), earlier->end());
    }
  }
  return false;
}

bool Publications::OrdersWrite(int lane, uint64_t address, uint32_t number) const {
  if (static_cast<size_t>(lane) >= lanes_.size() || lanes_[lane].seen == nullptr) return false;
  const auto found = locations_.find(address);
  if (found == locations_.end()) return false;
  return std::any_of(lanes_[lane].seen->begin(), lanes_[lane].seen->end(), [&](const Seen& s) {
    return s.location == &found->second && number <= s.writes;
  });
}

}  // namespace stridewise::executor
