// The state behind the runtime API of a whole program: the device, its memory, errors, and what is
// reported at the end. One a process, as CUDA has one context.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_RUNTIME_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_RUNTIME_H_

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/executor/device_memory.h"
#include "common/executor/executor.h"
#include "common/executor/run/include/simt_runtime_api.h"
#include "common/executor/run/report.h"

namespace stridewise::executor {

class Runtime {
 public:
  // What cudaMalloc() and its kin return.
  enum Kind { kDevice = 0, kHost = 1, kManaged = 2 };

  // The process's. Created by the first call; a process without address space for the device ends.
  static Runtime& Get();

  // runtime_launch.cc
  cudaError_t Launch(const SimtLaunchRequest& request);

  // runtime_memory.cc
  cudaError_t Allocate(void** pointer, size_t bytes, Kind kind, const char* file, int line);
  cudaError_t Free(void* pointer);
  cudaError_t Register(void* pointer, size_t bytes);
  // From here on, a host's loop may write the buffer unseen, so it counts as initialised.
  void LetHostWrite(const void* pointer);
  cudaError_t Copy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
  cudaError_t Set(void* to, int value, size_t bytes);

  // Records the error for cudaGetLastError(), and returns it.
  cudaError_t Note(cudaError_t error) {
    if (error != cudaSuccess) last_error_ = error;
    return error;
  }
  cudaError_t TakeLastError() { return std::exchange(last_error_, sticky_); }
  cudaError_t last_error() const { return last_error_; }
  cudaError_t sticky() const { return sticky_; }
  void Reset() { last_error_ = sticky_ = cudaSuccess; }

  // The multiprocessors of the device, and the blocks that each holds. Registers are not known.
  int multiprocessors() const { return multiprocessors_; }
  static int ResidentBlocks(unsigned threads, size_t shared_bytes);

  void LimitDynamicShared(const void* kernel, size_t bytes) { shared_limits_[kernel] = bytes; }

  // Called by the threads of a kernel with __cluster_dims__. Returns whether the launch that runs
  // has another cluster, which Launch() then mends.
  bool OtherCluster(const Grid& cluster);

  // Reports a launch from within a kernel. That is then a function of the host: CUDA calls such
  // once, on the host, and here it runs as a kernel. Called by the kernel's threads.
  cudaError_t RefuseInKernel(const SimtLaunchRequest& request);

  // Reports the finding of a kernel that is no launch's, and ends the program.
  [[noreturn]] void CalledAsFunction(uintptr_t pc);

  // Prints the report, and returns the number of findings.
  uint64_t Finish();
  // Where the CPU time that the program may use has passed, reports and ends it. Called by a thread
  // of its own.
  void StopInTime(int64_t cpu_seconds);

  std::mutex& mutex() { return mutex_; }
  std::map<uintptr_t, Kind>& kinds() { return kinds_; }
  size_t allocated_bytes() const { return allocated_bytes_; }

 private:
  Runtime();
  // Returns false, and prints why, for a range that is partly outside of its buffer.
  bool Covers(const void* pointer, size_t bytes, const char* call) const;
  std::vector<LaunchSummary>::iterator FindSummary(const SimtLaunchRequest& request,
                                                   const std::string& place, const Grid& grid,
                                                   const Block& block);
  absl::Status RunInCluster(const SimtLaunchRequest& request, const KernelCall& call,
                            const Grid& grid, const Block& block);
  void SetRunning(std::string launch) {
    const std::lock_guard<std::mutex> lock(report_mutex_);
    running_ = std::move(launch);
  }
  void Summarise(const SimtLaunchRequest& request, const std::string& place,
                 const LaunchReport& report, double seconds);

  std::unique_ptr<Executor> executor_;
  std::map<uintptr_t, Buffer> buffers_;
  std::map<uintptr_t, Kind> kinds_;
  std::map<const void*, size_t> shared_limits_;
  size_t allocated_bytes_ = 0;
  cudaError_t last_error_ = cudaSuccess;
  cudaError_t sticky_ = cudaSuccess;  // Of a kernel that CUDA would have ended the context for.
  std::set<std::string> printed_;     // Findings.
  std::mutex report_mutex_;           // Of the next two, which StopInTime() reads.
  std::string running_;               // The launch that runs, for a message.
  std::vector<LaunchSummary> summaries_;
  uint64_t launched_ = 0;         // Launches, those that were left out included.
  Grid cluster_{0, 0, 0};         // Of the launch that runs; 0 where none does.
  std::mutex wanted_mutex_;       // Of the next one.
  Grid wanted_cluster_{0, 0, 0};  // What the kernel's __cluster_dims__ says, where it differs.
  std::atomic<uint64_t> findings_{0};
  std::atomic<bool> launched_in_kernel_{false};  // Once is enough to say it.
  int64_t max_repeats_ = 0;
  int multiprocessors_ = 0;
  std::mutex mutex_;
};

// The runtime, while this thread has it for itself.
class Locked {
 public:
  Locked() : lock_(Runtime::Get().mutex()) {}
  Runtime* operator->() { return &Runtime::Get(); }

 private:
  std::lock_guard<std::mutex> lock_;
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_RUNTIME_H_
