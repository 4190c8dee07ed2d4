// A cache of lines with sectors that are filled one by one, fully associative, which evicts the
// line that was used longest ago.

#ifndef STRIDEWISE_COMMON_EXECUTOR_PREDICT_CACHE_H_
#define STRIDEWISE_COMMON_EXECUTOR_PREDICT_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>

namespace stridewise::executor {

class SectorCache {
 public:
  // A cache of less than a line keeps nothing.
  explicit SectorCache(double bytes);

  // Returns whether the sector (address / 32) is there, and puts it there.
  bool Touch(uint64_t sector);

  // Removes the sector.
  void Remove(uint64_t sector);

 private:
  struct Line {
    uint64_t number;
    uint32_t sectors;  // A bit for each that is there.
  };

  size_t capacity_;        // In lines.
  std::list<Line> lines_;  // The last used first.
  std::unordered_map<uint64_t, std::list<Line>::iterator> find_;
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_PREDICT_CACHE_H_
