// The executor's device memory: an address range of its own, so that one comparison tells a device
// pointer, with room between the buffers, so that running over the end of one does not reach the
// next.

#ifndef STRIDEWISE_COMMON_EXECUTOR_DEVICE_MEMORY_H_
#define STRIDEWISE_COMMON_EXECUTOR_DEVICE_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/executor/shadow.h"

namespace stridewise::executor {

// Zeroed pages that the system hands out when they are touched. Move-only by unique_ptr.
class LazyPages {
 public:
  static std::unique_ptr<LazyPages> Map(size_t bytes);  // Null where there is no room.
  ~LazyPages();
  LazyPages(const LazyPages&) = delete;
  LazyPages& operator=(const LazyPages&) = delete;

  template <typename T>
  T* As() const {
    return static_cast<T*>(data_);
  }
  void Clear();  // All zero again.

 private:
  LazyPages(void* data, size_t bytes) : data_(data), bytes_(bytes) {}
  void* data_;
  size_t bytes_;
};

// One buffer.
struct Region {
  std::string name;
  uintptr_t base = 0;
  size_t bytes = 0;
  bool read_only = false;
  bool initialised = false;  // All of it; otherwise `written` has a 1 for each byte that is.
  uint8_t* written = nullptr;
  // One cell for each 1 << granule_log2 bytes; never more than the smallest access of a kernel.
  Cell* cells = nullptr;
  int granule_log2 = 2;

  size_t first_chunk = 0;
  size_t chunks = 0;
  std::unique_ptr<LazyPages> written_pages;
  std::unique_ptr<LazyPages> cell_pages;
};

class DeviceMemory {
 public:
  static constexpr size_t kArenaBytes = size_t{1} << 36;
  static constexpr size_t kChunkBytes = size_t{1} << 20;

  // ResourceExhausted where the system gives no such address range.
  static absl::StatusOr<std::unique_ptr<DeviceMemory>> Create();

  // Aligned to 256 bytes, every byte 0xff. REQUIRES: bytes > 0.
  absl::StatusOr<Region*> Allocate(absl::string_view name, size_t bytes);
  void Free(Region* region);

  bool Contains(uintptr_t address) const { return address - base_ < kArenaBytes; }
  // REQUIRES: Contains(address). Null between buffers.
  Region* Find(uintptr_t address) const { return owner_[(address - base_) / kChunkBytes]; }
  // The buffer that `address` is in or nearest to; null if there is none.
  const Region* Nearest(uintptr_t address) const;

  const std::vector<std::unique_ptr<Region>>& regions() const { return regions_; }

 private:
  DeviceMemory(std::unique_ptr<LazyPages> arena);

  std::unique_ptr<LazyPages> arena_;
  uintptr_t base_;
  std::vector<Region*> owner_;  // Of each chunk.
  std::vector<std::unique_ptr<Region>> regions_;
  size_t cursor_ = 1;  // Where the next search for free chunks starts.
};

// The contents of all buffers that kernels may write, to go back to.
class MemorySnapshot {
 public:
  explicit MemorySnapshot(const DeviceMemory& memory);
  void Restore() const;

 private:
  struct Saved {
    Region* region;
    std::vector<uint8_t> bytes;
    std::vector<uint8_t> written;
  };
  std::vector<Saved> saved_;
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_DEVICE_MEMORY_H_
