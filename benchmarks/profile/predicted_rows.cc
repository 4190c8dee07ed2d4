#include "benchmarks/profile/predicted_rows.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "benchmarks/harness/plan.h"
#include "benchmarks/harness/record_file.h"
#include "benchmarks/operations.h"
#include "benchmarks/profile/predicted_demand.h"
#include "common/base/flag_parsing.h"
#include "common/base/status_macros.h"
#include "common/measure/csv.h"
#include "common/measure/git_commit.h"

namespace stridewise {
namespace {

using executor::Demand;
using executor::Limiter;
using executor::MachineModel;

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

absl::StatusOr<Config> ConfigOf(const PredictedRow& row) {
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

std::string Number(double value) { return absl::StrFormat("%.5g", value); }

}  // namespace

absl::Status AppendPredictions(const std::string& path, std::set<std::string>* seen,
                               std::vector<PredictedRow>* all) {
  ASSIGN_OR_RETURN(const CsvTable table, ReadCsv(ResolvePath(path)));
  Cells cells(table);
  for (const std::vector<std::string>& record : table.rows) {
    cells.Set(&record);
    if (!IsWanted(cells)) continue;
    PredictedRow row;
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

absl::Status WritePredictions(const std::string& path, const std::vector<PredictedRow>& rows) {
  std::vector<std::string> header = {"file",         "machine", "operation", "implementation",
                                     "dtype",        "rows",    "cols",      "depth",
                                     "block_x",      "block_y", "half",      "measured_ms",
                                     "predicted_ms", "ratio",   "limiter",   "share"};
  for (int i = 0; i < executor::kLimiters; ++i) {
    const absl::string_view name = executor::LimiterName(static_cast<Limiter>(i));
    header.push_back(absl::StrReplaceAll(absl::AsciiStrToLower(name), {{" ", "_"}}) + "_ms");
  }
  header.push_back("git_commit");
  ASSIGN_OR_RETURN(RecordFile file,
                   RecordFile::Create(ResolvePath(path), header, CsvMode::kReplace));
  for (const PredictedRow& r : rows) {
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

}  // namespace stridewise
