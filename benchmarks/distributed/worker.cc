// One rank of a distributed product or transpose, on the host or on a GPU: makes its parts of
// seeded matrices, computes, and verifies. docs/many_gpus.md says how launchers start it.

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "benchmarks/distributed/gpu_ranks.h"
#include "benchmarks/distributed/parts.h"
#include "benchmarks/harness/program_main.h"
#include "common/base/clock.h"
#include "common/base/matrix.h"
#include "common/base/status_macros.h"
#include "common/base/sweep_args.h"
#include "common/distributed/block_cyclic.h"
#include "common/distributed/job_environment.h"
#include "common/distributed/rendezvous.h"
#include "matmul/distributed/summa.h"
#include "matmul/distributed/verify.h"
#include "matmul/on_host.h"
#include "transpose/distributed/exchange.h"
#include "transpose/on_host.h"

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

constexpr char kUsage[] =
    "worker: one rank of a distributed product or transpose. RANK, WORLD_SIZE,\n"
    "MASTER_ADDR, MASTER_PORT and STRIDEWISE_JOB_TOKEN, or mpirun's variables, say of which job.\n"
    "Exit codes: 0, 1 wrong result, 2 bad input, 3 a rank is lost or memory is short.\n";

constexpr int kExitLost = 3;

// What the command line says, the same on all ranks.
struct Task {
  bool is_product = true;
  bool on_gpu = false;
  GpuRank::Transport transport = GpuRank::Transport::kNccl;  // Of GPUs.
  std::vector<std::vector<int64_t>> shapes;
  RankGrid grid;
  std::vector<int64_t> block;
  std::vector<std::string> types;
};

absl::Status Refuse(const std::string& flag, const std::string& value, const std::string& allowed) {
  return absl::InvalidArgumentError(
      absl::StrCat(flag, ": \"", value, "\" is not allowed; allowed is ", allowed));
}

// Parses A x B (x C), all at least 1.
absl::StatusOr<std::vector<int64_t>> ParseOne(const std::string& flag, const std::string& text,
                                              int dimensions) {
  ASSIGN_OR_RETURN(const auto list, ParseExtents(flag, text, dimensions));
  bool good = list.size() == 1;
  for (const int64_t extent : list[0]) good = good && extent >= 1 && extent <= kMaxSize;
  if (good) return list[0];
  return Refuse(flag, text, absl::StrCat(dimensions, " numbers of 1 to ", kMaxSize));
}

absl::StatusOr<Task> ReadTask(int ranks) {
  Task task;
  const std::string operation = absl::GetFlag(FLAGS_operation);
  if (operation != "matmul" && operation != "transpose") {
    return Refuse("--operation", operation, "matmul or transpose");
  }
  task.is_product = operation == "matmul";
  const std::string device = absl::GetFlag(FLAGS_device);
  if (device != "cpu" && device != "gpu") return Refuse("--device", device, "cpu or gpu");
  task.on_gpu = device == "gpu";
  const std::string transport = absl::GetFlag(FLAGS_transport);
  const bool is_direct = transport == "direct";
  if (task.on_gpu ? transport != "nccl" && !is_direct : transport != "tcp") {
    return Refuse("--transport", transport,
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
    return Refuse("--grid", grid, absl::StrCat("PxQ with P * Q = ", ranks, " ranks"));
  }
  task.grid = {static_cast<int>(extents[0]), static_cast<int>(extents[1])};
  task.types = absl::StrSplit(absl::GetFlag(FLAGS_types), ',');
  for (const std::string& type : task.types) {
    if (type != "float" && type != "double") {
      return Refuse("--types", absl::GetFlag(FLAGS_types), "a list of float and double");
    }
    if (task.on_gpu && task.is_product && type != "float") {
      return Refuse("--types", absl::GetFlag(FLAGS_types), "float for products with --device=gpu");
    }
  }
  const double timeout = absl::GetFlag(FLAGS_timeout);
  if (!(timeout > 0 && timeout <= 86400)) {
    return Refuse("--timeout", absl::StrCat(timeout), "more than 0, up to 86400 seconds");
  }
  if (absl::GetFlag(FLAGS_repeat) < 1) {
    return Refuse("--repeat", absl::StrCat(absl::GetFlag(FLAGS_repeat)), "1 or more");
  }
  return task;
}

// Runs between two barriers and returns the seconds.
template <typename Run>
absl::StatusOr<double> Timed(Communicator* communicator, Run run) {
  const SteadyClock clock;
  RETURN_IF_ERROR(communicator->Barrier());
  const double begin = clock.Now();
  RETURN_IF_ERROR(run());
  RETURN_IF_ERROR(communicator->Barrier());
  return clock.Now() - begin;
}

// Where a rank computes, and whom it talks to.
struct Ranks {
  Communicator* communicator = nullptr;  // On the host.
  GpuRank* gpu = nullptr;                // Null for the CPU.
};

// Multiplies and returns the seconds.
template <typename T>
absl::StatusOr<double> RunProduct(const SummaProblem<T>& problem, const Ranks& ranks) {
  if constexpr (std::is_same_v<T, float>) {
    if (ranks.gpu != nullptr) return ranks.gpu->Multiply(problem);
  }
  return Timed(ranks.communicator,
               [&] { return Summa(problem, LocalProduct(MatMulOnHost), ranks.communicator); });
}

// Multiplies and verifies. Sets `seconds` to the product's.
template <typename T>
absl::Status Multiply(const Task& task, const std::vector<int64_t>& shape, double* seconds,
                      const Ranks& ranks) {
  Communicator* const communicator = ranks.communicator;
  const int rank = communicator->rank();
  const uint64_t seed = absl::GetFlag(FLAGS_seed);
  const int64_t m = shape[0], n = shape[1], k = shape[2];
  const int64_t mb = task.block[0], nb = task.block[1], kb = task.block[2];
  SummaProblem<T> problem;
  ASSIGN_OR_RETURN(problem.a_layout, BlockCyclicLayout::Create(m, k, mb, kb, task.grid));
  ASSIGN_OR_RETURN(problem.b_layout, BlockCyclicLayout::Create(k, n, kb, nb, task.grid));
  ASSIGN_OR_RETURN(problem.c_layout, BlockCyclicLayout::Create(m, n, mb, nb, task.grid));
  ASSIGN_OR_RETURN(const Part<T> a, MakePart<T>(problem.a_layout, rank, seed));
  ASSIGN_OR_RETURN(const Part<T> b, MakePart<T>(problem.b_layout, rank, seed + 1));
  ASSIGN_OR_RETURN(const Part<T> c, MakePart<T>(problem.c_layout, rank, seed + 2));
  problem.a = a.view;
  problem.b = b.view;
  problem.c = c.view;
  problem.alpha = absl::GetFlag(FLAGS_alpha);
  problem.beta = absl::GetFlag(FLAGS_beta);
  ASSIGN_OR_RETURN(*seconds, RunProduct(problem, ranks));
  ASSIGN_OR_RETURN(const Part<T> before, MakePart<T>(problem.c_layout, rank, seed + 2));
  return VerifyProduct(problem, ConstMatrix<T>(before.view), seed + 3, communicator);
}

// Transposes and compares each element. Sets `seconds` to the transpose's.
template <typename T>
absl::Status TransposeParts(const Task& task, const std::vector<int64_t>& shape, double* seconds,
                            const Ranks& ranks) {
  Communicator* const communicator = ranks.communicator;
  const int rank = communicator->rank();
  const uint64_t seed = absl::GetFlag(FLAGS_seed);
  const int64_t rows = shape[0], cols = shape[1];
  ASSIGN_OR_RETURN(const BlockCyclicLayout in_layout,
                   BlockCyclicLayout::Create(rows, cols, task.block[0], task.block[1], task.grid));
  ASSIGN_OR_RETURN(const BlockCyclicLayout out_layout,
                   BlockCyclicLayout::Create(cols, rows, task.block[0], task.block[1], task.grid));
  ASSIGN_OR_RETURN(const Part<T> in, MakePart<T>(in_layout, rank, seed));
  ASSIGN_OR_RETURN(const Part<T> out, MakePart<T>(out_layout, rank, seed + 1));
  const auto view = [](auto part) {
    return MutableMatrixView{part.data, part.rows, part.cols, part.ld, sizeof(T)};
  };
  const MatrixView from = {in.view.data, in.view.rows, in.view.cols, in.view.ld, sizeof(T)};
  if (ranks.gpu != nullptr) {
    ASSIGN_OR_RETURN(*seconds, ranks.gpu->Transpose(in_layout, from, out_layout, view(out.view)));
  } else {
    ASSIGN_OR_RETURN(*seconds, Timed(communicator, [&] {
      return DistributedTranspose(in_layout, from, out_layout, view(out.view), TransposeOnHost,
                                  communicator);
    }));
  }
  auto wrong = static_cast<double>(WrongTransposedElements(out_layout, rank, seed, out.view));
  RETURN_IF_ERROR(communicator->Sum(absl::MakeSpan(&wrong, 1)));
  if (wrong == 0) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(wrong, " elements are wrong"));
}

// Does all problems of the task. Rank 0 prints a line for each. Returns whether all are right.
absl::StatusOr<bool> RunTask(const Task& task, const Ranks& ranks) {
  bool all_right = true;
  for (int64_t repetition = 0; repetition < absl::GetFlag(FLAGS_repeat); ++repetition) {
    for (const std::vector<int64_t>& shape : task.shapes) {
      for (const std::string& type : task.types) {
        const auto run = task.is_product
                             ? (type == "float" ? Multiply<float> : Multiply<double>)
                             : (type == "float" ? TransposeParts<float> : TransposeParts<double>);
        double seconds = 0;
        const absl::Status status = run(task, shape, &seconds, ranks);
        if (!status.ok() && status.code() != absl::StatusCode::kDataLoss) return status;
        all_right = all_right && status.ok();
        if (ranks.communicator->rank() != 0) continue;
        std::cout << absl::StreamFormat("%s %s %s, grid %dx%d, blocks %s: %s, %.6f s",
                                        task.is_product ? "matmul" : "transpose", ShapeText(shape),
                                        type, task.grid.rows, task.grid.cols, ShapeText(task.block),
                                        status.ok() ? "ok" : status.message(), seconds)
                  << std::endl;
      }
    }
  }
  return all_right;
}

// Connects the GPUs, if the task is for them, and does the task.
absl::StatusOr<bool> ConnectAndRun(const Task& task, const JobEnvironment& job,
                                   Communicator* communicator) {
  if (!task.on_gpu) return RunTask(task, {communicator, nullptr});
  ASSIGN_OR_RETURN(GpuRank connected, GpuRank::Connect(job.local_rank, task.transport, communicator,
                                                       absl::GetFlag(FLAGS_timeout)));
  auto gpu = std::make_unique<GpuRank>(std::move(connected));
  absl::StatusOr<bool> right = RunTask(task, {communicator, gpu.get()});
  // To end it could mean to wait for a rank that answers no more: the process ends instead.
  if (!right.ok()) (void)gpu.release();
  return right;
}

absl::StatusOr<int> RunProgram() {
  ASSIGN_OR_RETURN(const JobEnvironment job,
                   ReadJobEnvironment([](const char* name) { return std::getenv(name); }));
  ASSIGN_OR_RETURN(const Task task, ReadTask(job.size));
  if (task.on_gpu) RETURN_IF_ERROR(GpuRank::Prepare(job.local_rank, task.transport));
  const absl::StatusOr<std::unique_ptr<Communicator>> communicator =
      Rendezvous(job, absl::GetFlag(FLAGS_timeout));
  absl::Status status = communicator.status();
  if (status.ok()) {
    const absl::StatusOr<bool> right = ConnectAndRun(task, job, communicator->get());
    if (right.ok()) return *right ? kExitOk : kExitWrongResult;
    status = right.status();
  }
  if (status.code() == absl::StatusCode::kInvalidArgument) return status;
  std::cerr << absl::StrCat("rank ", job.rank, " ends: ", status.message(), "\n") << std::flush;
  if (task.on_gpu) std::_Exit(kExitLost);  // Without what CUDA and NCCL do at the end of a program.
  return kExitLost;
}

}  // namespace
}  // namespace stridewise

int main(int argc, char** argv) {
  return stridewise::ProgramMain(argc, argv, stridewise::kUsage, stridewise::RunProgram);
}
