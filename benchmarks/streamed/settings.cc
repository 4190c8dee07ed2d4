#include "benchmarks/streamed/settings.h"

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "common/base/flag_parsing.h"
#include "common/base/mapped_file.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"
#include "common/base/sweep_args.h"
#include "matmul/registry.h"

ABSL_FLAG(std::string, operation, "matmul", "matmul or transpose");
ABSL_FLAG(std::string, shapes, "16384x16384x16384",
          "Comma list of MxNxK, or of ROWSxCOLS of transposes; elements are floats.");
ABSL_FLAG(std::string, precision, "fp32",
          "Of products but cublasXt's: fp32, fp32_split, tf32, fp32_split_int8, fp32_medium, bf16 "
          "or fp16.");
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
          "repeated for as long as they take, at most for 10 s; 0: none.");
ABSL_FLAG(int, rounds, 3, "How often all are timed, in turn. 1 to 1000.");
ABSL_FLAG(std::string, verify, "fast", "fast, full or off");
ABSL_FLAG(std::string, csv, "",
          "Also write the table to this file, or to standard output for -. One that is there is "
          "kept as .bak.");

namespace stridewise {
namespace {

// Returns --directory, where files can be made; empty where none are wanted.
absl::StatusOr<std::string> ReadDirectory(bool is_wanted) {
  const std::string given = absl::GetFlag(FLAGS_directory);
  if (!is_wanted) {
    if (given.empty()) return given;
    return RefuseValue("--directory", given, "none without --memory=file");
  }
  if (given.empty()) return RefuseValue("--directory", given, "a writable one with --memory=file");
  const std::string path = ResolvePath(given);
  const absl::Status status = MappedFile::CreateUnnamed(path, 1).status();
  if (status.ok()) return path;
  return RefuseValue("--directory", given, absl::StrCat("a writable one (", status.message(), ")"));
}

// Returns --precision, fp32 where there are no products.
absl::StatusOr<MatMulPrecision> ReadPrecision(bool is_product) {
  const std::string given = absl::GetFlag(FLAGS_precision);
  std::vector<std::string> allowed;
  for (const MatMulPrecision precision : kAllPrecisions) {
    if (!is_product && precision != MatMulPrecision::kFp32) continue;
    if (!IsPrecisionOf(precision, ElementType::kFloat)) continue;
    if (given == PrecisionName(precision)) return precision;
    allowed.emplace_back(PrecisionName(precision));
  }
  return RefuseValue("--precision", given, absl::StrJoin(allowed, ", "));
}

}  // namespace

absl::StatusOr<StreamedSettings> ReadStreamedFlags() {
  StreamedSettings settings;
  const std::string operation = absl::GetFlag(FLAGS_operation);
  if (operation != "matmul" && operation != "transpose") {
    return RefuseValue("--operation", operation, "matmul or transpose");
  }
  settings.is_product = operation == "matmul";
  ASSIGN_OR_RETURN(settings.shapes, ParseExtents("--shapes", absl::GetFlag(FLAGS_shapes),
                                                 settings.is_product ? 3 : 2));
  ASSIGN_OR_RETURN(settings.precision, ReadPrecision(settings.is_product));
  const std::string devices = absl::GetFlag(FLAGS_devices);
  settings.devices_text = devices;
  for (const auto device : absl::StrSplit(devices, ',')) {
    int number = 0;
    if (!absl::SimpleAtoi(device, &number))
      return RefuseValue("--devices", devices, "a list of numbers");
    settings.options.devices.push_back(number);
  }
  const double bytes = absl::GetFlag(FLAGS_device_bytes);
  RETURN_IF_ERROR(CheckRange("--device_bytes", bytes, 0, 1e15));
  settings.options.device_bytes = static_cast<int64_t>(bytes);
  const std::string tiles = absl::GetFlag(FLAGS_tiles);
  if (!tiles.empty()) {
    settings.tiles.clear();
    ASSIGN_OR_RETURN(const auto shapes, ParseExtents("--tiles", tiles, 2));
    for (const std::vector<int64_t>& tile : shapes) {
      if (tile[0] < 1 || tile[1] < 1) return RefuseValue("--tiles", tiles, "extents of 1 and more");
      settings.tiles.push_back({tile[0], tile[1], {}});
    }
  }
  const std::string memory = absl::GetFlag(FLAGS_memory);
  if (memory != "pinned" && memory != "pageable" && memory != "file") {
    return RefuseValue("--memory", memory, "pinned, pageable or file");
  }
  settings.memory_text = memory;
  ASSIGN_OR_RETURN(settings.directory, ReadDirectory(memory == "file"));
  settings.memory = memory == "pinned" ? HostMemory::kPinned : HostMemory::kPageable;
  const std::string blocks = absl::GetFlag(FLAGS_cublasxt_blocks);
  if (!blocks.empty()) {
    ASSIGN_OR_RETURN(settings.blocks, ParseSizes("--cublasxt_blocks", blocks));
  }
  ASSIGN_OR_RETURN(settings.verify, ParseVerifyMode("--verify", absl::GetFlag(FLAGS_verify)));
  settings.in_memory = absl::GetFlag(FLAGS_in_memory);
  RETURN_IF_ERROR(CheckRange("--in_memory", settings.in_memory, 0, kMaxSize));
  settings.rounds = absl::GetFlag(FLAGS_rounds);
  RETURN_IF_ERROR(CheckRange("--rounds", settings.rounds, 1, 1000));
  settings.csv = ResolvePath(absl::GetFlag(FLAGS_csv));
  return settings;
}

}  // namespace stridewise
