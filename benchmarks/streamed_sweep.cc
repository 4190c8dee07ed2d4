// Products and transposes of matrices in host memory, larger than a GPU's if they need be, beside
// what bounds them: the rate of a product in a GPU's memory, cublasXt, and the link.
//
//   bazel run //benchmarks:streamed_sweep -- --shapes=32768x32768x32768 --device_bytes=4e9
//   bazel run //benchmarks:streamed_sweep -- --operation=transpose --shapes=65536x65536

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/harness/record_file.h"
#include "benchmarks/streamed/host_matrices.h"
#include "benchmarks/streamed/subjects.h"
#include "common/base/clock.h"
#include "common/base/flag_parsing.h"
#include "common/base/mapped_file.h"
#include "common/base/status_macros.h"
#include "common/base/sweep_args.h"
#include "common/base/table.h"
#include "common/gpu/device.h"
#include "common/gpu/gpu_runtime.h"
#include "common/measure/git_commit.h"
#include "common/measure/statistics.h"
#include "common/verify/freivalds.h"
#include "common/verify/validation.h"

ABSL_FLAG(std::string, operation, "matmul", "matmul or transpose");
ABSL_FLAG(std::string, shapes, "16384x16384x16384",
          "Comma list of MxNxK, or of ROWSxCOLS of transposes; elements are floats.");
ABSL_FLAG(std::string, devices, "0", "Comma list of the GPUs that a streamed call uses.");
ABSL_FLAG(double, device_bytes, 0, "The most that it allocates on each; 0: 90 % of what is free.");
ABSL_FLAG(
    std::string, tiles, "",
    "Comma list of ROWSxCOLS, of C or of what is transposed: a streamed call with each of these "
    "tiles; empty: one with its own choice.");
ABSL_FLAG(std::string, memory, "pinned",
          "Of the host: pinned, pageable, or file for files that are mapped into it.");
ABSL_FLAG(std::string, directory, "",
          "With --memory=file: where the files are made. They have no names and end with the "
          "program.");
ABSL_FLAG(std::string, cublasxt_blocks, "2048",
          "Comma list of the blocks that cublasXt is timed with; empty: not timed.");
ABSL_FLAG(int64_t, in_memory, 16384,
          "The side of the product in each GPU's memory that products are compared with, which is "
          "repeated for as long as they take; 0: none.");
ABSL_FLAG(int, rounds, 3, "How often all are timed, in turn. 1 to 1000.");
ABSL_FLAG(std::string, verify, "fast", "fast, full or off");
ABSL_FLAG(std::string, csv, "",
          "Also write the table to this file, or to standard output for -. One that is there is "
          "kept as .bak.");

namespace stridewise {
namespace {

constexpr char kUsage[] =
    "streamed_sweep: products and transposes of matrices in host memory, beside what bounds them.";

struct Settings {
  bool is_product = true;
  std::vector<std::vector<int64_t>> shapes;
  StreamOptions options;
  std::vector<StreamCheckpoint> tiles = {{}};  // One for each streamed call.
  HostMemory memory = HostMemory::kPinned;
  std::string directory;  // Of mapped files; empty for operands in memory.
  std::vector<int64_t> blocks;
  VerifyMode verify = VerifyMode::kFast;
};

absl::Status Refuse(const std::string& flag, const std::string& value, const std::string& allowed) {
  return absl::InvalidArgumentError(
      absl::StrCat(flag, ": \"", value, "\" is not allowed; allowed is ", allowed));
}

// Returns --directory, where files can be made; empty where none are wanted.
absl::StatusOr<std::string> ReadDirectory(bool is_wanted) {
  const std::string given = absl::GetFlag(FLAGS_directory);
  if (!is_wanted) {
    if (given.empty()) return given;
    return Refuse("--directory", given, "none without --memory=file");
  }
  if (given.empty()) return Refuse("--directory", given, "a writable one with --memory=file");
  const std::string path = ResolvePath(given);
  const absl::Status status = MappedFile::CreateUnnamed(path, 1).status();
  if (status.ok()) return path;
  return Refuse("--directory", given, absl::StrCat("a writable one (", status.message(), ")"));
}

absl::StatusOr<Settings> ReadFlags() {
  Settings settings;
  const std::string operation = absl::GetFlag(FLAGS_operation);
  if (operation != "matmul" && operation != "transpose") {
    return Refuse("--operation", operation, "matmul or transpose");
  }
  settings.is_product = operation == "matmul";
  ASSIGN_OR_RETURN(settings.shapes, ParseExtents("--shapes", absl::GetFlag(FLAGS_shapes),
                                                 settings.is_product ? 3 : 2));
  const std::string devices = absl::GetFlag(FLAGS_devices);
  for (const auto device : absl::StrSplit(devices, ',')) {
    int number = 0;
    if (!absl::SimpleAtoi(device, &number))
      return Refuse("--devices", devices, "a list of numbers");
    settings.options.devices.push_back(number);
  }
  const double bytes = absl::GetFlag(FLAGS_device_bytes);
  if (!(bytes >= 0 && bytes < 1e15)) {
    return Refuse("--device_bytes", absl::StrCat(bytes), "0 to 1e15");
  }
  settings.options.device_bytes = static_cast<int64_t>(bytes);
  const std::string tiles = absl::GetFlag(FLAGS_tiles);
  if (!tiles.empty()) {
    settings.tiles.clear();
    ASSIGN_OR_RETURN(const auto shapes, ParseExtents("--tiles", tiles, 2));
    for (const std::vector<int64_t>& tile : shapes) {
      if (tile[0] < 1 || tile[1] < 1) return Refuse("--tiles", tiles, "extents of 1 and more");
      settings.tiles.push_back({tile[0], tile[1], {}});
    }
  }
  const std::string memory = absl::GetFlag(FLAGS_memory);
  if (memory != "pinned" && memory != "pageable" && memory != "file") {
    return Refuse("--memory", memory, "pinned, pageable or file");
  }
  ASSIGN_OR_RETURN(settings.directory, ReadDirectory(memory == "file"));
  settings.memory = memory == "pinned" ? HostMemory::kPinned : HostMemory::kPageable;
  const std::string blocks = absl::GetFlag(FLAGS_cublasxt_blocks);
  if (!blocks.empty()) {
    ASSIGN_OR_RETURN(settings.blocks, ParseSizes("--cublasxt_blocks", blocks));
  }
  ASSIGN_OR_RETURN(settings.verify, ParseVerifyMode("--verify", absl::GetFlag(FLAGS_verify)));
  const int64_t in_memory = absl::GetFlag(FLAGS_in_memory);
  if (in_memory < 0 || in_memory > kMaxSize) {
    return Refuse("--in_memory", absl::StrCat(in_memory), absl::StrCat("0 to ", kMaxSize));
  }
  const int rounds = absl::GetFlag(FLAGS_rounds);
  if (rounds < 1 || rounds > 1000) return Refuse("--rounds", absl::StrCat(rounds), "1 to 1000");
  return settings;
}

// The host's matrices of a shape: A, B and C, or in and out.
struct Operands {
  std::vector<HostMatrix> inputs;
  HostMatrix output;

  MatMulProblem Product() {
    MatMulProblem problem;
    problem.m = output.view.rows;
    problem.n = output.view.cols;
    problem.k = inputs[0].view.cols;
    problem.a = {inputs[0].view.data, inputs[0].view.ld};
    problem.b = {inputs[1].view.data, inputs[1].view.ld};
    problem.c = {output.view.data, output.view.ld};
    return problem;
  }
  MatrixView In() const {
    const Matrix<float>& in = inputs[0].view;
    return {in.data, in.rows, in.cols, in.ld, sizeof(float)};
  }
  MutableMatrixView Out() const {
    const Matrix<float>& out = output.view;
    return {out.data, out.rows, out.cols, out.ld, sizeof(float)};
  }
};

absl::StatusOr<HostMatrix> MakeMatrix(const Settings& settings, int64_t rows, int64_t cols) {
  return settings.directory.empty() ? AllocateHostMatrix(rows, cols, settings.memory)
                                    : CreateMappedMatrix(rows, cols, settings.directory);
}

absl::StatusOr<Operands> MakeOperands(const Settings& settings, const std::vector<int64_t>& shape) {
  Operands operands;
  const auto add_input = [&](int64_t rows, int64_t cols) -> absl::Status {
    ASSIGN_OR_RETURN(HostMatrix matrix, MakeMatrix(settings, rows, cols));
    RETURN_IF_ERROR(FillUniformThroughDevice(operands.inputs.size(), &matrix));
    operands.inputs.push_back(std::move(matrix));
    return absl::OkStatus();
  };
  if (settings.is_product) {
    RETURN_IF_ERROR(add_input(shape[0], shape[2]));
    RETURN_IF_ERROR(add_input(shape[2], shape[1]));
  } else {
    RETURN_IF_ERROR(add_input(shape[0], shape[1]));
  }
  ASSIGN_OR_RETURN(operands.output, MakeMatrix(settings, settings.is_product ? shape[0] : shape[1],
                                               settings.is_product ? shape[1] : shape[0]));
  return operands;
}

absl::Status Verify(const Settings& settings, Operands* operands) {
  const bool all = settings.verify == VerifyMode::kFull;
  const auto view = [](const HostMatrix& matrix) { return ConstMatrix<float>(matrix.view); };
  const ConstMatrix<float> out = view(operands->output);
  if (!settings.is_product) return CheckTransposed(view(operands->inputs[0]), out, all);
  const ConstMatrix<float> a = view(operands->inputs[0]);
  const ConstMatrix<float> b = view(operands->inputs[1]);
  if (all)
    return CheckProduct(CheckProductFast<float, float>(a, b, out, 1), a.cols, AccuracyOf<float>());
  const ProductError error = SampledEntries<float, float>(a, b, out, 1);
  if (error.max_error_over_bound <= 1) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat("C(", error.worst_row, ", ", error.worst_col,
                                          ") is off by ", error.max_error_over_bound,
                                          " times its bound"));
}

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

absl::StatusOr<std::vector<Subject>> MakeSubjects(const Settings& settings, Operands* operands) {
  std::vector<Subject> subjects;
  const int64_t in_memory = absl::GetFlag(FLAGS_in_memory);
  if (settings.is_product) {
    const MatMulProblem problem = operands->Product();
    // Made first, since plans depend on what is free, and timed behind the streamed calls.
    std::vector<Subject> compared;
    if (in_memory > 0) {
      RETURN_IF_ERROR(Add(InMemoryProductSubject(in_memory, settings.options.devices), &compared));
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
double Work(const Settings& settings, const std::vector<int64_t>& shape) {
  double work = settings.is_product ? 2 : sizeof(float);
  for (const int64_t extent : shape) work *= static_cast<double>(extent);
  return work;
}

const std::vector<std::string>& CsvHeader() {
  static const auto& header = *new std::vector<std::string>{
      "git_commit",   "device",       "devices", "operation", "implementation",
      "rows",         "cols",         "depth",   "dtype",     "host_memory",
      "device_bytes", "tile",         "samples", "ms_median", "ms_min",
      "ms_max",       "predicted_ms", "gflops",  "gbps",      "streamed_over"};
  return header;
}

// Prints and writes the rows of a shape. streamed_over is the rate of the fastest streamed call
// over the row's.
absl::Status Report(const Settings& settings, const DeviceInfo& device,
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
                                 absl::GetFlag(FLAGS_devices),
                                 settings.is_product ? "matmul" : "transpose",
                                 subject.name,
                                 absl::StrCat(extents[0]),
                                 absl::StrCat(extents[1]),
                                 settings.is_product ? absl::StrCat(extents[2]) : "",
                                 "float",
                                 absl::GetFlag(FLAGS_memory),
                                 absl::StrCat(settings.options.device_bytes),
                                 subject.tile,
                                 absl::StrCat(times.samples),
                                 ms(times.median),
                                 ms(times.min),
                                 ms(max),
                                 predicted,
                                 settings.is_product ? giga : "",
                                 settings.is_product ? "" : giga,
                                 over}));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Subject>> MeasureShape(const Settings& settings,
                                                  const std::vector<int64_t>& shape) {
  ASSIGN_OR_RETURN(Operands operands, MakeOperands(settings, shape));
  ASSIGN_OR_RETURN(std::vector<Subject> subjects, MakeSubjects(settings, &operands));
  const SteadyClock clock;
  double streamed_seconds = 0;
  for (int round = 0; round < absl::GetFlag(FLAGS_rounds) && !Interrupted(); ++round) {
    for (Subject& subject : subjects) {
      const bool judged = round == 0 && subject.name == "streamed";
      if (judged) RETURN_IF_ERROR(PoisonThroughDevice(&operands.output));
      const double begin = clock.Now();
      int runs = 0;
      do {
        RETURN_IF_ERROR(subject.run());
        ++runs;
      } while (subject.is_repeated && clock.Now() - begin < streamed_seconds);
      subject.seconds.push_back((clock.Now() - begin) / runs);
      if (subject.name == "streamed") streamed_seconds = subject.seconds.back();
      if (!judged || settings.verify == VerifyMode::kOff) continue;
      RETURN_IF_ERROR(Verify(settings, &operands));
    }
  }
  if (Interrupted()) subjects.clear();
  return subjects;
}

absl::StatusOr<int> RunProgram() {
  ASSIGN_OR_RETURN(const Settings settings, ReadFlags());
  ASSIGN_OR_RETURN(const DeviceInfo device, OpenDevice(settings.options.devices[0]));
  const std::string path = ResolvePath(absl::GetFlag(FLAGS_csv));
  std::optional<RecordFile> file;
  if (!path.empty()) {
    ASSIGN_OR_RETURN(file, RecordFile::Create(path, CsvHeader(), CsvMode::kReplace));
  }
  std::ostream* const out = path == "-" ? &std::cerr : &std::cout;
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
