#include "common/executor/warp_trace.h"

#include <algorithm>

namespace stridewise::executor {

void LanePath::Begin(WarpTrace* warp, int lane) {
  warp_ = warp;
  lane_ = lane;
  warp->lanes_[lane] = this;
  warp->lane_count_ = std::max(warp->lane_count_, lane + 1);
  Clear();
}

void LanePath::Clear() {
  next_ = warp_->path_.data();
  address_count_ = 0;
  own_.clear();
}

size_t LanePath::size() const {
  return own_.empty() ? static_cast<size_t>(next_ - warp_->path_.data()) : own_.size();
}

Site LanePath::site(size_t i) const { return own_.empty() ? warp_->path_[i] : own_[i]; }

void LanePath::Add(Site site) {
  if (Follow(site)) return;
  std::vector<Site>& path = warp_->path_;
  if (warp_->first_ == nullptr) warp_->first_ = this;  // Then `path` is empty.
  if (warp_->first_ == this) {
    const Site* const before = path.data();
    path.back() = site;
    path.push_back(kNone);
    if (path.data() != before) {  // The others' places in it have moved.
      for (int i = 0; i < warp_->lane_count_; ++i) {
        LanePath& lane = *warp_->lanes_[i];
        if (lane.own_.empty()) lane.next_ = path.data() + (lane.next_ - before);
      }
    }
    ++next_;
    return;
  }
  if (own_.empty()) {
    own_.assign(static_cast<const Site*>(path.data()), next_);
    next_ = &kNone;
  }
  own_.push_back(site);
}

// The rooms of the lanes begin with different lines of the first-level cache.
void LanePath::Grow() {
  addresses_.resize(std::max(kFirstRoom, 2 * addresses_.size()));
  address_data_ = addresses_.data();
}

uint32_t WarpTrace::Active() const {
  uint32_t active = 0;
  for (int i = 0; i < lane_count_; ++i) {
    if (lanes_[i]->size() > 0) active |= uint32_t{1} << i;
  }
  return active;
}

bool WarpTrace::Together() const {
  const Site* const end = path_.data() + path_.size() - 1;
  for (int i = 0; i < lane_count_; ++i) {
    if (lanes_[i]->next_ != end && lanes_[i]->size() > 0) return false;
  }
  return true;
}

absl::Span<const LaneTrace> WarpTrace::Traces() {
  size_t total = 0;
  for (int i = 0; i < lane_count_; ++i) total += lanes_[i]->size();
  if (events_.size() < total) events_.resize(total);
  Event* event = events_.data();
  for (int i = 0; i < lane_count_; ++i) {
    const LanePath& lane = *lanes_[i];
    const size_t count = lane.size();
    const Site* const sites = lane.own_.empty() ? path_.data() : lane.own_.data();
    const uint64_t* address = lane.address_data_;
    traces_[i] = {event, count};
    for (size_t k = 0; k < count; ++k) {
      const bool has_address = SiteKind(sites[k]) != EventKind::kBasicBlock;
      *event++ = {sites[k], has_address ? *address++ : 0};
    }
  }
  return {traces_.data(), static_cast<size_t>(lane_count_)};
}

void WarpTrace::Clear() {
  path_.assign(1, LanePath::kNone);
  first_ = nullptr;
  for (int i = 0; i < lane_count_; ++i) lanes_[i]->Clear();
}

void WarpTrace::FreeMuchRoom() {
  if (path_.capacity() > LanePath::kFirstRoom) {
    path_.shrink_to_fit();
    for (int i = 0; i < lane_count_; ++i) lanes_[i]->next_ = path_.data();
  }
  std::vector<Event>().swap(events_);
  for (int i = 0; i < lane_count_; ++i) {
    LanePath& lane = *lanes_[i];
    std::vector<Site>().swap(lane.own_);
    if (lane.addresses_.size() <= LanePath::kFirstRoom) continue;
    std::vector<uint64_t>().swap(lane.addresses_);
    lane.address_data_ = nullptr;
  }
}

}  // namespace stridewise::executor
