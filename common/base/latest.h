// Keeps what was made last for some keys: programs repeat their calls, and finding a choice again
// takes a tenth of the time of making it, or much less.

#ifndef STRIDEWISE_COMMON_BASE_LATEST_H_
#define STRIDEWISE_COMMON_BASE_LATEST_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace stridewise {

// Values by all that they depend on, numbers, so that what is found is what would be made. A value
// is kept until one whose key has the same hash of kLogEntries bits is made. For one thread: make
// it thread_local.
template <size_t kNumbers, typename Value, int kLogEntries>
class Latest {
 public:
  using Key = std::array<int64_t, kNumbers>;

  // Returns the value that is kept for the key, or else that which `make` makes. It stays until the
  // next call.
  template <typename Make>
  const Value& For(const Key& key, const Make& make) {
    uint64_t hash = 0;
    for (const int64_t number : key) {
      hash = (hash ^ static_cast<uint64_t>(number)) * 0x9e3779b97f4a7c15u;
    }
    Entry& entry = entries_[hash >> (64 - kLogEntries)];
    if (!entry.is_made || entry.key != key) entry = {key, make(), true};
    return entry.value;
  }

 private:
  struct Entry {
    Key key = {};
    Value value = {};
    bool is_made = false;
  };
  std::array<Entry, size_t{1} << kLogEntries> entries_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_LATEST_H_
