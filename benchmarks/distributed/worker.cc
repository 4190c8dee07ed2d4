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

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/types/span.h"
#include "benchmarks/distributed/gpu_ranks.h"
#include "benchmarks/distributed/parts.h"
#include "benchmarks/distributed/worker_task.h"
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

namespace stridewise {
namespace {

constexpr char kUsage[] =
    "worker: one rank of a distributed product or transpose. RANK, WORLD_SIZE,\n"
    "MASTER_ADDR, MASTER_PORT and STRIDEWISE_JOB_TOKEN, or mpirun's variables, say of which job.\n"
    "Exit codes: 0, 1 wrong result, 2 bad input, 3 a rank is lost or memory is short.\n";

constexpr int kExitLost = 3;

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
absl::Status Multiply(const WorkerTask& task, const std::vector<int64_t>& shape, double* seconds,
                      const Ranks& ranks) {
  Communicator* const communicator = ranks.communicator;
  const int rank = communicator->rank();
  const uint64_t seed = task.seed;
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
  problem.alpha = task.alpha;
  problem.beta = task.beta;
  ASSIGN_OR_RETURN(*seconds, RunProduct(problem, ranks));
  ASSIGN_OR_RETURN(const Part<T> before, MakePart<T>(problem.c_layout, rank, seed + 2));
  return VerifyProduct(problem, ConstMatrix<T>(before.view), seed + 3, communicator);
}

// Transposes and compares each element. Sets `seconds` to the transpose's.
template <typename T>
absl::Status TransposeParts(const WorkerTask& task, const std::vector<int64_t>& shape,
                            double* seconds, const Ranks& ranks) {
  Communicator* const communicator = ranks.communicator;
  const int rank = communicator->rank();
  const uint64_t seed = task.seed;
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
absl::StatusOr<bool> RunTask(const WorkerTask& task, const Ranks& ranks) {
  bool all_right = true;
  for (int64_t repetition = 0; repetition < task.repeat; ++repetition) {
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
absl::StatusOr<bool> ConnectAndRun(const WorkerTask& task, const JobEnvironment& job,
                                   Communicator* communicator) {
  if (!task.on_gpu) return RunTask(task, {communicator, nullptr});
  ASSIGN_OR_RETURN(GpuRank connected,
                   GpuRank::Connect(job.local_rank, task.transport, communicator, task.seconds));
  auto gpu = std::make_unique<GpuRank>(std::move(connected));
  absl::StatusOr<bool> right = RunTask(task, {communicator, gpu.get()});
  // To end it could mean to wait for a rank that answers no more: the process ends instead.
  if (!right.ok()) (void)gpu.release();
  return right;
}

absl::StatusOr<int> RunProgram() {
  ASSIGN_OR_RETURN(const JobEnvironment job,
                   ReadJobEnvironment([](const char* name) { return std::getenv(name); }));
  ASSIGN_OR_RETURN(const WorkerTask task, ReadWorkerTask(job.size));
  if (task.on_gpu) RETURN_IF_ERROR(GpuRank::Prepare(job.local_rank, task.transport));
  const absl::StatusOr<std::unique_ptr<Communicator>> communicator = Rendezvous(job, task.seconds);
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
