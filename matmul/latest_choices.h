// Keeps the latest choices of a thread by the products that they were made for.

#ifndef STRIDEWISE_MATMUL_LATEST_CHOICES_H_
#define STRIDEWISE_MATMUL_LATEST_CHOICES_H_

#include <array>
#include <cstdint>

#include "common/base/latest.h"
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
    return latest_.For(KeyOf(args, device, more), choose);
  }

 private:
  static constexpr int kLogEntries = 6;
  using Kept = Latest<18, Choice, kLogEntries>;
  using Key = typename Kept::Key;

  static Key KeyOf(const MatMulArgs& args, const DeviceModel& device, int64_t more) {
    constexpr uintptr_t kAlignment = 16;  // All that plans look at.
    const auto offsets = OffsetsOf(args, kAlignment);
    const int64_t rest = offsets[0] | offsets[1] << 4 | offsets[2] << 8 | more << 12;
    return Joined(NumbersOf(args), NumbersOf(device), std::array<int64_t, 1>{rest});
  }

  Kept latest_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_LATEST_CHOICES_H_
