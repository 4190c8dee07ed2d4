// Memory that frees itself: on the device, with canaries around it if wanted, and on the host.

#ifndef STRIDEWISE_COMMON_GPU_BUFFER_H_
#define STRIDEWISE_COMMON_GPU_BUFFER_H_

#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace stridewise {

// Device memory, aligned to 256 bytes. Move-only. An allocation that does not fit is
// ResourceExhausted with the bytes asked for.
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

  // Sets every byte to 0xff, a NaN as float and as double. Waits.
  absl::Status Poison();

  // Returns DataLoss, with the first wrong byte's place, if anything wrote outside the buffer.
  // REQUIRES: allocated with guards, and the kernels that could write have ended.
  absl::Status CheckGuards() const;

  // Frees now and reports what the destructor would have to swallow.
  absl::Status Free();

  static constexpr size_t kGuardBytes = 4096;  // A whole row of a 1024-wide float tile.

 private:
  void* allocation_ = nullptr;  // Owned; data_ lies inside it.
  void* data_ = nullptr;
  size_t bytes_ = 0;
  bool guarded_ = false;
};

// What copies between host and device are from and to: pinned memory makes them faster.
enum class HostMemory { kPageable, kPinned };

// Host memory, aligned to 64 bytes (a cache line, an AVX-512 register). Move-only.
class HostBuffer {
 public:
  // Pinned memory needs a CUDA device. ResourceExhausted, with the bytes asked for, where the
  // machine has not that much available: Linux would promise it and kill the program later.
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

  // Sets every byte to 0xff, a NaN as float and as double.
  void Poison();

 private:
  void* data_ = nullptr;
  size_t bytes_ = 0;
  HostMemory kind_ = HostMemory::kPageable;
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_GPU_BUFFER_H_
