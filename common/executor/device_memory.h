// The executor's device memory: an address range of its own, so that one comparison recognises a
// device pointer, with gaps between the buffers, so that an overrun does not reach the next buffer.

#ifndef STRIDEWISE_COMMON_EXECUTOR_DEVICE_MEMORY_H_
#define STRIDEWISE_COMMON_EXECUTOR_DEVICE_MEMORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/executor/shadow.h"

namespace stridewise::executor {

// Owns zeroed pages that the system allocates when they are touched. Move-only by unique_ptr.
class LazyPages {
 public:
  // Maps pages; returns null where there is no address space left.
  static std::unique_ptr<LazyPages> Map(size_t bytes);
  ~LazyPages();
  LazyPages(const LazyPages&) = delete;
  LazyPages& operator=(const LazyPages&) = delete;

  template <typename T>
  T* As() const {
    return static_cast<T*>(data_);
  }
  void Clear();  // Sets all bytes to zero again.

 private:
  LazyPages(void* data, size_t bytes) : data_(data), bytes_(bytes) {}
  void* data_;
  size_t bytes_;
};

// What the running launch has done to a buffer so far. Loads of one that it does not store to need
// no record for races, which halves the shadow memory of most launches and the time of their loads.
// A store to a buffer that was read without records starts the launch again, with `updated`.
enum class RegionUse : uint8_t {
  kNone,
  kOnlyRead,  // Without records.
  kSaving,    // The first store saves the buffer: others wait.
  kStored     // Loads and stores are recorded.
};

// A buffer of device memory and the shadow state beside it.
struct Region {
  std::string name;
  uintptr_t base = 0;
  size_t bytes = 0;
  bool read_only = false;
  bool constant = false;     // A __constant__ variable: loads are not counted as global ones.
  bool initialised = false;  // All bytes are; otherwise `written` has a 1 for each byte that is.
  uint8_t* written = nullptr;
  // One cell for each 1 << granule_log2 bytes, which is at most the smallest access of a kernel.
  Cell* cells = nullptr;
  int granule_log2 = 2;

  std::atomic<RegionUse> use{RegionUse::kNone};
  // Loads need no more checks than those of bounds and alignment.
  std::atomic<bool> plain_loads{false};
  bool updated =
      false;  // A launch has loaded from it and stored to it: loads are recorded at once.
  // The value of all bytes, where nothing has written to them since cudaMemset() did; otherwise -1.
  int filled = -1;

  void BeginLaunch() {
    use = RegionUse::kNone;
    plain_loads = read_only;
  }

  size_t reserved_bytes = 0;  // Of an adopted buffer.
  size_t first_chunk = 0;
  size_t chunks = 0;
  std::unique_ptr<LazyPages> written_pages;
  std::unique_ptr<LazyPages> cell_pages;
};

class DeviceMemory {
 public:
  static constexpr size_t kArenaBytes = size_t{1} << 36;
  static constexpr size_t kChunkBytes = size_t{1} << 20;

  // Returns ResourceExhausted where the system has no such address range.
  static absl::StatusOr<std::unique_ptr<DeviceMemory>> Create();

  // Allocates a buffer aligned to 256 bytes, with every byte 0xff. REQUIRES: bytes > 0.
  absl::StatusOr<Region*> Allocate(absl::string_view name, size_t bytes);
  void Free(Region* region);

  // Makes memory that others own, such as a __device__ variable or registered memory of the host, a
  // buffer, all of it initialised. Accesses up to `reserved_bytes`, at least `bytes`, are taken for
  // overruns of this buffer. Returns ResourceExhausted as Allocate() does. REQUIRES: bytes > 0, and
  // not inside another buffer.
  absl::StatusOr<Region*> Adopt(absl::string_view name, uintptr_t base, size_t bytes,
                                size_t reserved_bytes);

  bool Contains(uintptr_t address) const { return address - base_ < kArenaBytes; }
  // Returns the buffer at the address, or null between buffers. REQUIRES: Contains(address).
  Region* OwnerOf(uintptr_t address) const { return owner_[(address - base_) / kChunkBytes]; }
  // Returns the buffer at the address, or null between buffers.
  Region* Find(uintptr_t address) const {
    return Contains(address) ? OwnerOf(address) : FindAdopted(address);
  }
  // Returns the adopted buffer that contains the address, or null.
  Region* FindAdopted(uintptr_t address) const;
  // Returns the buffer that contains or is nearest to `address`; null if there is no buffer.
  const Region* Nearest(uintptr_t address) const;

  const std::vector<std::unique_ptr<Region>>& regions() const { return regions_; }

 private:
  DeviceMemory(std::unique_ptr<LazyPages> arena);

  std::unique_ptr<LazyPages> arena_;
  uintptr_t base_;
  std::vector<Region*> owner_;  // Of each chunk.
  std::vector<std::unique_ptr<Region>> regions_;
  std::vector<Region*> adopted_;  // By address.
  size_t cursor_ = 1;             // Where the next search for free chunks starts.
};

// Saves the contents of buffers before a launch stores to them, to restore them.
class MemorySnapshot {
 public:
  // Saves a buffer, if it is not saved yet. May be called by several threads.
  void Save(Region* region);
  void SaveAllThatKernelsMayWrite(const DeviceMemory& memory);
  void Restore() const;

 private:
  struct Saved {
    Region* region;
    std::vector<uint8_t> bytes;
    std::vector<uint8_t> written;
  };
  std::mutex mutex_;
  std::vector<Saved> saved_;
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_DEVICE_MEMORY_H_
