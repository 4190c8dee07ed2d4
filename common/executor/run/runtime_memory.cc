// The runtime's implementation of memory: what is allocated, and copies and fills, which are
// checked as accesses of kernels are.

#include <cstdio>
#include <cstring>
#include <utility>

#include "common/executor/run/runtime.h"

namespace stridewise::executor {

cudaError_t Runtime::Allocate(void** pointer, size_t bytes, Kind kind, const char* file, int line) {
  if (pointer == nullptr) return Note(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  auto buffer = executor_->Allocate(PlaceOf(file, line), bytes);
  if (!buffer.ok()) return Note(cudaErrorMemoryAllocation);
  const auto address = reinterpret_cast<uintptr_t>(buffer->data());
  *pointer = buffer->data();
  if (kind != kDevice) {
    // Host code writes it unseen, so all of it counts as written.
    std::memset(buffer->data(), 0, bytes);
    executor_->memory().Find(address)->initialised = true;
  }
  allocated_bytes_ += bytes;
  kinds_[address] = kind;
  buffers_[address] = *std::move(buffer);
  return cudaSuccess;
}

cudaError_t Runtime::Free(void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  const auto found = buffers_.find(reinterpret_cast<uintptr_t>(pointer));
  if (found == buffers_.end()) {
    std::fprintf(stderr, "simt_run: cudaFree of %p, which no allocation returned\n", pointer);
    return Note(cudaErrorInvalidValue);
  }
  allocated_bytes_ -= found->second.bytes();
  kinds_.erase(found->first);
  buffers_.erase(found);
  return cudaSuccess;
}

void Runtime::LetHostWrite(const void* pointer) {
  Region* region = executor_->memory().Find(reinterpret_cast<uintptr_t>(pointer));
  if (region == nullptr) return;
  region->initialised = true;
  region->filled = -1;
}

cudaError_t Runtime::Register(void* pointer, size_t bytes) {
  const auto region = executor_->memory().Adopt("registered host memory",
                                                reinterpret_cast<uintptr_t>(pointer), bytes, bytes);
  return Note(region.ok() ? cudaSuccess : cudaErrorMemoryAllocation);
}

bool Runtime::Covers(const void* pointer, size_t bytes, const char* call) const {
  const auto address = reinterpret_cast<uintptr_t>(pointer);
  const DeviceMemory& memory = executor_->memory();
  const Region* region = memory.Find(address);
  if (region == nullptr && !memory.Contains(address)) return true;  // The host's.
  if (region != nullptr && address >= region->base &&
      address + bytes <= region->base + region->bytes) {
    return true;
  }
  const Region* nearest = region != nullptr ? region : memory.Nearest(address);
  std::fprintf(stderr, "simt_run: %s of %zu bytes at %p is outside of buffer '%s' of %zu bytes\n",
               call, bytes, pointer, nearest == nullptr ? "" : nearest->name.c_str(),
               nearest == nullptr ? size_t{0} : nearest->bytes);
  return false;
}

cudaError_t Runtime::Copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  if (sticky_ != cudaSuccess) return Note(sticky_);
  if (bytes == 0) return cudaSuccess;
  if (to == nullptr || from == nullptr || !Covers(to, bytes, "cudaMemcpy to") ||
      !Covers(from, bytes, "cudaMemcpy from")) {
    return Note(cudaErrorInvalidValue);
  }
  const DeviceMemory& memory = executor_->memory();
  Region* to_region = memory.Find(reinterpret_cast<uintptr_t>(to));
  const Region* from_region = memory.Find(reinterpret_cast<uintptr_t>(from));
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  if ((to_device && to_region == nullptr) || (from_device && from_region == nullptr)) {
    std::fprintf(stderr, "simt_run: cudaMemcpy: its direction says device, %p is the host's\n",
                 to_device && to_region == nullptr ? to : from);
    return Note(cudaErrorInvalidValue);
  }
  std::memmove(to, from, bytes);
  if (to_region != nullptr) to_region->filled = -1;
  if (to_region == nullptr || to_region->initialised) return cudaSuccess;
  uint8_t* written = to_region->written + (reinterpret_cast<uintptr_t>(to) - to_region->base);
  if (from_region != nullptr && !from_region->initialised) {
    const uint8_t* from_written =
        from_region->written + (reinterpret_cast<uintptr_t>(from) - from_region->base);
    std::memmove(written, from_written, bytes);
  } else if (bytes == to_region->bytes) {
    to_region->initialised = true;
  } else {
    std::memset(written, 1, bytes);
  }
  return cudaSuccess;
}

cudaError_t Runtime::Set(void* to, int value, size_t bytes) {
  if (sticky_ != cudaSuccess) return Note(sticky_);
  if (bytes == 0) return cudaSuccess;
  Region* region = executor_->memory().Find(reinterpret_cast<uintptr_t>(to));
  if (region == nullptr || !Covers(to, bytes, "cudaMemset")) return Note(cudaErrorInvalidValue);
  // Programs that measure flush the L2 cache by filling a large buffer before each launch.
  const auto low_byte = static_cast<unsigned char>(value);
  if (bytes == region->bytes && region->filled == low_byte) return cudaSuccess;
  std::memset(to, value, bytes);
  region->filled =
      bytes == region->bytes && kinds_.count(region->base) > 0 && kinds_.at(region->base) == kDevice
          ? low_byte
          : -1;
  if (!region->initialised) {
    std::memset(region->written + (reinterpret_cast<uintptr_t>(to) - region->base), 1, bytes);
  }
  return cudaSuccess;
}

}  // namespace stridewise::executor
