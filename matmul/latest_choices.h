// Keeps the latest choices of a thread: programs repeat their products, and finding a choice again
// takes a tenth of the time of making it.

#ifndef STRIDEWISE_MATMUL_LATEST_CHOICES_H_
#define STRIDEWISE_MATMUL_LATEST_CHOICES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/gpu/device_model.h"

namespace stridewise {

// What a choice may depend on of a device.
using DeviceNumbers = std::array<int64_t, 5>;

inline DeviceNumbers NumbersOf(const DeviceModel& device) {
  int64_t split_cost_factor = 0;
  static_assert(sizeof(split_cost_factor) == sizeof(device.split_cost_factor));
  std::memcpy(&split_cost_factor, &device.split_cost_factor, sizeof(split_cost_factor));
  // Neither of the first two reaches 2^32.
  return {device.compute_capability + (int64_t{device.max_shared_bytes} << 32),
          device.multiprocessors, split_cost_factor, device.k_part_cost_bytes, device.memory_gbps};
}

// Returns the offset of an address from a multiple of 16 bytes, all that choices look at.
inline int64_t OffsetOf(const void* data) {
  constexpr uintptr_t kAlignment = 16;
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(data) % kAlignment);
}

// Choices by keys of kNumbers numbers, which hold all that a choice depends on, so that what is
// found is what would be chosen. For one thread: make it thread_local.
template <size_t kNumbers, typename Choice>
class LatestChoices {
 public:
  using Key = std::array<int64_t, kNumbers>;

  // Returns the choice for the key: the one that is kept or else that which `choose` makes.
  template <typename Choose>
  Choice For(const Key& key, const Choose& choose) {
    uint64_t hash = 0;
    for (const int64_t number : key) {
      hash = (hash ^ static_cast<uint64_t>(number)) * 0x9e3779b97f4a7c15u;
    }
    Entry& entry = entries_[hash >> (64 - kLogEntries)];
    if (!entry.is_made || entry.key != key) entry = {key, choose(), true};
    return entry.choice;
  }

 private:
  struct Entry {
    Key key = {};
    Choice choice = {};
    bool is_made = false;
  };

  static constexpr int kLogEntries = 6;
  std::array<Entry, 1 << kLogEntries> entries_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_LATEST_CHOICES_H_
