// The host executor: runs CUDA kernels on the CPU, checks every access, and counts what they do to
// memory.
//
//   ASSIGN_OR_RETURN(auto executor, executor::Executor::Create({}));
//   ASSIGN_OR_RETURN(auto in, executor->Allocate("in", bytes));
//   in.Upload(host.data());                 // What a kernel reads has to be written first.
//   args.in = in.data(); ...; args.stream = executor->stream();
//   RETURN_IF_ERROR(LaunchMyKernel(args));  // From a simt_library; fails if a check does.
//   executor->launches().back().profile ...
//
// A kernel runs to its end within the launch. One executor serves one thread at a time; several
// executors may run side by side. Results, profiles and findings do not depend on the number of
// cores.

#ifndef STRIDEWISE_COMMON_EXECUTOR_EXECUTOR_H_
#define STRIDEWISE_COMMON_EXECUTOR_EXECUTOR_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/executor/finding.h"
#include "common/executor/profile.h"
#include "common/gpu/cuda_handles.h"
#include "common/gpu/launch_geometry.h"

namespace stridewise::executor {

// How kernels are run. The defaults check and count everything.
struct ExecutorOptions {
  bool check = true;    // Bounds, races, initialisation. Wild addresses are always found.
  bool profile = true;  // Count what goes to memory.
  int threads = 0;      // Cores to run blocks on; 0: all of the machine's.
  // 0 runs blocks, warps and lanes in order; any other value in an order of its own.
  uint64_t schedule_seed = 0;
  // Runs only the blocks for which this is true; null: all. For a look at the edge of a huge grid.
  // What the others would have written is not there.
  std::function<bool(const Extent3& block, const Grid& grid)> only;
  int max_findings = 16;  // A launch ends early when it has so many.
  // Basic blocks of one thread after which it counts as one that does not end: some seconds.
  uint64_t max_steps = uint64_t{1} << 26;
};

// A launch that was executed.
struct LaunchReport {
  uintptr_t kernel = 0;  // Entry point; Executor::KernelName() names it.
  Grid grid;
  Block block;
  size_t dynamic_shared_bytes = 0;
  size_t shared_bytes = 0;  // Of __shared__ variables, dynamic and static, without gaps.
  Profile profile;
  std::vector<Finding> findings;
};

// What the launcher of a kernel hands over; see launch.h.
struct KernelCall {
  uintptr_t kernel = 0;
  void (*run)(void* arguments) = nullptr;  // Calls the kernel, as one thread of it.
  void* arguments = nullptr;
  size_t arguments_bytes = 0;
};

class Executor;

// Memory of the executor's device, aligned to 256 bytes. Move-only; must not outlive the executor.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept;
  ~Buffer();

  void* data() const { return data_; }
  template <typename T>
  T* As() const {
    return static_cast<T*>(data_);
  }
  size_t bytes() const { return bytes_; }

  // Copies bytes() bytes in, or out. What is uploaded counts as initialised.
  void Upload(const void* from);
  void Download(void* to) const;

  // Copies bytes in that no kernel may read before it has written them: the output's old contents.
  void Poison(const void* from);

  // Makes every store by a kernel a finding.
  void MakeReadOnly();

 private:
  friend class Executor;
  Executor* executor_ = nullptr;
  void* data_ = nullptr;  // Null for 0 bytes.
  size_t bytes_ = 0;
};

// A device of its own: memory, a stream, and the machine's cores to run kernels on.
class Executor {
 public:
  static absl::StatusOr<std::unique_ptr<Executor>> Create(const ExecutorOptions& options);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // `name` is what findings call the buffer. Full of NaN, and nobody has written it.
  // ResourceExhausted where the address space that the executor reserved is used up.
  absl::StatusOr<Buffer> Allocate(absl::string_view name, size_t bytes);

  // Stands for this executor wherever a launcher wants a stream.
  cudaStream_t stream();

  // Runs a kernel over the grid. InvalidArgument for a geometry that CUDA would refuse, and a
  // DataLoss with all findings' text when a check failed. An empty grid is OK and leaves no report.
  // Launchers come here through Launch() of launch.h.
  absl::Status Run(const KernelCall& call, const Grid& grid, const Block& block,
                   size_t dynamic_shared_bytes);

  // All launches since the last clear, in order, also those that failed a check.
  const std::vector<LaunchReport>& launches() const;
  void ClearLaunches();

  // Through the symbolizer: a process, so not for inner loops.
  static std::string KernelName(const LaunchReport& report);

 private:
  friend class Buffer;
  struct State;
  explicit Executor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The executor behind a stream. REQUIRES: `stream` is some executor's stream().
Executor* ExecutorOfStream(cudaStream_t stream);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_EXECUTOR_H_
