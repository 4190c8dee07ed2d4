// The events of a warp's lanes since it was last replayed, kept once where lanes take the same
// path.
//
// Lanes run one after the other, and nearly always do the same. The first lane records the sites of
// its events. Each other lane compares with them and records only its addresses. A lane that leaves
// this path copies the part that it followed, and records its own path from there on.

#ifndef STRIDEWISE_COMMON_EXECUTOR_WARP_TRACE_H_
#define STRIDEWISE_COMMON_EXECUTOR_WARP_TRACE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "common/executor/trace.h"

namespace stridewise::executor {

class WarpTrace;

// The events of one lane. All but Begin(), Follow() and AddAddress() REQUIRE a Begin().
class LanePath {
 public:
  // Starts anew, as lane `lane` of a warp. The trace must outlive the path.
  void Begin(WarpTrace* warp, int lane);

  // Adds an event if it is the next one of the path that the lane follows. Otherwise Add() has to.
  bool Follow(Site site) {
    if (*next_ != site) return false;
    ++next_;
    return true;
  }
  // Does what Follow() and AddAddress() do, or, where one of them takes longer, nothing.
  bool FollowWith(Site site, uint64_t address) {
    if (*next_ != site || address_count_ == addresses_.size()) return false;
    ++next_;
    address_data_[address_count_++] = address;
    return true;
  }
  void Add(Site site);
  // Adds the address of the event that was added last, if its kind has one.
  void AddAddress(uint64_t address) {
    if (address_count_ == addresses_.size()) Grow();
    address_data_[address_count_++] = address;
  }

  // Returns the number of events.
  size_t size() const;
  // Returns the site of event i < size().
  Site site(size_t i) const;

 private:
  friend class WarpTrace;

  void Clear();
  void Grow();

  static constexpr size_t kFirstRoom = 56;
  static constexpr Site kNone = ~Site{0};  // As kTraceEnd: no event has it.

  const Site* next_ = &kNone;  // What the path that the lane follows has next, at its end kNone.
  uint64_t* address_data_ = nullptr;  // Of addresses_.
  size_t address_count_ = 0;
  std::vector<uint64_t> addresses_;  // Its size is the room.
  std::vector<Site> own_;            // The lane's path once it has left the common one.
  WarpTrace* warp_ = nullptr;
  int lane_ = 0;
};

class WarpTrace {
 public:
  // Returns the lanes that have events, bit i for lane i.
  uint32_t Active() const;
  // Returns whether all lanes that have events have the same sites: the common path, all of it.
  bool Together() const;

  // The common path: that of the first lane that had an event.
  absl::Span<const Site> path() const { return {path_.data(), path_.size() - 1}; }
  // Returns the addresses of a lane, one for each of its events that has one.
  const uint64_t* addresses(int lane) const { return lanes_[lane]->address_data_; }

  // Returns the events of each lane, up to the number of lanes, in the form that ReplayWarp()
  // takes. Valid until the next call.
  absl::Span<const LaneTrace> Traces();

  // Forgets all events.
  void Clear();

  // Gives back memory beyond that of short paths: where very many warps wait at the same time.
  // REQUIRES: there are no events.
  void FreeMuchRoom();

 private:
  friend class LanePath;

  std::array<LanePath*, kWarpLanes> lanes_ = {};
  int lane_count_ = 0;
  const LanePath* first_ = nullptr;             // Whose path is the common one.
  std::vector<Site> path_ = {LanePath::kNone};  // Ends with kNone.
  std::vector<Event> events_;                   // Of traces_.
  std::array<LaneTrace, kWarpLanes> traces_;
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_WARP_TRACE_H_
