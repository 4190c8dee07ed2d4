#include "benchmarks/tuning/kernel_times.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/harness/draw_points.h"
#include "benchmarks/harness/random_shapes.h"
#include "benchmarks/matmul/operation.h"
#include "benchmarks/matmul/product_args.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

constexpr int64_t kCubeTurn = 8;
constexpr int64_t kMostOfCube = 6000;
constexpr char kCube[] = "cube";

enum Field {
  kDevice,
  kComputeCapability,
  kMultiprocessors,
  kMemoryGbps,
  kSeed,
  kNumber,
  kFamily,
  kM,
  kN,
  kK,
  kLayout,
  kBatch,
  kKernel,
  kWorkspaceBytes,
  kSamples,
  kMs,
};

Point PointOf(int64_t m, int64_t n, int64_t k, const std::string& layout, int64_t batch) {
  return {{m, n, k}, "float", batch, {layout, "1", "0", "asked", "fp32", "none"}};
}

bool IsLayout(const std::string& text) {
  return text == "nn" || text == "nt" || text == "tn" || text == "tt";
}

// The numbers of a record.
struct Numbers {
  int compute_capability, multiprocessors, memory_gbps, samples;
  uint64_t seed;
  int64_t number, m, n, k, batch, workspace_bytes;
  double ms;
};

bool ParseNumbers(const std::vector<std::string>& record, Numbers* numbers) {
  return absl::SimpleAtoi(record[kComputeCapability], &numbers->compute_capability) &&
         absl::SimpleAtoi(record[kMultiprocessors], &numbers->multiprocessors) &&
         absl::SimpleAtoi(record[kMemoryGbps], &numbers->memory_gbps) &&
         absl::SimpleAtoi(record[kSeed], &numbers->seed) &&
         absl::SimpleAtoi(record[kNumber], &numbers->number) &&
         absl::SimpleAtoi(record[kM], &numbers->m) && absl::SimpleAtoi(record[kN], &numbers->n) &&
         absl::SimpleAtoi(record[kK], &numbers->k) && IsLayout(record[kLayout]) &&
         absl::SimpleAtoi(record[kBatch], &numbers->batch) &&
         absl::SimpleAtoi(record[kWorkspaceBytes], &numbers->workspace_bytes) &&
         absl::SimpleAtoi(record[kSamples], &numbers->samples) &&
         absl::SimpleAtod(record[kMs], &numbers->ms) && numbers->multiprocessors > 0 &&
         numbers->memory_gbps > 0 && numbers->m > 0 && numbers->n > 0 && numbers->k > 0 &&
         numbers->batch > 0 && numbers->ms > 0;
}

absl::Status AddRecord(const std::vector<std::string>& record, TuneData* data) {
  Numbers numbers;
  if (!ParseNumbers(record, &numbers)) {
    return absl::InvalidArgumentError("a number or a layout is not one");
  }
  if (data->device.empty()) {
    data->device = record[kDevice];
    data->model.compute_capability = numbers.compute_capability;
    data->model.multiprocessors = numbers.multiprocessors;
    data->model = WithMemoryRate(data->model, numbers.memory_gbps);
  } else if (data->device != record[kDevice]) {
    return absl::InvalidArgumentError(absl::StrCat("it is of ", record[kDevice], ", others of ",
                                                   data->device, "; a tuning is of one device"));
  }
  const Point point = PointOf(numbers.m, numbers.n, numbers.k, record[kLayout], numbers.batch);
  if (data->shapes.empty() || data->shapes.back().shape.seed != numbers.seed ||
      data->shapes.back().shape.number != numbers.number) {
    data->shapes.push_back(
        {{numbers.seed, numbers.number, record[kFamily], point}, GaplessArgs(point), {}});
  }
  data->shapes.back().times.push_back(
      {record[kKernel], numbers.workspace_bytes, numbers.samples, numbers.ms});
  return absl::OkStatus();
}

// Adds the times, in place of those of the same kernels.
void ReplaceTimes(const std::vector<KernelTime>& newer, std::vector<KernelTime>* times) {
  const auto is_older = [&](const KernelTime& time) {
    return std::any_of(newer.begin(), newer.end(),
                       [&](const KernelTime& other) { return other.kernel == time.kernel; });
  };
  times->erase(std::remove_if(times->begin(), times->end(), is_older), times->end());
  times->insert(times->end(), newer.begin(), newer.end());
}

}  // namespace

absl::StatusOr<std::vector<TuneShape>> DrawTuneShapes(int64_t count, uint64_t seed) {
  ASSIGN_OR_RETURN(const std::vector<DrawnPoint> drawn,
                   DrawPoints(MatMulOperation(), MatMulOperation().random_shapes(),
                              absl::StrCat(count), "all", seed));
  std::vector<TuneShape> shapes;
  size_t next = 0;
  for (int64_t number = 0; number < count; ++number) {
    if (number % kCubeTurn == kCubeTurn - 1) {
      ShapeRandom random(~seed, static_cast<uint64_t>(number));
      const int64_t n = random.LogUniform(1, kMostOfCube);
      shapes.push_back({seed, number, kCube, PointOf(n, n, n, "nn", 1)});
    } else {
      shapes.push_back({seed, number, drawn[next].family, drawn[next].point});
      ++next;
    }
  }
  return shapes;
}

std::vector<std::string> TuneHeader() {
  return {"device",
          "compute_capability",
          "multiprocessors",
          "memory_gbps",
          "seed",
          "number",
          "family",
          "m",
          "n",
          "k",
          "layout",
          "batch",
          "kernel",
          "workspace_bytes",
          "samples",
          "ms"};
}

std::vector<std::vector<std::string>> TuneRecords(const std::string& device,
                                                  const DeviceModel& model,
                                                  const ShapeTimes& shape) {
  std::vector<std::vector<std::string>> records;
  const Point& point = shape.shape.point;
  for (const KernelTime& time : shape.times) {
    records.push_back(
        {device, absl::StrCat(model.compute_capability), absl::StrCat(model.multiprocessors),
         absl::StrCat(model.memory_gbps), absl::StrCat(shape.shape.seed),
         absl::StrCat(shape.shape.number), shape.shape.family, absl::StrCat(point.extents[0]),
         absl::StrCat(point.extents[1]), absl::StrCat(point.extents[2]), point.axes[0],
         absl::StrCat(point.batch), time.kernel, absl::StrCat(time.workspace_bytes),
         absl::StrCat(time.samples), absl::StrFormat("%.6g", time.ms)});
  }
  return records;
}

absl::StatusOr<TuneData> ReadTuneData(absl::Span<const std::string> paths) {
  TuneData data;
  std::map<std::pair<uint64_t, int64_t>, size_t> number_of;  // Of a product in data.shapes.
  for (const std::string& path : paths) {
    TuneData of_file;
    of_file.device = data.device;
    of_file.model = data.model;
    ASSIGN_OR_RETURN(const CsvTable table, ReadCsv(path));
    if (table.header != TuneHeader()) {
      return absl::InvalidArgumentError(
          absl::StrCat("\"", path, "\": its columns are not those of stridewise_tune"));
    }
    for (size_t i = 0; i < table.rows.size(); ++i) {
      const absl::Status status = AddRecord(table.rows[i], &of_file);
      if (!status.ok()) {
        return absl::InvalidArgumentError(
            absl::StrCat("\"", path, "\", record ", i + 1, ": ", status.message()));
      }
    }
    data.device = of_file.device;
    data.model = of_file.model;
    for (ShapeTimes& shape : of_file.shapes) {
      const auto key = std::make_pair(shape.shape.seed, shape.shape.number);
      const auto found = number_of.emplace(key, data.shapes.size());
      if (found.second) {
        data.shapes.push_back(std::move(shape));
      } else {
        ReplaceTimes(shape.times, &data.shapes[found.first->second].times);
      }
    }
  }
  return data;
}

}  // namespace stridewise
