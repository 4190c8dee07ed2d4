#include "benchmarks/ncu_run.h"

#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <iostream>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "benchmarks/subprocess.h"
#include "benchmarks/sweep.h"
#include "common/buffer.h"
#include "common/cublas_handle.h"
#include "common/device_ops.h"
#include "common/flag_parsing.h"
#include "common/gpu_runtime.h"
#include "common/status_macros.h"
#include "transpose/transpose.h"

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

// Launches the configuration once to load what it needs, and once more under the profiler's eyes.
absl::Status RunOnce(const TransposeConfig& config, const SweepOptions& options) {
  RETURN_IF_ERROR(OpenDevice(options.device).status());
  const int64_t bytes = config.shape.rows * config.shape.cols * config.type.element_bytes;
  const int64_t floats = CeilDiv(bytes, sizeof(float));
  const auto buffer_bytes = static_cast<size_t>(floats) * sizeof(float);
  ASSIGN_OR_RETURN(const DeviceBuffer in, DeviceBuffer::Allocate(buffer_bytes));
  ASSIGN_OR_RETURN(const DeviceBuffer out, DeviceBuffer::Allocate(buffer_bytes));
  // Elements of any type are made of the bits of random floats.
  RETURN_IF_ERROR(FillUniformOnDevice(Matrix<float>{in.As<float>(), 1, floats, floats},
                                      options.seed, /*stream=*/nullptr));
  CublasHandle cublas;
  if (config.implementation->needs_cublas) {
    ASSIGN_OR_RETURN(cublas, CublasHandle::Create());
  }
  const bool copy = config.implementation->operation == TransposeOperation::kCopy;
  TransposeArgs args;
  args.rows = config.shape.rows;
  args.cols = config.shape.cols;
  args.element_bytes = config.type.element_bytes;
  args.in = in.data();
  args.ld_in = args.cols;
  args.out = out.data();
  args.ld_out = copy ? args.cols : args.rows;
  args.cublas = cublas.get();
  args.block = config.block;
  RETURN_IF_ERROR(RunTranspose(*config.implementation, args));
  RETURN_IF_ERROR(gpu::Synchronize(args.stream));
  RETURN_IF_ERROR(gpu::StartProfiler());
  RETURN_IF_ERROR(RunTranspose(*config.implementation, args));
  RETURN_IF_ERROR(gpu::Synchronize(args.stream));
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
                                    const TransposeConfig& config, const SweepOptions& options) {
  std::vector<std::string> command = {
      ncu, "--csv", "--print-units", "base", "--clock-control", "none",
      // ncu runs a kernel several times to see all; "all" empties the caches before each.
      "--cache-control", options.l2 == L2Mode::kCold ? "all" : "none", "--profile-from-start",
      "off", "--metrics", NcuMetrics(), self, "--run_once",
      absl::StrCat("--kernels=", config.implementation->name),
      absl::StrCat("--shapes=", config.shape.rows, "x", config.shape.cols),
      absl::StrCat("--types=", config.type.name), absl::StrCat("--device=", options.device),
      absl::StrCat("--seed=", options.seed)};
  if (config.implementation->blocks == Blocks::kAny) {
    command.push_back(absl::StrCat("--blocks=", config.block.x, "x", config.block.y));
  }
  return command;
}

}  // namespace

absl::StatusOr<std::string> FindNcu(absl::string_view named) {
  if (!named.empty()) {
    const std::string path = ResolvePath(named);
    if (IsProgram(path)) return path;
    return absl::InvalidArgumentError(
        absl::StrCat("--ncu: '", named, "' is not a program; allowed is the path of ncu"));
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

int RunOnceUnderNcu(const TransposeConfig& config, const SweepOptions& options) {
  const absl::Status status = RunOnce(config, options);
  if (status.ok()) return kExitOk;
  std::cerr << kRunOncePrefix << static_cast<int>(status.code()) << ": " << status.message()
            << std::endl;
  return kExitWrongResult;
}

absl::StatusOr<std::vector<NcuLaunch>> RunNcu(const std::string& ncu, const TransposeConfig& config,
                                              const SweepOptions& options) {
  ASSIGN_OR_RETURN(const std::string self, OwnPath());
  ASSIGN_OR_RETURN(const ProcessResult result, RunProcess(NcuCommand(ncu, self, config, options)));
  RETURN_IF_ERROR(StatusOfRunOnce(result.output));
  ASSIGN_OR_RETURN(std::vector<NcuLaunch> launches, ParseNcuOutput(result.output));
  if (result.exit_code == 0) return launches;
  return absl::InternalError(absl::StrCat("ncu ended with exit code ", result.exit_code));
}

}  // namespace stridewise
