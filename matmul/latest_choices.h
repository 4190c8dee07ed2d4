// Keeps the latest choices of a thread: programs repeat their products, and finding a choice again
// takes a tenth of the time of making it.

#ifndef STRIDEWISE_MATMUL_LATEST_CHOICES_H_
#define STRIDEWISE_MATMUL_LATEST_CHOICES_H_

#include <array>
#include <cstdint>

#include "common/gpu/device_model.h"
#include "matmul/args.h"
#include "matmul/choice_key.h"

namespace stridewise {

// Choices by all that they depend on, so that what is found is what would be chosen. For one
// thread: make it thread_local.
template <typename Choice>
class LatestChoices {
 public:
  // Returns the choice for the call on the device: the one that is kept or else that which `choose`
  // makes. `more` is what it depends on beside them.
  template <typename Choose>
  Choice For(const MatMulArgs& args, const DeviceModel& device, int64_t more,
             const Choose& choose) {
    const Key key = KeyOf(args, device, more);
    uint64_t hash = 0;
    for (const int64_t number : key) {
      hash = (hash ^ static_cast<uint64_t>(number)) * 0x9e3779b97f4a7c15u;
    }
    Entry& entry = entries_[hash >> (64 - kLogEntries)];
    if (!entry.is_made || entry.key != key) entry = {key, choose(), true};
    return entry.choice;
  }

 private:
  using Key = std::array<int64_t, 18>;

  struct Entry {
    Key key = {};
    Choice choice = {};
    bool is_made = false;
  };

  static Key KeyOf(const MatMulArgs& args, const DeviceModel& device, int64_t more) {
    constexpr uintptr_t kAlignment = 16;  // All that plans look at.
    const auto offsets = OffsetsOf(args, kAlignment);
    const int64_t rest = offsets[0] | offsets[1] << 4 | offsets[2] << 8 | more << 12;
    return Joined(NumbersOf(args), NumbersOf(device), std::array<int64_t, 1>{rest});
  }

  static constexpr int kLogEntries = 6;
  std::array<Entry, 1 << kLogEntries> entries_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_LATEST_CHOICES_H_
