// The host executor: runs CUDA kernels on the CPU, checks every memory access, and counts memory
// traffic.
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
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/executor/access_record.h"
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
  // 0 runs blocks, warps and lanes in order; every other value in another pseudo-random order.
  uint64_t schedule_seed = 0;
  // If not null, only the clusters with a block for which this returns true are run, for tests at
  // the edge of a huge grid. The results of the other blocks are missing.
  std::function<bool(const Extent3& block, const Grid& grid)> only;
  // Records the requests of the block with this index in each launch; see access_picture.h. Needs
  // `profile`.
  std::optional<Extent3> record_block;
  // Records the requests of all blocks that are run, instead: for a sample, with `only`.
  bool record_every_block = false;
  size_t max_recorded_requests = size_t{1} << 16;  // Later ones are counted and not recorded.
  size_t max_shared_bytes = size_t{227} << 10;  // That a block may have; as much as an H200 gives.
  int max_findings = 16;                        // Of a launch.
  // Whether a launch ends when it has that number, or starts again without checks: so that what
  // comes behind it has what it computes, and its profile is that of all of it.
  bool end_at_max_findings = true;
  // A thread that runs more basic blocks than this, which takes some seconds, is reported as
  // runaway.
  uint64_t max_steps = uint64_t{1} << 26;
};

// The report on a launch that was executed.
struct LaunchReport {
  uintptr_t kernel = 0;  // The entry point; Executor::KernelName() returns its name.
  Grid grid;
  Block block;
  size_t dynamic_shared_bytes = 0;
  size_t shared_bytes = 0;  // Of __shared__ variables, dynamic and static, without gaps.
  Profile profile;
  std::string printed;    // By printf() in the kernel.
  AccessRecord accesses;  // Empty without ExecutorOptions::record_block, or outside of the grid.
  std::vector<Finding> findings;
};

struct KernelCall;  // Of launch.h.
class DeviceMemory;
class Executor;

// Owns memory of the executor's device, aligned to 256 bytes. Move-only; must not outlive the
// executor.
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

  // Copy bytes() bytes to or from the buffer. Uploaded bytes count as initialised.
  void Upload(const void* from);
  void Download(void* to) const;

  // Copies bytes to the buffer that no kernel may read before it has written them: the old contents
  // of an output.
  void Poison(const void* from);

  // Makes every store of a kernel to this buffer a finding.
  void MakeReadOnly();

 private:
  friend class Executor;
  Executor* executor_ = nullptr;
  void* data_ = nullptr;  // Null for 0 bytes.
  size_t bytes_ = 0;
};

// A simulated device: memory, a stream, and the machine's cores to run kernels on.
class Executor {
 public:
  static absl::StatusOr<std::unique_ptr<Executor>> Create(const ExecutorOptions& options);
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Allocates a buffer that is full of NaN and uninitialised; findings call it `name`. Returns
  // ResourceExhausted where the address space that the executor reserved is used up.
  absl::StatusOr<Buffer> Allocate(absl::string_view name, size_t bytes);

  // Returns the memory of all buffers, for the runtime of whole programs (run/).
  DeviceMemory& memory();

  // Returns a stream that makes launchers run their kernels on this executor.
  cudaStream_t stream();

  // Runs a kernel over the grid. Returns InvalidArgument for a geometry that CUDA would refuse, and
  // DataLoss with the text of all findings when a check failed. An empty grid is OK and leaves no
  // report. `cluster` is the blocks of a cluster in each direction, at most 16, which the grid has
  // whole; they run at the same time. In a cooperative launch, which has no clusters, all blocks
  // do, on one core, which takes memory for the stacks of all threads. Launchers call this through
  // Launch() of launch.h.
  absl::Status Run(const KernelCall& call, const Grid& grid, const Block& block,
                   size_t dynamic_shared_bytes, const Grid& cluster = {1, 1, 1});

  // Returns all launches since the last clear, in order, including those that failed a check.
  const std::vector<LaunchReport>& launches() const;
  void ClearLaunches();

  // Returns the kernel's name. Starts a process for the symbolizer: not for inner loops.
  static std::string KernelName(const LaunchReport& report);

 private:
  friend class Buffer;
  struct State;
  explicit Executor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_EXECUTOR_H_
