// Which accesses of one block are ordered before those of another: by a fence and a strong access
// on each side, as in the memory model of PTX ("Release and Acquire Patterns").
//
//   Thread A: data = 1; __threadfence(); atomicAdd(&counter, 1);    releases
//   Thread B: atomicAdd(&counter, 1); __threadfence(); use data;    acquires, if it reads A's value
//
// Strong accesses are atomic operations, and volatile ones in global memory. An atomic operation
// continues the release of what it overwrites; a volatile store ends it. In two points this is less
// strict than PTX, because published code relies on both: a barrier of the block between fence and
// atomic operation on the releasing side carries the fences of all its threads, and one behind the
// atomic operation acquires as a fence does.
//
// Only exact runs, on one core, keep this. Where nothing is fenced it costs nothing.

#ifndef STRIDEWISE_COMMON_EXECUTOR_PUBLICATION_H_
#define STRIDEWISE_COMMON_EXECUTOR_PUBLICATION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/executor/shadow.h"

namespace stridewise::executor {

class Publications {
 public:
  // Each block takes `block_threads` numbers of threads.
  void BeginLaunch(uint32_t block_threads);
  void BeginCluster();

  // Lanes are numbered in their cluster. `now` is the lane's, with a clock later than that of all
  // its accesses before the fence.
  void Fence(int lane, const Present& now);
  void Read(int lane, uint64_t address);
  void Write(int lane, uint64_t address);
  void ReadAndWrite(int lane, uint64_t address);

  // All lanes of the block, or those of the warp, that begins at `first` synchronise.
  void Barrier(int first);
  void WarpSync(int first, uint32_t mask);

  // Returns the number of strong writes of the address so far.
  uint32_t Writes(uint64_t address) const;

  // Returns whether what `thread` did at `clock` is ordered before the present of the lane.
  bool Orders(int lane, uint32_t thread, uint32_t clock) const;
  // The same of the strong write of the address that was its `number`th, from 1 on.
  bool OrdersWrite(int lane, uint64_t address, uint32_t number) const;

 private:
  struct Location;
  // Releases begin ... end - 1 of a location, and the number of its strong writes by then.
  struct Seen {
    const Location* location;
    size_t begin, end;
    uint32_t writes;
  };
  using SeenList = std::vector<Seen>;
  using SharedSeen = std::shared_ptr<const SeenList>;

  // What is ordered before a fence.
  struct Release {
    uint32_t block_first = 0;
    uint32_t barrier_clock = 0;                          // All of the block before this,
    std::vector<std::pair<uint32_t, uint32_t>> threads;  // of threads what is before these clocks,
    SharedSeen seen;                                     // and what these order.
  };
  using SharedRelease = std::shared_ptr<const Release>;

  struct Location {
    std::vector<SharedRelease> releases;
    std::unordered_map<uint32_t, std::vector<size_t>> of_block;  // Indices, by block_first.
    size_t first = 0;  // Of the release sequence that a reader sees now.
    uint32_t writes = 0;
  };
  struct LaneState {
    SharedSeen seen;        // Acquired.
    SeenList read;          // Read since the last fence.
    SharedRelease release;  // Of the last fence.
  };

  static void Add(const Seen& seen, SeenList* list);
  static SharedSeen Join(const SharedSeen& a, const SeenList& b);
  bool Covers(const Release& release, uint32_t thread, uint32_t clock) const;
  void AddRelease(const LaneState& lane, Location* location) const;
  LaneState& Lane(int lane);
  void Synchronise(const std::vector<LaneState*>& lanes);

  uint32_t block_threads_ = 1;
  std::unordered_map<uint64_t, Location> locations_;
  std::vector<LaneState> lanes_;  // Those that have fenced or read; the others know nothing.
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_PUBLICATION_H_
