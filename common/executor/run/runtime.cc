#include "common/executor/run/runtime.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <thread>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "common/executor/launch.h"
#include "common/executor/run/device_variables.h"
#include "common/executor/symbolizer.h"

namespace stridewise::executor {
namespace {

constexpr int kExitWithFindings = 3;
constexpr int kExitOutOfTime = 4;
constexpr int kMultiprocessors = 132;  // Of an H200.

// simt_run's flags come to the program in its environment.
int64_t FromEnvironment(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  int64_t value = otherwise;
  return text != nullptr && absl::SimpleAtoi(text, &value) ? value : otherwise;
}

std::string BaseName(absl::string_view path) {
  const size_t slash = path.rfind('/');
  return std::string(slash == absl::string_view::npos ? path : path.substr(slash + 1));
}

// When the program ends, by return or by exit().
void AtExit(int /*status*/, void*) {
  std::fflush(nullptr);
  std::cout.flush();
  if (Runtime::Get().Finish() > 0) _exit(kExitWithFindings);
}

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

Runtime& Runtime::Get() {
  static auto* const runtime = new Runtime();
  return *runtime;
}

Runtime::Runtime() {
  ExecutorOptions options;
  options.threads = static_cast<int>(FromEnvironment("SIMT_RUN_THREADS", 0));
  options.schedule_seed = static_cast<uint64_t>(FromEnvironment("SIMT_RUN_SEED", 0));
  options.check = FromEnvironment("SIMT_RUN_CHECK", 1) != 0;
  options.profile = FromEnvironment("SIMT_RUN_PROFILE", 1) != 0;
  multiprocessors_ =
      static_cast<int>(FromEnvironment("SIMT_RUN_MULTIPROCESSORS", kMultiprocessors));
  max_repeats_ = FromEnvironment("SIMT_RUN_MAX_REPEATS", 0);
  auto executor = Executor::Create(options);
  if (!executor.ok()) {
    std::fprintf(stderr, "simt_run: %s\n", std::string(executor.status().message()).c_str());
    _exit(1);
  }
  executor_ = *std::move(executor);
  for (const DeviceVariable& variable : DeviceVariablesOfProgram()) {
    // The rewriter aligns each to 256 bytes.
    auto region = executor_->memory().Adopt(variable.name, variable.address, variable.bytes,
                                            (variable.bytes + 255) / 256 * 256);
    if (!region.ok()) continue;
    (*region)->constant = (*region)->read_only = variable.constant;
  }
  on_exit(AtExit, nullptr);
  if (const int64_t limit = FromEnvironment("SIMT_RUN_MAX_CPU_SECONDS", 0); limit > 0) {
    std::thread([this, limit] { StopInTime(limit); }).detach();
  }
}

int Runtime::ResidentBlocks(unsigned threads, size_t shared_bytes) {
  constexpr uint64_t kThreads = 2048;
  constexpr uint64_t kBlocks = 32;
  constexpr size_t kSharedBytes = size_t{228} << 10;
  constexpr size_t kReservedBytes = 1 << 10;  // By the system, of each block.
  const uint64_t by_threads = kThreads / std::max(1u, (threads + 31) / 32 * 32);
  const uint64_t by_shared = kSharedBytes / (shared_bytes + kReservedBytes);
  return static_cast<int>(std::min({by_threads, by_shared, kBlocks}));
}

cudaError_t Runtime::Launch(const SimtLaunchRequest& request) {
  if (sticky_ != cudaSuccess) return Note(sticky_);
  // cudaLaunchKernelEx() takes any number of values, and so no place.
  const std::string place =
      request.line == 0 ? "" : absl::StrCat(BaseName(request.file), ":", request.line);
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
           (request.name[0] == 0 || s.kernel == request.name) && same(s.grid, grid) &&
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
    summary.kernel = request.name[0] == 0 ? Executor::KernelName(report) : request.name;
    summary.place = place;
    summary.grid = report.grid;
    summary.block = report.block;
    summary.shared_bytes = report.shared_bytes;
    found = summaries_.insert(found, std::move(summary));
  }
  ++found->launches;
  found->findings += report.findings.size();
  found->seconds += seconds;
  found->profile.Add(report.profile);
}

cudaError_t Runtime::Allocate(void** pointer, size_t bytes, Kind kind, const char* file, int line) {
  if (pointer == nullptr) return Note(cudaErrorInvalidValue);
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  auto buffer = executor_->Allocate(absl::StrCat(BaseName(file), ":", line), bytes);
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

void Runtime::StopInTime(int64_t cpu_seconds) {
  timespec used{};
  while (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used) == 0 && used.tv_sec < cpu_seconds) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  const std::lock_guard<std::mutex> lock(report_mutex_);
  std::fflush(stdout);
  std::fprintf(stderr, "simt_run: stopped after %lld s of CPU time%s\n",
               static_cast<long long>(cpu_seconds), running_.c_str());
  _exit(Finish() > 0 ? kExitWithFindings : kExitOutOfTime);
}

void Runtime::CalledAsFunction(uintptr_t pc) {
  std::fprintf(stderr,
               "simt_run: a kernel is called without <<<...>>>: it runs on the host at %s\n",
               SymbolizeCalls({pc}).front().ToString().c_str());
  ++findings_;
  std::exit(kExitWithFindings);  // The kernel cannot go on; the report follows.
}

uint64_t Runtime::Finish() {
  if (FromEnvironment("SIMT_RUN_REPORT", 1) != 0 || findings_ > 0) {
    std::fputs(ReportText(summaries_, findings_).c_str(), stderr);
  }
  if (const char* csv = std::getenv("SIMT_RUN_CSV")) std::ofstream(csv) << ReportCsv(summaries_);
  return findings_;
}

}  // namespace stridewise::executor

// A kernel that is called as a function: nvcc's would not run. Called by hooks.cc.
extern "C" [[noreturn]] void simt_not_in_kernel(uintptr_t pc) {
  stridewise::executor::Runtime::Get().CalledAsFunction(pc);
}
