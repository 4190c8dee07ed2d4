#include "common/gpu/kernel_state.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "common/gpu/launch_geometry.h"

namespace stridewise {
namespace {

// An entry of the table. `code` is written before `key`, and never again.
struct KernelState {
  std::atomic<uint64_t> key{0};  // 0: free.
  KernelCode code;
  std::atomic<size_t> shared_limit{0};  // The greatest that was set; 0: none.
};

// Open addressing, without removal. Where it is full, kernels have no entry, and the runtime is
// asked each time.
struct KernelTable {
  static constexpr size_t kEntries = 4096;  // The library has some 400 kernels.
  static constexpr size_t kMostUsed = kEntries / 4 * 3;

  KernelState entries[kEntries];
  std::mutex mutex;  // Of those who add an entry, or raise a limit.
  size_t used = 0;
};

KernelTable& Table() {
  static KernelTable table;
  return table;
}

// Returns the entry with this key or, without one, the free entry where it belongs.
KernelState& FindEntry(KernelTable& table, uint64_t key) {
  constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;
  size_t i = (key * kGolden) >> 52;
  static_assert(KernelTable::kEntries == size_t{1} << (64 - 52), "the hash is an index");
  while (true) {
    const uint64_t found = table.entries[i].key.load(std::memory_order_acquire);
    if (found == key || found == 0) return table.entries[i];
    i = (i + 1) % KernelTable::kEntries;
  }
}

bool AskCode(const void* kernel, KernelCode* code) {
  cudaFuncAttributes attributes;
  if (cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess) {
    (void)cudaGetLastError();
    return false;
  }
  *code = {attributes.ptxVersion, attributes.localSizeBytes, attributes.sharedSizeBytes};
  return true;
}

// Returns the kernel's entry for the current device; null where there can be none.
KernelState* StateOf(const void* kernel) {
  int device = 0;
  constexpr int kMaxDevices = 256;
  if (cudaGetDevice(&device) != cudaSuccess || device >= kMaxDevices) {
    (void)cudaGetLastError();
    return nullptr;
  }
  // Addresses have at most 56 bits.
  const uint64_t key =
      reinterpret_cast<uintptr_t>(kernel) * kMaxDevices + static_cast<uint64_t>(device);
  KernelTable& table = Table();
  KernelState& found = FindEntry(table, key);
  if (found.key.load(std::memory_order_acquire) == key) return &found;
  KernelCode code;
  if (!AskCode(kernel, &code)) return nullptr;
  const std::lock_guard<std::mutex> lock(table.mutex);
  KernelState& entry = FindEntry(table, key);
  if (entry.key.load(std::memory_order_relaxed) == key) return &entry;
  if (table.used == KernelTable::kMostUsed) return nullptr;
  ++table.used;
  entry.code = code;
  entry.key.store(key, std::memory_order_release);
  return &entry;
}

// Returns the kernel's code. `state` is its entry, or null.
KernelCode CodeIn(const KernelState* state, const void* kernel) {
  if (state != nullptr) return state->code;
  KernelCode code;
  (void)AskCode(kernel, &code);
  return code;
}

cudaError_t RaiseIn(KernelState* state, const void* kernel, size_t bytes, bool again) {
  if (state != nullptr && !again && bytes <= state->shared_limit.load(std::memory_order_acquire)) {
    return cudaSuccess;
  }
  const auto set = [&] {
    return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                static_cast<int>(bytes));
  };
  if (state == nullptr) return set();
  // So that the last to set it is the one with the greatest limit.
  const std::lock_guard<std::mutex> lock(Table().mutex);
  if (!again && bytes <= state->shared_limit.load(std::memory_order_relaxed)) return cudaSuccess;
  const cudaError_t error = set();
  if (error == cudaSuccess) state->shared_limit.store(bytes, std::memory_order_release);
  return error;
}

}  // namespace

KernelCode CodeOf(const void* kernel) { return CodeIn(StateOf(kernel), kernel); }

KernelLaunch PrepareLaunch(const void* kernel, size_t shared_bytes) {
  KernelState* const state = StateOf(kernel);
  KernelLaunch launch;
  launch.code = CodeIn(state, kernel);
  launch.asks =
      shared_bytes > 0 && shared_bytes + launch.code.static_bytes > kSharedBytesWithoutAsking;
  if (launch.asks) launch.error = RaiseIn(state, kernel, shared_bytes, /*again=*/false);
  return launch;
}

cudaError_t RaiseSharedLimit(const void* kernel, size_t bytes, bool again) {
  return RaiseIn(StateOf(kernel), kernel, bytes, again);
}

}  // namespace stridewise
