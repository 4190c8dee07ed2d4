// Pinned host memory of gpu_runtime.h.
//
// cudaMallocHost() makes memory page by page in one thread: 3 GB/s on the host of four H100, so
// that 200 GB take a minute. Large blocks are mapped in pages of 2 MB where the system has them,
// touched by all threads (51 GB/s there) and then registered (43 GB/s). Linux may end a process
// that touches memory which is not there: HostBuffer, the only caller, asks AvailableHostBytes()
// before.

#include <cuda_runtime_api.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/gpu/cuda_status.h"
#include "common/gpu/gpu_runtime.h"

namespace stridewise::gpu {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kSmallPage = 4096;
constexpr size_t kMostThreads = 32;
constexpr size_t kLarge = size_t{64} << 20;  // Smaller blocks take a few hundredths of a second.

absl::Status NoMemory(size_t bytes) {
  return absl::ResourceExhaustedError(
      absl::StrCat("pinned host memory: ", bytes, " bytes requested"));
}

absl::StatusOr<void*> AllocateSmall(size_t bytes) {
  void* host = nullptr;
  const cudaError_t error = cudaMallocHost(&host, bytes);
  if (error == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    return NoMemory(bytes);
  }
  RETURN_IF_ERROR(CudaStatus(error, "cudaMallocHost", __FILE__, __LINE__));
  return host;
}

// Of which a block begins at a large page.
size_t MappedBytes(size_t bytes) { return (bytes + kHugePage - 1) / kHugePage * kHugePage; }

// Returns null where the system gives no memory.
void* Map(size_t bytes) {
  const size_t all = MappedBytes(bytes) + kHugePage;
  void* const mapped =
      mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  const auto address = reinterpret_cast<uintptr_t>(mapped);
  const uintptr_t begin = MappedBytes(address);
  // What lies before and behind the aligned pages.
  if (begin > address) munmap(mapped, begin - address);
  if (begin < address + kHugePage) {
    munmap(reinterpret_cast<void*>(begin + MappedBytes(bytes)), address + kHugePage - begin);
  }
  return reinterpret_cast<void*>(begin);
}

void Touch(char* memory, size_t bytes) {
  const size_t pages = bytes / kHugePage;
  const size_t threads = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, kMostThreads);
  std::vector<std::thread> others;
  for (size_t i = 0; i < threads; ++i) {
    others.emplace_back([=] {
      const size_t end = pages * (i + 1) / threads * kHugePage;
      for (size_t at = pages * i / threads * kHugePage; at < end; at += kSmallPage) memory[at] = 0;
    });
  }
  for (std::thread& other : others) other.join();
}

}  // namespace

absl::StatusOr<void*> AllocatePinned(size_t bytes) {
  if (bytes == 0) return nullptr;
  if (bytes < kLarge) return AllocateSmall(bytes);
  RETURN_IF_CUDA_ERROR(cudaFree(nullptr));  // Without a device memory is not taken.
  void* const host = Map(bytes);
  if (host == nullptr) return NoMemory(bytes);
  madvise(host, MappedBytes(bytes), MADV_HUGEPAGE);  // A wish.
  Touch(static_cast<char*>(host), MappedBytes(bytes));
  const cudaError_t error = cudaHostRegister(host, MappedBytes(bytes), cudaHostRegisterPortable);
  if (error == cudaSuccess) return host;
  (void)cudaGetLastError();
  munmap(host, MappedBytes(bytes));
  return AllocateSmall(bytes);
}

absl::Status FreePinned(void* host, size_t bytes) {
  if (host == nullptr) return absl::OkStatus();
  if (bytes < kLarge) return CUDA_STATUS(cudaFreeHost(host));
  const cudaError_t error = cudaHostUnregister(host);
  if (error == cudaErrorHostMemoryNotRegistered) {
    (void)cudaGetLastError();
    return CUDA_STATUS(cudaFreeHost(host));  // Of a device that registers nothing.
  }
  munmap(host, MappedBytes(bytes));
  return CUDA_STATUS(error);
}

}  // namespace stridewise::gpu
