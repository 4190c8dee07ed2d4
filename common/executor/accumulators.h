// Where the instructions of wgmma of one thread keep their sums, and what has happened to these
// variables: which group may still be adding to them, and whether the thread has changed them since
// its last wgmma.fence.
//
// Variables are forgotten rather than taken for what they may no longer be: their memory may serve
// another variable when they are out of scope, and that one is stored to before it is read.

#ifndef STRIDEWISE_COMMON_EXECUTOR_ACCUMULATORS_H_
#define STRIDEWISE_COMMON_EXECUTOR_ACCUMULATORS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stridewise::executor {

class Accumulators {
 public:
  static constexpr uintptr_t kBytes = 4;  // Of a variable.

  bool empty() const { return ranges_.empty(); }
  void Clear() { ranges_.clear(); }

  // Notes that an instruction of this group adds to these variables; null is none. Returns whether
  // the thread has changed one since its last fence, as far as an earlier instruction had it.
  bool Multiply(void* const* variables, int count, uint32_t group) {
    bool changed = false;
    for (int i = 0; i < count;) {
      const auto begin = reinterpret_cast<uintptr_t>(variables[i++]);
      if (begin == 0) continue;
      uintptr_t end = begin + kBytes;
      while (i < count && reinterpret_cast<uintptr_t>(variables[i]) == end) {
        end += kBytes;
        ++i;
      }
      changed |= Note({begin, end, group, false});
    }
    return changed;
  }

  void Fence() {
    for (Range& range : ranges_) range.changed = false;
  }

  // Returns whether a group that is not among the first `ended` ones may be adding to the variable.
  bool IsRunning(uintptr_t address, size_t ended) const {
    for (const Range& range : ranges_) {
      if (range.Has(address)) return range.group >= ended;
    }
    return false;
  }

  void Store(uintptr_t address, size_t ended) {
    for (auto range = ranges_.begin(); range != ranges_.end(); ++range) {
      if (!range->Has(address)) continue;
      range->changed = true;
      if (range->group >= ended) ranges_.erase(range);
      return;
    }
  }

 private:
  static constexpr size_t kMostRanges = 16;

  struct Range {
    uintptr_t begin, end;
    uint32_t group;
    bool changed;
    bool Has(uintptr_t address) const { return address >= begin && address < end; }
  };

  bool Note(const Range& range) {
    for (Range& other : ranges_) {
      if (other.begin != range.begin || other.end != range.end) continue;
      const bool changed = other.changed;
      other = range;
      return changed;
    }
    ranges_.erase(std::remove_if(ranges_.begin(), ranges_.end(),
                                 [&](const Range& other) {
                                   return other.begin < range.end && range.begin < other.end;
                                 }),
                  ranges_.end());
    if (ranges_.size() == kMostRanges) ranges_.erase(ranges_.begin());
    ranges_.push_back(range);
    return false;
  }

  std::vector<Range> ranges_;  // Disjoint.
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_ACCUMULATORS_H_
