// How long calls of the library keep the host: the time until MatMul() and Transpose() return,
// beside cublasSgemm(), cublasSgeam() and the launch of a kernel that does nothing.
//
//   bazel run //benchmarks:call_time
//   bazel run //benchmarks:call_time -- --csv=call_time.csv
//
// Each call is timed alone, with the stream idle (the device has done everything before it) and
// with its queue filled (the device is held, and calls queue behind each other).

#include <cublas_v2.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/harness/record_file.h"
#include "common/base/clock.h"
#include "common/base/flag_parsing.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"
#include "common/base/table.h"
#include "common/gpu/buffer.h"
#include "common/gpu/cublas_handle.h"
#include "common/gpu/cublas_status.h"
#include "common/gpu/device.h"
#include "common/gpu/device_ops.h"
#include "common/gpu/gpu_runtime.h"
#include "common/measure/git_commit.h"
#include "common/measure/statistics.h"
#include "matmul/context.h"
#include "matmul/matmul.h"
#include "transpose/transpose.h"

ABSL_FLAG(std::string, csv, "",
          "Also write the table to this file, or to standard output for -. One that is there is "
          "kept as .bak.");
ABSL_FLAG(int, rounds, 10,
          "Each call is timed 100 times a round with either queue; the calls take turns. 1 to "
          "1000.");

namespace stridewise {
namespace {

constexpr char kUsage[] =
    "call_time: the host's time for a call of the library, of cuBLAS and for the launch of an "
    "empty kernel.";

constexpr int kCallsOfRound = 100;  // Fewer than a stream's queue holds, with three kernels each.

constexpr struct {
  int64_t m, n, k;
  bool transpose_b;
  int64_t batch;
} kProducts[] = {
    {8, 8, 8, false, 1},          {100, 100, 100, false, 1},   {256, 256, 256, false, 1},
    {512, 512, 512, false, 1},    {704, 704, 704, false, 1},   {1000, 1000, 1000, false, 1},
    {1, 4096, 4096, false, 1},    {16, 4096, 4096, true, 1},   {256, 256, 8192, false, 1},
    {2048, 2048, 2048, false, 1}, {2049, 2049, 2049, true, 1}, {64, 64, 64, false, 100},
};

constexpr struct {
  int64_t rows, cols;
  bool in_place;
  int64_t batch;
} kTransposes[] = {
    {32, 32, false, 1},    {1000, 1000, false, 1}, {2048, 2048, false, 1}, {2047, 2049, false, 1},
    {7, 100000, false, 1}, {100000, 7, false, 1},  {64, 64, false, 100},   {1024, 1024, true, 1},
};

using Call = std::function<absl::Status(cudaStream_t)>;

// A call, and the host's microseconds for it.
struct Subject {
  std::string call;
  std::string shape;
  Call run;
  std::vector<double> idle;
  std::vector<double> filled;
};

// Holds a stream while calls queue behind it.
class Hold {
 public:
  static absl::StatusOr<Hold> Create() {
    Hold hold;
    ASSIGN_OR_RETURN(hold.flags_, HostBuffer::Allocate(sizeof(HoldFlags), HostMemory::kPinned));
    *hold.flags_.As<HoldFlags>() = HoldFlags();
    return hold;
  }
  absl::Status Begin(cudaStream_t stream) {
    constexpr uint64_t kTimeoutNs = 250'000'000;
    return HoldStream(flags_.As<HoldFlags>(), ++ticket_, kTimeoutNs, stream);
  }
  void End() { flags_.As<HoldFlags>()->released = ticket_; }

 private:
  HostBuffer flags_;
  uint64_t ticket_ = 0;
};

// What calls work on. The values do not matter: memory of zeros.
struct Memory {
  DeviceBuffer a, b, c, workspace;
  CublasHandle cublas;
  std::optional<MatMulContext> context;
};

absl::StatusOr<DeviceBuffer> Zeros(size_t bytes) {
  ASSIGN_OR_RETURN(DeviceBuffer buffer, DeviceBuffer::Allocate(bytes));
  RETURN_IF_ERROR(gpu::FillBytes(buffer.data(), 0, bytes, nullptr));
  return buffer;
}

void AddProducts(Memory& memory, std::vector<Subject>* subjects) {
  for (const auto& p : kProducts) {
    std::string shape = absl::StrCat(p.m, "x", p.n, "x", p.k, p.transpose_b ? " nt" : "");
    if (p.batch > 1) absl::StrAppend(&shape, " batch ", p.batch);
    MatMulProblem problem;
    problem.m = p.m;
    problem.n = p.n;
    problem.k = p.k;
    problem.a = {memory.a.As<float>(), p.k};
    problem.b = {memory.b.As<float>(), p.transpose_b ? p.k : p.n};
    problem.c = {memory.c.As<float>(), p.n};
    problem.b.transposed = p.transpose_b;
    problem.batch = p.batch;
    problem.a.stride = p.m * p.k;
    problem.b.stride = p.k * p.n;
    problem.c.stride = p.m * p.n;
    subjects->push_back({"MatMul",
                         shape,
                         [problem](cudaStream_t stream) { return MatMul(problem, stream); },
                         {},
                         {}});
    subjects->push_back(
        {"MatMul with context",
         shape,
         [problem, context = &*memory.context](cudaStream_t) { return MatMul(*context, problem); },
         {},
         {}});
    problem.workspace = memory.workspace.data();
    problem.workspace_bytes = static_cast<int64_t>(memory.workspace.bytes());
    subjects->push_back({"MatMul with workspace",
                         shape,
                         [problem](cudaStream_t stream) { return MatMul(problem, stream); },
                         {},
                         {}});
    subjects->push_back({"cublasSgemm",
                         shape,
                         [p, problem, handle = memory.cublas.get()](cudaStream_t) {
                           const float one = 1;
                           const float zero = 0;
                           const auto* a = static_cast<const float*>(problem.a.data);
                           const auto* b = static_cast<const float*>(problem.b.data);
                           auto* c = static_cast<float*>(problem.c.data);
                           const auto op_b = p.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
                           const auto m = static_cast<int>(p.m);
                           const auto n = static_cast<int>(p.n);
                           const auto k = static_cast<int>(p.k);
                           const int ldb = p.transpose_b ? k : n;
                           if (p.batch == 1) {
                             return CUBLAS_STATUS(cublasSgemm(handle, op_b, CUBLAS_OP_N, n, m, k,
                                                              &one, b, ldb, a, k, &zero, c, n));
                           }
                           return CUBLAS_STATUS(cublasSgemmStridedBatched(
                               handle, op_b, CUBLAS_OP_N, n, m, k, &one, b, ldb, problem.b.stride,
                               a, k, problem.a.stride, &zero, c, n, problem.c.stride,
                               static_cast<int>(p.batch)));
                         },
                         {},
                         {}});
  }
}

void AddTransposes(const Memory& memory, std::vector<Subject>* subjects) {
  for (const auto& t : kTransposes) {
    std::string shape = absl::StrCat(t.rows, "x", t.cols, t.in_place ? " in place" : "");
    if (t.batch > 1) absl::StrAppend(&shape, " batch ", t.batch);
    void* const out = t.in_place ? memory.a.data() : memory.c.data();
    const MatrixView in = {memory.a.data(), t.rows,  t.cols,         t.cols,
                           sizeof(float),   t.batch, t.rows * t.cols};
    const MutableMatrixView to = {out,           t.cols,  t.rows,         t.rows,
                                  sizeof(float), t.batch, t.rows * t.cols};
    subjects->push_back({"Transpose",
                         shape,
                         [in, to](cudaStream_t stream) { return Transpose(in, to, stream); },
                         {},
                         {}});
    if (t.batch > 1 || t.in_place) continue;  // Which cublasSgeam() does not take.
    subjects->push_back({"cublasSgeam",
                         shape,
                         [t, in, to, handle = memory.cublas.get()](cudaStream_t) {
                           const float one = 1;
                           const float zero = 0;
                           const auto rows = static_cast<int>(t.rows);
                           const auto cols = static_cast<int>(t.cols);
                           auto* c = static_cast<float*>(to.data);
                           return CUBLAS_STATUS(cublasSgeam(
                               handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, cols, &one,
                               static_cast<const float*>(in.data), cols, &zero, c, rows, c, rows));
                         },
                         {},
                         {}});
  }
}

absl::Status TimeCall(const Call& call, cudaStream_t stream, std::vector<double>* times) {
  const SteadyClock clock;
  const double start = clock.Now();
  const absl::Status status = call(stream);
  times->push_back(1e6 * (clock.Now() - start));
  return status;
}

absl::Status TimeRound(cudaStream_t stream, Hold* hold, Subject* subject) {
  RETURN_IF_ERROR(subject->run(stream));
  for (int i = 0; i < kCallsOfRound; ++i) {
    RETURN_IF_ERROR(gpu::Synchronize(stream));
    RETURN_IF_ERROR(TimeCall(subject->run, stream, &subject->idle));
  }
  RETURN_IF_ERROR(gpu::Synchronize(stream));
  RETURN_IF_ERROR(hold->Begin(stream));
  absl::Status status;
  for (int i = 0; i < kCallsOfRound && status.ok(); ++i) {
    status = TimeCall(subject->run, stream, &subject->filled);
  }
  hold->End();
  RETURN_IF_ERROR(status);
  return gpu::Synchronize(stream);
}

absl::Status Report(const DeviceInfo& device, const std::vector<Subject>& subjects,
                    std::optional<RecordFile> file, std::ostream* out) {
  Table table({{"call", 21, false},
               {"shape", 18, false},
               {"queue", 6, false},
               {"median us", 9, true},
               {"95 % us", 8, true},
               {"least us", 8, true}},
              out);
  table.PrintHeader();
  for (const Subject& subject : subjects) {
    for (const bool filled : {false, true}) {
      const Summary summary = Summarize(filled ? subject.filled : subject.idle);
      const char* queue = filled ? "filled" : "idle";
      table.PrintRow({subject.call, subject.shape, queue, absl::StrFormat("%.2f", summary.median),
                      absl::StrFormat("%.2f", summary.p95), absl::StrFormat("%.2f", summary.min)});
      if (!file.has_value()) continue;
      RETURN_IF_ERROR(file->Write(
          {std::string(GitCommit()), device.name, subject.call, subject.shape, queue,
           absl::StrCat(summary.samples), absl::StrFormat("%.3f", summary.median),
           absl::StrFormat("%.3f", summary.p95), absl::StrFormat("%.3f", summary.min)}));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<int> RunProgram() {
  const int rounds = absl::GetFlag(FLAGS_rounds);
  RETURN_IF_ERROR(CheckRange("--rounds", rounds, 1, 1000));
  ASSIGN_OR_RETURN(const DeviceInfo device, OpenDevice(0));
  const std::string path = ResolvePath(absl::GetFlag(FLAGS_csv));
  std::optional<RecordFile> file;
  if (!path.empty()) {
    ASSIGN_OR_RETURN(file, RecordFile::Create(path,
                                              {"git_commit", "device", "call", "shape", "queue",
                                               "samples", "median_us", "p95_us", "min_us"},
                                              CsvMode::kReplace));
  }
  Memory memory;
  constexpr size_t kBytes = size_t{64} << 20;
  for (DeviceBuffer* buffer : {&memory.a, &memory.b, &memory.c, &memory.workspace}) {
    ASSIGN_OR_RETURN(*buffer, Zeros(kBytes));
  }
  ASSIGN_OR_RETURN(const cudaStream_t stream, gpu::CreateStream());
  ASSIGN_OR_RETURN(memory.cublas, CublasHandle::Create());
  ASSIGN_OR_RETURN(memory.context, MatMulContext::Create(stream));
  RETURN_IF_ERROR(CUBLAS_STATUS(cublasSetStream(memory.cublas.get(), stream)));
  RETURN_IF_ERROR(gpu::Synchronize(nullptr));
  ASSIGN_OR_RETURN(Hold hold, Hold::Create());

  std::vector<Subject> subjects;
  subjects.push_back({"empty kernel", "", LaunchEmptyKernel, {}, {}});
  AddProducts(memory, &subjects);
  AddTransposes(memory, &subjects);
  CatchInterrupts();
  for (int round = 0; round < rounds && !Interrupted(); ++round) {
    for (Subject& subject : subjects) RETURN_IF_ERROR(TimeRound(stream, &hold, &subject));
  }
  RETURN_IF_ERROR(Report(device, subjects, std::move(file), path == "-" ? &std::cerr : &std::cout));
  memory.context.reset();  // Which uses the stream.
  RETURN_IF_ERROR(gpu::DestroyStream(stream));
  return Interrupted() ? kExitInterrupted : kExitOk;
}

}  // namespace
}  // namespace stridewise

int main(int argc, char** argv) {
  return stridewise::ProgramMain(argc, argv, stridewise::kUsage, stridewise::RunProgram);
}
