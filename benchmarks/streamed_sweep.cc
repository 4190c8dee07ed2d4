// Products and transposes of matrices in host memory, larger than a GPU's if they need be, beside
// what bounds them: the rate of a product in a GPU's memory, cublasXt, and the link.
//
//   bazel run //benchmarks:streamed_sweep -- --shapes=32768x32768x32768 --device_bytes=4e9
//   bazel run //benchmarks:streamed_sweep -- --operation=transpose --shapes=65536x65536

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/harness/record_file.h"
#include "benchmarks/streamed/host_matrices.h"
#include "benchmarks/streamed/operands.h"
#include "benchmarks/streamed/settings.h"
#include "benchmarks/streamed/subjects.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"
#include "common/base/sweep_args.h"
#include "common/base/table.h"
#include "common/gpu/device.h"
#include "common/measure/git_commit.h"
#include "common/measure/statistics.h"
#include "matmul/registry.h"

namespace stridewise {
namespace {

constexpr char kUsage[] =
    "streamed_sweep: products and transposes of matrices in host memory, beside what bounds them.";

// Seconds after which the clock of a GPU that computes moves no more.
constexpr double kLongestRepeat = 10;

// Adds a subject; one that does not fit is left out, in a line.
absl::Status Add(absl::StatusOr<Subject> made, std::vector<Subject>* subjects) {
  if (absl::IsResourceExhausted(made.status())) {
    std::cerr << "left out: " << made.status().message() << "\n";
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(made.status());
  subjects->push_back(*std::move(made));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Subject>> MakeSubjects(const StreamedSettings& settings,
                                                  StreamedOperands* operands) {
  std::vector<Subject> subjects;
  if (settings.is_product) {
    MatMulProblem problem = operands->Product();
    problem.precision = settings.precision;
    // Made first, since plans depend on what is free, and timed behind the streamed calls.
    std::vector<Subject> compared;
    if (settings.in_memory > 0) {
      RETURN_IF_ERROR(Add(
          InMemoryProductSubject(settings.in_memory, settings.precision, settings.options.devices),
          &compared));
    }
    for (const StreamCheckpoint& tile : settings.tiles) {
      RETURN_IF_ERROR(Add(StreamedProductSubject(problem, settings.options, tile), &subjects));
    }
    for (const int64_t block : settings.blocks) {
      RETURN_IF_ERROR(Add(CublasXtSubject(problem, settings.options.devices, block), &subjects));
    }
    std::move(compared.begin(), compared.end(), std::back_inserter(subjects));
    return subjects;
  }
  const MatrixView in = operands->In();
  const MutableMatrixView out = operands->Out();
  RETURN_IF_ERROR(Add(OneAfterTheOtherSubject(in, out), &subjects));
  RETURN_IF_ERROR(Add(BothWaysSubject(in, out, settings.options.devices), &subjects));
  for (const StreamCheckpoint& tile : settings.tiles) {
    RETURN_IF_ERROR(Add(StreamedTransposeSubject(in, out, settings.options, tile), &subjects));
  }
  return subjects;
}

// Operations of a product, bytes of a transpose in one direction.
double Work(const StreamedSettings& settings, const std::vector<int64_t>& shape) {
  double work = settings.is_product ? 2 : sizeof(float);
  for (const int64_t extent : shape) work *= static_cast<double>(extent);
  return work;
}

const std::vector<std::string>& CsvHeader() {
  static const auto& header = *new std::vector<std::string>{
      "git_commit", "device",        "devices",  "operation",   "implementation", "rows",
      "cols",       "depth",         "dtype",    "host_memory", "device_bytes",   "tile",
      "samples",    "ms_median",     "ms_min",   "ms_max",      "predicted_ms",   "gflops",
      "gbps",       "streamed_over", "precision"};
  return header;
}

// cublasXt knows no other precision.
std::string PrecisionOf(const StreamedSettings& settings, const Subject& subject) {
  if (!settings.is_product) return "";
  return PrecisionName(absl::StartsWith(subject.name, "cublasxt") ? MatMulPrecision::kFp32
                                                                  : settings.precision);
}

// Prints and writes the rows of a shape. streamed_over is the rate of the fastest streamed call
// over the row's.
absl::Status Report(const StreamedSettings& settings, const DeviceInfo& device,
                    const std::vector<int64_t>& shape, const std::vector<Subject>& subjects,
                    Table* table, RecordFile* file) {
  double streamed_rate = 0;
  const auto rate = [&](const Subject& subject) {
    return Work(settings, subject.extents.empty() ? shape : subject.extents) /
           Median(subject.seconds);
  };
  for (const Subject& subject : subjects) {
    if (subject.name == "streamed") streamed_rate = std::max(streamed_rate, rate(subject));
  }
  for (const Subject& subject : subjects) {
    const std::vector<int64_t>& extents = subject.extents.empty() ? shape : subject.extents;
    const Summary times = Summarize(subject.seconds);
    const std::string giga = absl::StrFormat("%.1f", rate(subject) / 1e9);
    const std::string over = absl::StrFormat("%.3f", streamed_rate / rate(subject));
    const auto ms = [](double seconds) { return absl::StrFormat("%.3f", 1e3 * seconds); };
    const std::string predicted =
        subject.predicted_ms > 0 ? absl::StrFormat("%.3f", subject.predicted_ms) : "";
    const double max = *std::max_element(subject.seconds.begin(), subject.seconds.end());
    table->PrintRow(
        {subject.name, ShapeText(extents), subject.tile, ms(times.median), predicted, giga, over});
    if (file == nullptr) continue;
    RETURN_IF_ERROR(file->Write({std::string(GitCommit()),
                                 device.name,
                                 settings.devices_text,
                                 settings.is_product ? "matmul" : "transpose",
                                 subject.name,
                                 absl::StrCat(extents[0]),
                                 absl::StrCat(extents[1]),
                                 settings.is_product ? absl::StrCat(extents[2]) : "",
                                 "float",
                                 settings.memory_text,
                                 absl::StrCat(settings.options.device_bytes),
                                 subject.tile,
                                 absl::StrCat(times.samples),
                                 ms(times.median),
                                 ms(times.min),
                                 ms(max),
                                 predicted,
                                 settings.is_product ? giga : "",
                                 settings.is_product ? "" : giga,
                                 over,
                                 PrecisionOf(settings, subject)}));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Subject>> MeasureShape(const StreamedSettings& settings,
                                                  const std::vector<int64_t>& shape) {
  ASSIGN_OR_RETURN(StreamedOperands operands, MakeStreamedOperands(settings, shape));
  ASSIGN_OR_RETURN(std::vector<Subject> subjects, MakeSubjects(settings, &operands));
  const SteadyClock clock;
  double streamed_seconds = 0;
  for (int round = 0; round < settings.rounds && !Interrupted(); ++round) {
    for (Subject& subject : subjects) {
      const bool judged = round == 0 && subject.name == "streamed";
      if (judged) RETURN_IF_ERROR(PoisonThroughDevice(&operands.output));
      const double begin = clock.Now();
      int runs = 0;
      do {
        RETURN_IF_ERROR(subject.run());
        ++runs;
      } while (subject.is_repeated &&
               clock.Now() - begin < std::min(streamed_seconds, kLongestRepeat));
      subject.seconds.push_back((clock.Now() - begin) / runs);
      if (subject.name == "streamed") streamed_seconds = subject.seconds.back();
      if (!judged || settings.verify == VerifyMode::kOff) continue;
      RETURN_IF_ERROR(VerifyStreamed(settings, operands));
    }
  }
  if (Interrupted()) subjects.clear();
  return subjects;
}

absl::StatusOr<int> RunProgram() {
  ASSIGN_OR_RETURN(const StreamedSettings settings, ReadStreamedFlags());
  ASSIGN_OR_RETURN(const DeviceInfo device, OpenDevice(settings.options.devices[0]));
  std::optional<RecordFile> file;
  if (!settings.csv.empty()) {
    ASSIGN_OR_RETURN(file, RecordFile::Create(settings.csv, CsvHeader(), CsvMode::kReplace));
  }
  std::ostream* const out = settings.csv == "-" ? &std::cerr : &std::cout;
  Table table({{"implementation", 20, false},
               {"shape", 20, false},
               {"tile", 18, false},
               {"median ms", 10, true},
               {"predicted", 10, true},
               {settings.is_product ? "GFLOP/s" : "GB/s", 9, true},
               {"streamed over", 13, true}},
              out);
  table.PrintHeader();
  CatchInterrupts();
  for (const std::vector<int64_t>& shape : settings.shapes) {
    absl::StatusOr<std::vector<Subject>> subjects = MeasureShape(settings, shape);
    if (absl::IsDataLoss(subjects.status())) {
      std::cerr << ShapeText(shape) << ": " << subjects.status().message() << "\n";
      return kExitWrongResult;
    }
    RETURN_IF_ERROR(subjects.status());
    if (Interrupted()) return kExitInterrupted;
    RETURN_IF_ERROR(
        Report(settings, device, shape, *subjects, &table, file.has_value() ? &*file : nullptr));
  }
  return kExitOk;
}

}  // namespace
}  // namespace stridewise

int main(int argc, char** argv) {
  return stridewise::ProgramMain(argc, argv, stridewise::kUsage, stridewise::RunProgram);
}
