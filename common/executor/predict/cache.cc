#include "common/executor/predict/cache.h"

#include "common/executor/coalescer.h"

namespace stridewise::executor {
namespace {

constexpr uint64_t kSectorsPerLine = kLineBytes / kSectorBytes;

}  // namespace

SectorCache::SectorCache(double bytes)
    : capacity_(bytes < kLineBytes ? 0 : static_cast<size_t>(bytes / kLineBytes)) {}

bool SectorCache::Touch(uint64_t sector) {
  if (capacity_ == 0) return false;
  const uint64_t number = sector / kSectorsPerLine;
  const uint32_t bit = 1u << (sector % kSectorsPerLine);
  const auto found = find_.find(number);
  if (found != find_.end()) {
    lines_.splice(lines_.begin(), lines_, found->second);
    const bool hit = (found->second->sectors & bit) != 0;
    found->second->sectors |= bit;
    return hit;
  }
  if (lines_.size() == capacity_) {
    find_.erase(lines_.back().number);
    lines_.pop_back();
  }
  lines_.push_front({number, bit});
  find_[number] = lines_.begin();
  return false;
}

void SectorCache::Remove(uint64_t sector) {
  const auto found = find_.find(sector / kSectorsPerLine);
  if (found != find_.end()) found->second->sectors &= ~(1u << (sector % kSectorsPerLine));
}

}  // namespace stridewise::executor
