#include "benchmarks/profile/ncu_run.h"

#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "benchmarks/harness/flags_for.h"
#include "benchmarks/harness/problem.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/profile/subprocess.h"
#include "common/base/flag_parsing.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/cublas_handle.h"
#include "common/gpu/device.h"
#include "common/gpu/gpu_runtime.h"

namespace stridewise {
namespace {

constexpr char kUsualNcu[] = "/usr/local/cuda/bin/ncu";
// The exit code of what ncu ran cannot tell a status: a line on standard error does.
constexpr char kRunOncePrefix[] = "run_once failed, status ";

bool IsProgram(const std::string& path) {
  struct stat info;
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) && access(path.c_str(), X_OK) == 0;
}

absl::StatusOr<std::string> OwnPath() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  if (length <= 0) return absl::InternalError("cannot read /proc/self/exe");
  return std::string(path, static_cast<size_t>(length));
}

absl::StatusOr<DeviceBuffer> MakeInput(const Problem& problem, size_t index, uint64_t seed) {
  const size_t bytes = problem.inputs()[index].bytes;
  ASSIGN_OR_RETURN(const HostBuffer elements, HostBuffer::Allocate(bytes, HostMemory::kPageable));
  problem.Fill(index, seed, elements.data());
  ASSIGN_OR_RETURN(DeviceBuffer buffer, DeviceBuffer::Allocate(bytes));
  RETURN_IF_ERROR(gpu::Copy(buffer.data(), elements.data(), bytes));
  return buffer;
}

// Launches the configuration once to load what it needs, and once more under the profiler's eyes.
absl::Status RunOnce(const Config& config, const SweepOptions& options) {
  RETURN_IF_ERROR(OpenDevice(options.device).status());
  const std::unique_ptr<Problem> problem = config.operation->MakeProblem(config.point);
  const Binding binding = problem->Bind(*config.implementation, config.block);
  std::vector<DeviceBuffer> buffers;
  std::vector<void*> inputs;
  for (size_t i = 0; i < problem->inputs().size(); ++i) {
    ASSIGN_OR_RETURN(DeviceBuffer buffer, MakeInput(*problem, i, options.seed));
    inputs.push_back(buffer.data());
    buffers.push_back(std::move(buffer));
  }
  const size_t bytes = problem->output().bytes;
  ASSIGN_OR_RETURN(const DeviceBuffer output, DeviceBuffer::Allocate(bytes));
  ASSIGN_OR_RETURN(const DeviceBuffer workspace, DeviceBuffer::Allocate(binding.workspace_bytes));
  if (binding.output_starts_as >= 0) {
    const auto input = static_cast<size_t>(binding.output_starts_as);
    RETURN_IF_ERROR(gpu::Copy(output.data(), inputs[input], bytes));
  }
  CublasHandle cublas;
  if (config.implementation->needs_cublas) {
    ASSIGN_OR_RETURN(cublas, CublasHandle::Create());
  }
  const auto run = [&] {
    return binding.run({inputs, output.data(), workspace.data(), /*stream=*/nullptr, cublas.get()});
  };
  RETURN_IF_ERROR(run());
  RETURN_IF_ERROR(gpu::Synchronize(/*stream=*/nullptr));
  RETURN_IF_ERROR(gpu::StartProfiler());
  RETURN_IF_ERROR(run());
  RETURN_IF_ERROR(gpu::Synchronize(/*stream=*/nullptr));
  return gpu::StopProfiler();
}

// What RunOnceUnderNcu() wrote; OK if it wrote nothing.
absl::Status StatusOfRunOnce(absl::string_view output) {
  for (absl::string_view line : absl::StrSplit(output, '\n')) {
    if (!absl::ConsumePrefix(&line, kRunOncePrefix)) continue;
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(line, absl::MaxSplits(": ", 1));
    int code = 0;
    if (!absl::SimpleAtoi(parts.first, &code)) code = static_cast<int>(absl::StatusCode::kInternal);
    return absl::Status(static_cast<absl::StatusCode>(code), parts.second);
  }
  return absl::OkStatus();
}

std::vector<std::string> NcuCommand(const std::string& ncu, const std::string& self,
                                    const Config& config, const SweepOptions& options,
                                    const std::vector<std::string>& metrics) {
  std::vector<std::string> command = {
      ncu, "--csv", "--print-units", "base", "--clock-control", "none",
      // ncu runs a kernel several times to see all; "all" empties the caches before each.
      "--cache-control", options.l2 == L2Mode::kCold ? "all" : "none", "--profile-from-start",
      "off", "--metrics", absl::StrJoin(metrics, ","), self, "--run_once",
      absl::StrCat("--device=", options.device), absl::StrCat("--seed=", options.seed)};
  for (std::string& flag : FlagsFor(config)) command.push_back(std::move(flag));
  return command;
}

}  // namespace

absl::StatusOr<std::string> FindNcu(absl::string_view named) {
  if (!named.empty()) {
    const std::string path = ResolvePath(named);
    if (IsProgram(path)) return path;
    return RefuseValue("--ncu", named, "the path of ncu, a program");
  }
  const char* path = std::getenv("PATH");
  for (const absl::string_view folder :
       absl::StrSplit(path == nullptr ? "" : path, ':', absl::SkipEmpty())) {
    const std::string candidate = absl::StrCat(folder, "/ncu");
    if (IsProgram(candidate)) return candidate;
  }
  if (IsProgram(kUsualNcu)) return std::string(kUsualNcu);
  return absl::InvalidArgumentError(absl::StrCat("ncu is neither on the PATH nor at ", kUsualNcu,
                                                 ": install Nsight Compute or give --ncu=PATH"));
}

int RunOnceUnderNcu(const Config& config, const SweepOptions& options) {
  const absl::Status status = RunOnce(config, options);
  if (status.ok()) return kExitOk;
  std::cerr << kRunOncePrefix << static_cast<int>(status.code()) << ": " << status.message()
            << std::endl;
  return kExitWrongResult;
}

absl::StatusOr<std::vector<NcuLaunch>> RunNcu(const std::string& ncu, const Config& config,
                                              const SweepOptions& options,
                                              std::vector<std::string>* metrics) {
  ASSIGN_OR_RETURN(const std::string self, OwnPath());
  for (;;) {
    ASSIGN_OR_RETURN(const ProcessResult result,
                     RunProcess(NcuCommand(ncu, self, config, options, *metrics)));
    RETURN_IF_ERROR(StatusOfRunOnce(result.output));
    absl::StatusOr<std::vector<NcuLaunch>> launches = ParseNcuOutput(result.output);
    if (launches.ok() && result.exit_code == 0) return launches;
    if (launches.ok()) {
      return absl::InternalError(absl::StrCat("ncu ended with exit code ", result.exit_code));
    }
    if (!RemoveUnknownMetrics(launches.status().message(), metrics)) return launches.status();
  }
}

}  // namespace stridewise
