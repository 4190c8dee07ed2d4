// Owners of memory on the device, optionally with canaries around it, and on the host.

#ifndef STRIDEWISE_COMMON_GPU_BUFFER_H_
#define STRIDEWISE_COMMON_GPU_BUFFER_H_

#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace stridewise {

// Owns device memory, aligned to 256 bytes. Move-only. An allocation that does not fit returns
// ResourceExhausted with the number of bytes.
class DeviceBuffer {
 public:
  // Allocates without guards: the plain allocation that a user of a kernel would make.
  static absl::StatusOr<DeviceBuffer> Allocate(size_t bytes);

  // Allocates with kGuardBytes of a known pattern on both sides, for CheckGuards().
  static absl::StatusOr<DeviceBuffer> AllocateGuarded(size_t bytes);

  DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer&& other) noexcept { *this = std::move(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;
  ~DeviceBuffer();

  void* data() const { return data_; }
  template <typename T>
  T* As() const {
    return static_cast<T*>(data_);
  }
  size_t bytes() const { return bytes_; }

  // Sets every byte to 0xff, which is a NaN as float and as double, and waits for it.
  absl::Status Poison();

  // Returns DataLoss, with the offset of the first wrong byte, if anything wrote outside the
  // buffer. REQUIRES: the buffer has guards, and the kernels that could write have ended.
  absl::Status CheckGuards() const;

  // Frees the memory now and returns the error that the destructor would have to ignore.
  absl::Status Free();

  static constexpr size_t kGuardBytes = 4096;  // A whole row of a 1024-wide float tile.

 private:
  void* allocation_ = nullptr;  // Owned; data_ lies inside it.
  void* data_ = nullptr;
  size_t bytes_ = 0;
  bool guarded_ = false;
};

// The kind of host memory that is copied to and from the device; copies of pinned memory are
// faster.
enum class HostMemory { kPageable, kPinned };

// Owns host memory, aligned to 64 bytes (a cache line, an AVX-512 register). Move-only.
class HostBuffer {
 public:
  // Allocates memory; pinned memory needs a CUDA device. Returns ResourceExhausted, with the number
  // of bytes, where the machine does not have them available: Linux would grant them and kill the
  // program later.
  static absl::StatusOr<HostBuffer> Allocate(size_t bytes, HostMemory kind);

  HostBuffer() = default;
  HostBuffer(HostBuffer&& other) noexcept { *this = std::move(other); }
  HostBuffer& operator=(HostBuffer&& other) noexcept;
  ~HostBuffer();

  void* data() const { return data_; }
  template <typename T>
  T* As() const {
    return static_cast<T*>(data_);
  }
  size_t bytes() const { return bytes_; }

  // Sets every byte to 0xff, which is a NaN as float and as double.
  void Poison();

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
  HostMemory kind_ = HostMemory::kPageable;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_BUFFER_H_
