#include "common/gpu/buffer.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/available_memory.h"
#include "common/base/status_macros.h"
#include "common/gpu/gpu_runtime.h"

namespace stridewise {
namespace {

constexpr uint8_t kPoison = 0xff;
constexpr uint8_t kGuard = 0xc5;
constexpr size_t kHostAlignment = 64;

}  // namespace

absl::StatusOr<DeviceBuffer> DeviceBuffer::Allocate(size_t bytes) {
  DeviceBuffer buffer;
  ASSIGN_OR_RETURN(buffer.allocation_, gpu::Allocate(bytes));
  buffer.data_ = buffer.allocation_;
  buffer.bytes_ = bytes;
  return buffer;
}

absl::StatusOr<DeviceBuffer> DeviceBuffer::AllocateGuarded(size_t bytes) {
  DeviceBuffer buffer;
  const size_t all = bytes + 2 * kGuardBytes;
  ASSIGN_OR_RETURN(buffer.allocation_, gpu::Allocate(all));
  buffer.data_ = static_cast<uint8_t*>(buffer.allocation_) + kGuardBytes;
  buffer.bytes_ = bytes;
  buffer.guarded_ = true;
  RETURN_IF_ERROR(gpu::FillBytes(buffer.allocation_, kGuard, all, nullptr));
  RETURN_IF_ERROR(gpu::Synchronize(nullptr));
  return buffer;
}

DeviceBuffer& DeviceBuffer::operator=(DeviceBuffer&& other) noexcept {
  std::swap(allocation_, other.allocation_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(guarded_, other.guarded_);
  return *this;
}

DeviceBuffer::~DeviceBuffer() { Free().IgnoreError(); }

absl::Status DeviceBuffer::Free() {
  if (allocation_ == nullptr) return absl::OkStatus();
  data_ = nullptr;
  bytes_ = 0;
  return gpu::Free(std::exchange(allocation_, nullptr));
}

absl::Status DeviceBuffer::Poison() {
  RETURN_IF_ERROR(gpu::FillBytes(data_, kPoison, bytes_, nullptr));
  return gpu::Synchronize(nullptr);
}

absl::Status DeviceBuffer::CheckGuards() const {
  if (!guarded_) return absl::FailedPreconditionError("the buffer was allocated without guards");
  std::vector<uint8_t> guard(kGuardBytes);
  const uint8_t* end = static_cast<const uint8_t*>(data_) + bytes_;
  for (const bool before : {true, false}) {
    RETURN_IF_ERROR(gpu::Copy(guard.data(), before ? allocation_ : end, kGuardBytes));
    const auto wrong =
        std::find_if(guard.begin(), guard.end(), [](uint8_t byte) { return byte != kGuard; });
    if (wrong == guard.end()) continue;
    const int64_t offset = wrong - guard.begin();
    return absl::DataLossError(absl::StrCat(
        "written outside the buffer: byte ",
        before ? offset - static_cast<int64_t>(kGuardBytes) : static_cast<int64_t>(bytes_) + offset,
        " of a buffer of ", bytes_, " bytes"));
  }
  return absl::OkStatus();
}

absl::StatusOr<HostBuffer> HostBuffer::Allocate(size_t bytes, HostMemory kind) {
  HostBuffer buffer;
  buffer.kind_ = kind;
  buffer.bytes_ = bytes;
  const int64_t available = AvailableHostBytes();
  if (static_cast<int64_t>(bytes) > available) {
    return absl::ResourceExhaustedError(
        absl::StrCat("host memory: ", bytes, " bytes requested, ", available, " available"));
  }
  if (kind == HostMemory::kPinned) {
    ASSIGN_OR_RETURN(buffer.data_, gpu::AllocatePinned(bytes));
    return buffer;
  }
  if (bytes == 0) return buffer;
  const size_t rounded = (bytes + kHostAlignment - 1) / kHostAlignment * kHostAlignment;
  buffer.data_ = std::aligned_alloc(kHostAlignment, rounded);
  if (buffer.data_ == nullptr) {
    return absl::ResourceExhaustedError(absl::StrCat("host memory: ", bytes, " bytes requested"));
  }
  return buffer;
}

HostBuffer& HostBuffer::operator=(HostBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  std::swap(kind_, other.kind_);
  return *this;
}

HostBuffer::~HostBuffer() {
  if (data_ == nullptr) return;
  if (kind_ == HostMemory::kPinned) {
    gpu::FreePinned(data_, bytes_).IgnoreError();
  } else {
    std::free(data_);
  }
}

void HostBuffer::Poison() {
  if (bytes_ > 0) std::memset(data_, kPoison, bytes_);
}

}  // namespace stridewise
