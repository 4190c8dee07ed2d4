// Predicts the time of each measured row of result files and writes both side by side, with how
// good the predictions are.
//
//   bazel run //benchmarks/profile:predicted_times --
//   --measured=docs/results/h200/matmul_ladder.csv
//   --csv=predicted_time.csv --distribution_csv=predicted_time_distribution.csv

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/types/span.h"
#include "benchmarks/harness/plan.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/harness/record_file.h"
#include "benchmarks/operations.h"
#include "benchmarks/profile/predicted_demand.h"
#include "common/base/flag_parsing.h"
#include "common/base/status_macros.h"
#include "common/executor/predict/predict_time.h"
#include "common/measure/csv.h"
#include "common/measure/git_commit.h"

ABSL_FLAG(std::string, measured, "",
          "Comma list of result files: rows of a sweep, or of docs/results/studies.csv.");
ABSL_FLAG(std::string, csv, "predicted_time.csv",
          "A file for the predictions. One that is there is kept as .bak.");
ABSL_FLAG(std::string, distribution_csv, "predicted_time_distribution.csv",
          "A file for how good they are. One that is there is kept as .bak.");

namespace stridewise {
namespace {

using executor::Demand;
using executor::Limiter;
using executor::MachineModel;

constexpr char kUsage[] =
    "predicted_times: predicts the time of each measured row of result files, and says how good "
    "the predictions are.";

// The ladders of both suites. The rates were fitted to those of one half.
constexpr absl::string_view kLadders[] = {"copy_row",
                                          "copy_col",
                                          "copy_shared",
                                          "copy_shared_square",
                                          "naive_row",
                                          "naive_col",
                                          "unroll4_row",
                                          "unroll4_col",
                                          "diagonal_row",
                                          "diagonal_col",
                                          "tile_square",
                                          "tile_square_padded",
                                          "tile_store_conflicts",
                                          "tile_rectangular",
                                          "tile_rectangular_padded",
                                          "tile_unroll2_dynamic",
                                          "tile_unroll2_padded_dynamic",
                                          "tile_unroll2_padded2_dynamic",
                                          "tile_unrolled",
                                          "tile_swizzled",
                                          "tile_persistent",
                                          "naive_one_thread_blocks",
                                          "naive_uncoalesced",
                                          "naive",
                                          "global_accumulation",
                                          "tiled_multiply_add",
                                          "tiled",
                                          "tile_width_1",
                                          "tile_width_8",
                                          "tile_width_16",
                                          "register_tile_1d",
                                          "register_tile_2d",
                                          "vectorized",
                                          "warp_tile",
                                          "double_buffered"};

constexpr struct {
  absl::string_view device;  // As rows name it.
  absl::string_view machine;
} kDevices[] = {{"NVIDIA H200", "h200"},
                {"RTX 3080", "rtx3080"},
                {"GTX 770M", "gtx770m"},
                {"Jetson Nano", "tegra_x1"}};

// Which half a kernel is in was decided before anything was fitted: by its name's FNV-1a hash of 32
// bits, odd for those that are fitted. The grid of tile_persistent comes from the number of
// multiprocessors, of which the host executor pretends to have another.
absl::string_view HalfOf(absl::string_view machine, absl::string_view kernel) {
  if (machine != "h200") return "document";
  if (kernel == "tile_persistent") return "left out";
  uint32_t hash = 2166136261u;
  for (const char c : kernel) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash % 2 == 1 ? "fitted" : "judged";
}

struct Row {
  std::string file, table, operation, kernel, type, rows, cols, depth, block_x, block_y;
  std::string machine, half;
  double measured_ms = 0;
  executor::Prediction predicted;

  double ratio() const { return predicted.ms / measured_ms; }
  double error() const { return std::abs(ratio() - 1); }
};

// One row of a table by the names of its columns.
class Cells {
 public:
  explicit Cells(const CsvTable& table) {
    for (size_t i = 0; i < table.header.size(); ++i) at_[table.header[i]] = i;
  }
  void Set(const std::vector<std::string>* row) { row_ = row; }
  std::string operator[](const std::string& column) const {
    const auto found = at_.find(column);
    return found == at_.end() ? "" : (*row_)[found->second];
  }

 private:
  std::map<std::string, size_t> at_;
  const std::vector<std::string>* row_ = nullptr;
};

// The measured time, or 0 if the row has none: the fourth table of a study has only a bandwidth.
double MeasuredMs(const Cells& cells) {
  double ms = 0, gbps = 0, rows = 0, cols = 0;
  if (absl::SimpleAtod(cells["kernel_ms_median"], &ms) || absl::SimpleAtod(cells["ms"], &ms)) {
    return ms;
  }
  if (cells["study"].empty() || !absl::SimpleAtod(cells["gbps"], &gbps) ||
      !absl::SimpleAtod(cells["rows"], &rows) || !absl::SimpleAtod(cells["cols"], &cols)) {
    return 0;
  }
  return 2 * rows * cols * sizeof(float) / gbps / 1e6;
}

// Whether it is a plain run of a ladder's kernel with a time. Variants such as another layout or
// the documents' L1 that is switched off are not predicted.
bool IsWanted(const Cells& cells) {
  for (const char* column : {"layout", "alpha", "beta", "batch", "workspace", "precision"}) {
    if (!cells[column].empty()) return false;
  }
  const std::string status = cells["status"];
  const std::string kernel = cells["implementation"];
  return (status.empty() || status == "ok") && cells["l1"] != "off" && MeasuredMs(cells) > 0 &&
         (cells["study"].empty() || cells["study"] != "matmul") &&
         std::find(std::begin(kLadders), std::end(kLadders), kernel) != std::end(kLadders);
}

absl::StatusOr<Config> ConfigOf(const Row& row) {
  ASSIGN_OR_RETURN(const Operation* operation, FindOperation(row.operation));
  const Implementation* implementation = operation->Find(row.kernel);
  if (implementation == nullptr) return absl::NotFoundError(row.kernel);
  std::string shape = absl::StrCat(row.rows, "x", row.cols);
  if (!row.depth.empty()) absl::StrAppend(&shape, "x", row.depth);
  std::string block;
  if (implementation->blocks != Blocks::kFixed && !row.block_x.empty()) {
    block = absl::StrCat(row.block_x, "x", row.block_y);
  }
  Preset preset;
  preset.name = "predicted_times";
  preset.selections = {Selection(row.kernel).Shapes(shape).Types(row.type).BlockShapes(block)};
  ASSIGN_OR_RETURN(const std::vector<Config> plan, MakePlan(*operation, preset, {}));
  return plan.front();
}

// Appends the predictions of a file's rows. The first row of a configuration counts.
absl::Status Predict(const std::string& path, std::set<std::string>* seen, std::vector<Row>* all) {
  ASSIGN_OR_RETURN(const CsvTable table, ReadCsv(ResolvePath(path)));
  Cells cells(table);
  for (const std::vector<std::string>& record : table.rows) {
    cells.Set(&record);
    if (!IsWanted(cells)) continue;
    Row row;
    row.file = path.substr(path.rfind('/') + 1);
    row.table = absl::StrCat(cells["study"], " ", cells["table"]);
    row.operation = cells["operation"] == "matmul" ? "matmul" : "transpose";
    row.kernel = cells["implementation"];
    row.type = cells["dtype"];
    row.rows = cells["rows"], row.cols = cells["cols"], row.depth = cells["depth"];
    row.block_x = cells["block_x"], row.block_y = cells["block_y"];
    for (const auto& [device, machine] : kDevices) {
      if (cells["device"] == device) row.machine = std::string(machine);
    }
    if (row.machine.empty()) continue;
    const std::string key =
        absl::StrCat(row.table, ",", row.machine, ",", row.kernel, ",", row.type, ",", row.rows,
                     "x", row.cols, "x", row.depth, ",", row.block_x, "x", row.block_y);
    if (!seen->insert(key).second) continue;
    row.half = std::string(HalfOf(row.machine, row.kernel));
    row.measured_ms = MeasuredMs(cells);
    ASSIGN_OR_RETURN(const Config config, ConfigOf(row));
    ASSIGN_OR_RETURN(const MachineModel* machine, executor::FindMachine("device", row.machine));
    ASSIGN_OR_RETURN(const Demand demand, PredictedDemand(config, *machine));
    row.predicted = executor::PredictTime(demand, *machine);
    all->push_back(std::move(row));
  }
  return absl::OkStatus();
}

std::string Number(double value) { return absl::StrFormat("%.5g", value); }

absl::Status WriteRows(const std::vector<Row>& rows) {
  std::vector<std::string> header = {"file",         "machine", "operation", "implementation",
                                     "dtype",        "rows",    "cols",      "depth",
                                     "block_x",      "block_y", "half",      "measured_ms",
                                     "predicted_ms", "ratio",   "limiter",   "share"};
  for (int i = 0; i < executor::kLimiters; ++i) {
    const absl::string_view name = executor::LimiterName(static_cast<Limiter>(i));
    header.push_back(absl::StrReplaceAll(absl::AsciiStrToLower(name), {{" ", "_"}}) + "_ms");
  }
  header.push_back("git_commit");
  ASSIGN_OR_RETURN(RecordFile file, RecordFile::Create(ResolvePath(absl::GetFlag(FLAGS_csv)),
                                                       header, CsvMode::kReplace));
  for (const Row& r : rows) {
    std::vector<std::string> record = {r.file,
                                       r.machine,
                                       r.operation,
                                       r.kernel,
                                       r.type,
                                       r.rows,
                                       r.cols,
                                       r.depth,
                                       r.block_x,
                                       r.block_y,
                                       r.half,
                                       Number(r.measured_ms),
                                       Number(r.predicted.ms),
                                       Number(r.ratio()),
                                       std::string(executor::LimiterName(r.predicted.limiter())),
                                       Number(r.predicted.share())};
    for (const double ms : r.predicted.ms_of) record.push_back(Number(ms));
    record.emplace_back(GitCommit());
    RETURN_IF_ERROR(file.Write(record));
  }
  return absl::OkStatus();
}

double Quantile(std::vector<double> values, double q) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double at = q * static_cast<double>(values.size() - 1);
  const size_t low = static_cast<size_t>(at);
  const size_t high = std::min(low + 1, values.size() - 1);
  return values[low] + (at - static_cast<double>(low)) * (values[high] - values[low]);
}

std::vector<double> Ranks(const std::vector<double>& values) {
  std::vector<double> ranks;
  for (const double v : values) {
    double below = 0, same = 0;
    for (const double w : values) {
      below += w < v;
      same += w == v;
    }
    ranks.push_back(below + (same - 1) / 2);
  }
  return ranks;
}

// Spearman's rank correlation.
double RankCorrelation(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = Ranks(a), y = Ranks(b);
  const double mean = (static_cast<double>(x.size()) - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xy / std::sqrt(xx * yy);
}

constexpr size_t kLeastOfLadder = 5;  // Kernels, for a rank correlation.

// Writes what figures a set of rows has: errors, or rank correlations of ladders.
class Distribution {
 public:
  explicit Distribution(RecordFile file) : file_(std::move(file)) {}

  static std::vector<std::string> Header() {
    return {"set",           "operation", "what",    "count",      "median",
            "percentile_90", "least",     "largest", "pct_within", "git_commit"};
  }

  absl::Status Add(const std::string& set, const std::string& operation, const std::string& what,
                   const std::vector<double>& values, double within) {
    if (values.empty()) return absl::OkStatus();
    const auto good = [&](double v) {
      return what == "rank correlation" ? v >= within : v <= within;
    };
    const double pct = 100.0 *
                       static_cast<double>(std::count_if(values.begin(), values.end(), good)) /
                       static_cast<double>(values.size());
    std::vector<std::string> record = {set,
                                       operation,
                                       what,
                                       absl::StrCat(values.size()),
                                       Number(Quantile(values, 0.5)),
                                       Number(Quantile(values, 0.9)),
                                       Number(Quantile(values, 0)),
                                       Number(Quantile(values, 1)),
                                       Number(pct),
                                       std::string(GitCommit())};
    std::cout << absl::StrJoin(absl::MakeSpan(record).first(record.size() - 1), "  ") << "\n";
    return file_.Write(record);
  }

 private:
  RecordFile file_;
};

absl::Status WriteDistribution(const std::vector<Row>& rows) {
  ASSIGN_OR_RETURN(RecordFile file,
                   RecordFile::Create(ResolvePath(absl::GetFlag(FLAGS_distribution_csv)),
                                      Distribution::Header(), CsvMode::kReplace));
  Distribution distribution(std::move(file));
  for (const std::string half : {"fitted", "judged", "left out", "document"}) {
    for (const std::string operation : {"all", "transpose", "matmul"}) {
      std::vector<double> errors;
      for (const Row& r : rows) {
        if (r.half == half && (operation == "all" || r.operation == operation)) {
          errors.push_back(100 * r.error());
        }
      }
      RETURN_IF_ERROR(distribution.Add(half, operation, "error %", errors, 35));
    }
  }

  // Ladders: all kernels of a shape and type, each with its first block.
  for (const std::string half : {"all", "judged"}) {
    for (const std::string operation : {"transpose", "matmul"}) {
      std::map<std::string, std::map<std::string, const Row*>> ladders;
      for (const Row& r : rows) {
        if (r.machine != "h200" || r.operation != operation || r.half == "left out") continue;
        if (half == "judged" && r.half != half) continue;
        ladders[absl::StrCat(r.type, r.rows, "x", r.cols, "x", r.depth)].emplace(r.kernel, &r);
      }
      std::vector<double> correlations;
      for (const auto& [key, kernels] : ladders) {
        if (kernels.size() < kLeastOfLadder) continue;
        std::vector<double> measured, predicted;
        for (const auto& [name, row] : kernels) {
          measured.push_back(row->measured_ms);
          predicted.push_back(row->predicted.ms);
        }
        correlations.push_back(RankCorrelation(measured, predicted));
      }
      RETURN_IF_ERROR(distribution.Add(half, operation, "rank correlation", correlations, 0.95));
    }
  }

  // The documents: each row of a table over the row before it.
  std::map<std::string, std::vector<double>> steps;
  for (size_t i = 1; i < rows.size(); ++i) {
    const Row& a = rows[i - 1];
    const Row& b = rows[i];
    if (b.half != "document" || a.table != b.table || a.machine != b.machine) continue;
    const double error = 100 * std::abs(b.ratio() / a.ratio() - 1);
    steps["documents"].push_back(error);
    steps[b.machine].push_back(error);
  }
  for (const auto& [machine, errors] : steps) {
    RETURN_IF_ERROR(distribution.Add(machine, "transpose", "error of a step %", errors, 30));
  }
  return absl::OkStatus();
}

absl::StatusOr<int> RunProgram() {
  const std::string files = absl::GetFlag(FLAGS_measured);
  if (files.empty()) {
    return absl::InvalidArgumentError("--measured: '' is not allowed; allowed are result files");
  }
  std::set<std::string> seen;
  std::vector<Row> rows;
  for (const absl::string_view path : absl::StrSplit(files, ',')) {
    RETURN_IF_ERROR(Predict(std::string(path), &seen, &rows));
  }
  RETURN_IF_ERROR(WriteRows(rows));
  RETURN_IF_ERROR(WriteDistribution(rows));
  return kExitOk;
}

}  // namespace
}  // namespace stridewise

int main(int argc, char** argv) {
  return stridewise::ProgramMain(argc, argv, stridewise::kUsage, stridewise::RunProgram);
}
