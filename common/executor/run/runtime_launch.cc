// The runtime's implementation of launches: what the device refuses, findings as the program meets
// them, and what is kept for the report.

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/executor/launch.h"
#include "common/executor/run/runtime.h"

namespace stridewise::executor {
namespace {

// Returns the error of a GPU that has found this, or success for what it would not notice.
cudaError_t ErrorOf(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    switch (finding.check) {
      case Check::kWildAddress:
        return cudaErrorIllegalAddress;
      case Check::kMisaligned:
        return cudaErrorMisalignedAddress;
      case Check::kSharedMemoryLimit:
        return cudaErrorInvalidValue;
      case Check::kAssertion:
        return cudaErrorAssert;
      case Check::kRunaway:
        return cudaErrorLaunchTimeout;
      default:
        break;
    }
  }
  return cudaSuccess;
}

}  // namespace

int Runtime::ResidentBlocks(unsigned threads, size_t shared_bytes) {
  constexpr uint64_t kThreads = 2048;
  constexpr uint64_t kBlocks = 32;
  constexpr size_t kSharedBytes = size_t{228} << 10;
  constexpr size_t kReservedBytes = 1 << 10;  // By the system, of each block.
  const uint64_t by_threads = kThreads / std::max(1u, (threads + 31) / 32 * 32);
  const uint64_t by_shared = kSharedBytes / (shared_bytes + kReservedBytes);
  return static_cast<int>(std::min({by_threads, by_shared, kBlocks}));
}

cudaError_t Runtime::RefuseInKernel(const SimtLaunchRequest& request) {
  if (!launched_in_kernel_.exchange(true)) {
    ++findings_;
    std::fprintf(stderr,
                 "simt_run: a kernel launches %s at %s: not supported; a function of the host that "
                 "is launched is no kernel\n",
                 request.name, PlaceOf(request.file, request.line).c_str());
  }
  return cudaErrorInvalidDeviceFunction;
}

cudaError_t Runtime::Launch(const SimtLaunchRequest& request) {
  if (sticky_ != cudaSuccess) return Note(sticky_);
  // cudaLaunchKernelEx() takes any number of values, and so no place.
  const std::string place = request.line == 0 ? "" : PlaceOf(request.file, request.line);
  const std::string name_and_place = absl::StrCat(request.name[0] == 0 ? "a kernel" : request.name,
                                                  place.empty() ? "" : " at ", place);
  const auto limit = shared_limits_.find(request.kernel);
  const size_t allowed =
      std::max(limit == shared_limits_.end() ? 0 : limit->second, kSharedBytesWithoutAsking);
  const auto refuse = [&](cudaError_t error, absl::string_view why) {
    std::fprintf(stderr, "simt_run: %s is not launched: %s\n", name_and_place.c_str(),
                 std::string(why).c_str());
    return Note(error);
  };
  if (request.kernel != nullptr && request.shared_bytes > allowed) {
    return refuse(cudaErrorInvalidValue,
                  absl::StrCat(request.shared_bytes, " bytes of dynamic shared memory, of ",
                               allowed, " that cudaFuncSetAttribute() allows"));
  }
  KernelCall call;
  call.kernel = reinterpret_cast<uintptr_t>(request.kernel);
  call.run = request.run;
  call.arguments = request.arguments;
  call.arguments_bytes = request.arguments_bytes;
  call.cooperative = request.cooperative != 0;
  const Grid grid{request.grid[0], request.grid[1], request.grid[2]};
  const Block block{request.block[0], request.block[1], request.block[2]};
  if (grid.x * grid.y * grid.z == 0) {
    return refuse(cudaErrorInvalidConfiguration, "its grid is empty");
  }
  // Whether the device holds all blocks of a cooperative launch.
  const auto refuse_if_too_large = [&](size_t shared_bytes) {
    const int64_t blocks = grid.x * grid.y * grid.z;
    const auto threads = static_cast<unsigned>(block.x * block.y * block.z);
    const int64_t room = int64_t{multiprocessors_} * ResidentBlocks(threads, shared_bytes);
    if (!call.cooperative || blocks <= room) return cudaSuccess;
    return refuse(cudaErrorCooperativeLaunchTooLarge,
                  absl::StrCat("its ", blocks, " blocks of ", threads, " threads and ",
                               shared_bytes, " bytes of shared memory must run at the same time; ",
                               multiprocessors_, " multiprocessors hold ", room));
  };
  if (const cudaError_t error = refuse_if_too_large(request.shared_bytes); error != cudaSuccess) {
    return error;
  }
  const auto summary = FindSummary(request, place, grid, block);
  if (max_repeats_ > 0 && summary != summaries_.end() &&
      summary->launches >= static_cast<uint64_t>(max_repeats_)) {
    const std::lock_guard<std::mutex> lock(report_mutex_);
    ++summary->left_out;
    AddToOrder(launched_++, &*summary);
    return cudaSuccess;
  }
  std::fflush(stdout);
  SetRunning(absl::StrCat(", in ", name_and_place));
  const auto start = std::chrono::steady_clock::now();
  const absl::Status status = RunInCluster(request, call, grid, block);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  SetRunning("");
  if (executor_->launches().empty()) {
    return refuse(cudaErrorInvalidConfiguration, status.message());
  }
  const LaunchReport& report = executor_->launches().back();
  // Static shared memory is known only now. That the kernel has run, the program cannot rely on.
  if (const cudaError_t error = refuse_if_too_large(report.shared_bytes);
      error != cudaSuccess && report.findings.empty()) {
    return error;
  }
  std::fwrite(report.printed.data(), 1, report.printed.size(), stdout);
  if (!report.findings.empty()) {
    findings_ += report.findings.size();
    const std::string text = FindingsText(report.findings);
    if (printed_.insert(text).second) {
      std::fflush(stdout);
      std::fprintf(stderr, "simt_run: %s:\n%s\n", name_and_place.c_str(), text.c_str());
    }
  }
  Summarise(request, place, report, seconds.count());
  sticky_ = ErrorOf(report.findings);
  return Note(sticky_);
}

absl::Status Runtime::RunInCluster(const SimtLaunchRequest& request, const KernelCall& call,
                                   const Grid& grid, const Block& block) {
  const auto run = [&](const Grid& cluster) {
    wanted_cluster_ = {0, 0, 0};
    cluster_ = cluster;
    executor_->ClearLaunches();
    const absl::Status status = executor_->Run(call, grid, block, request.shared_bytes, cluster);
    cluster_ = {0, 0, 0};
    return status;
  };
  const Grid asked{request.cluster[0], request.cluster[1], request.cluster[2]};
  const absl::Status status = run(asked);
  const Grid wanted = wanted_cluster_;
  if (wanted.x == 0) return status;
  if (asked.x * asked.y * asked.z > 1) {
    executor_->ClearLaunches();
    return absl::InvalidArgumentError(absl::StrCat("its cluster is ", asked.x, " x ", asked.y,
                                                   " x ", asked.z, ", and __cluster_dims__ says ",
                                                   wanted.x, " x ", wanted.y, " x ", wanted.z));
  }
  return run(wanted);
}

bool Runtime::OtherCluster(const Grid& cluster) {
  if (cluster_.x == 0) return false;  // No launch runs: the next access says so.
  if (cluster.x == cluster_.x && cluster.y == cluster_.y && cluster.z == cluster_.z) return false;
  const std::lock_guard<std::mutex> lock(wanted_mutex_);
  wanted_cluster_ = cluster;
  return true;
}

std::vector<LaunchSummary>::iterator Runtime::FindSummary(const SimtLaunchRequest& request,
                                                          const std::string& place,
                                                          const Grid& grid, const Block& block) {
  const auto same = [](const Extent3& a, const Extent3& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
  };
  return std::find_if(summaries_.begin(), summaries_.end(), [&](const LaunchSummary& s) {
    return s.place == place && s.function == request.kernel &&
           (request.kernel != nullptr || s.kernel == request.name) && same(s.grid, grid) &&
           same(s.block, block);
  });
}

void Runtime::Summarise(const SimtLaunchRequest& request, const std::string& place,
                        const LaunchReport& report, double seconds) {
  const std::lock_guard<std::mutex> lock(report_mutex_);
  auto found = FindSummary(request, place, report.grid, report.block);
  if (found == summaries_.end()) {
    LaunchSummary summary;
    summary.function = request.kernel;
    summary.kernel = request.name;
    if (request.kernel != nullptr) {
      const std::string kernel = Executor::KernelName(report);
      if (!kernel.empty() && !NamesKernel(request.name, kernel)) summary.kernel = kernel;
    }
    summary.place = place;
    summary.grid = report.grid;
    summary.block = report.block;
    summary.shared_bytes = report.shared_bytes;
    found = summaries_.insert(found, std::move(summary));
  }
  ++found->launches;
  AddToOrder(launched_++, &*found);
  found->findings += report.findings.size();
  found->seconds += seconds;
  found->profile.Add(report.profile);
}

}  // namespace stridewise::executor
