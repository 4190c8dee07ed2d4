#include "benchmarks/distributed/worker_task.h"

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"
#include "common/base/sweep_args.h"

ABSL_FLAG(std::string, operation, "matmul", "matmul or transpose");
ABSL_FLAG(std::string, shape, "1000x1000x1000",
          "comma list of MxNxK, or of ROWSxCOLS of transposes");
ABSL_FLAG(std::string, grid, "",
          "rows and columns of ranks, PxQ; default: 1 x the number of ranks");
ABSL_FLAG(std::string, block, "",
          "blocks of m, n and k, or of rows and columns: 128x128x128 or 128x128 by default");
ABSL_FLAG(std::string, device, "cpu", "cpu, or gpu: that of number LOCAL_RANK");
ABSL_FLAG(
    std::string, transport, "tcp",
    "tcp between CPUs; between GPUs nccl, or direct for those of one machine, which reach each "
    "other's memory");
ABSL_FLAG(std::string, types, "float", "comma list of float and double");
ABSL_FLAG(double, alpha, 1, "of alpha A B + beta C; for products");
ABSL_FLAG(double, beta, 0, "of alpha A B + beta C; for products");
ABSL_FLAG(uint64_t, seed, 1, "of the matrices and of the check's vectors");
ABSL_FLAG(int64_t, repeat, 1, "how many times all of it is done");
ABSL_FLAG(double, timeout, 60,
          "seconds in which all ranks must come, and in which each message must be there");

namespace stridewise {
namespace {

// Parses A x B (x C), all at least 1.
absl::StatusOr<std::vector<int64_t>> ParseOne(const std::string& flag, const std::string& text,
                                              int dimensions) {
  ASSIGN_OR_RETURN(const auto list, ParseExtents(flag, text, dimensions));
  bool good = list.size() == 1;
  for (const int64_t extent : list[0]) good = good && extent >= 1 && extent <= kMaxSize;
  if (good) return list[0];
  return RefuseValue(flag, text, absl::StrCat(dimensions, " numbers of 1 to ", kMaxSize));
}

}  // namespace

absl::StatusOr<WorkerTask> ReadWorkerTask(int ranks) {
  WorkerTask task;
  const std::string operation = absl::GetFlag(FLAGS_operation);
  if (operation != "matmul" && operation != "transpose") {
    return RefuseValue("--operation", operation, "matmul or transpose");
  }
  task.is_product = operation == "matmul";
  const std::string device = absl::GetFlag(FLAGS_device);
  if (device != "cpu" && device != "gpu") return RefuseValue("--device", device, "cpu or gpu");
  task.on_gpu = device == "gpu";
  const std::string transport = absl::GetFlag(FLAGS_transport);
  const bool is_direct = transport == "direct";
  if (task.on_gpu ? transport != "nccl" && !is_direct : transport != "tcp") {
    return RefuseValue(
        "--transport", transport,
        absl::StrCat(task.on_gpu ? "nccl or direct" : "tcp", " with --device=", device));
  }
  if (is_direct) task.transport = GpuRank::Transport::kDirect;
  const int dimensions = task.is_product ? 3 : 2;
  ASSIGN_OR_RETURN(task.shapes, ParseExtents("--shape", absl::GetFlag(FLAGS_shape), dimensions));
  const std::string block = absl::GetFlag(FLAGS_block);
  task.block.assign(dimensions, 128);
  if (!block.empty()) {
    ASSIGN_OR_RETURN(task.block, ParseOne("--block", block, dimensions));
  }
  std::string grid = absl::GetFlag(FLAGS_grid);
  if (grid.empty()) grid = absl::StrCat("1x", ranks);
  ASSIGN_OR_RETURN(const auto extents, ParseOne("--grid", grid, 2));
  if (extents[0] * extents[1] != ranks) {
    return RefuseValue("--grid", grid, absl::StrCat("PxQ with P * Q = ", ranks, " ranks"));
  }
  task.grid = {static_cast<int>(extents[0]), static_cast<int>(extents[1])};
  task.types = absl::StrSplit(absl::GetFlag(FLAGS_types), ',');
  for (const std::string& type : task.types) {
    if (type != "float" && type != "double") {
      return RefuseValue("--types", absl::GetFlag(FLAGS_types), "a list of float and double");
    }
    if (task.on_gpu && task.is_product && type != "float") {
      return RefuseValue("--types", absl::GetFlag(FLAGS_types),
                         "float for products with --device=gpu");
    }
  }
  task.seconds = absl::GetFlag(FLAGS_timeout);
  if (!(task.seconds > 0 && task.seconds <= 86400)) {
    return RefuseValue("--timeout", absl::StrCat(task.seconds), "more than 0, up to 86400 seconds");
  }
  task.repeat = absl::GetFlag(FLAGS_repeat);
  if (task.repeat < 1) return RefuseValue("--repeat", absl::StrCat(task.repeat), "1 or more");
  task.alpha = absl::GetFlag(FLAGS_alpha);
  task.beta = absl::GetFlag(FLAGS_beta);
  task.seed = absl::GetFlag(FLAGS_seed);
  return task;
}

}  // namespace stridewise
