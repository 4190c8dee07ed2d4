// Predicts the time of each measured row of result files and writes both side by side.
//
//   bazel run //benchmarks/profile:predicted_times -- --csv=predicted_time.csv
//   docs/results/h200/transpose_ladder.csv docs/results/h200/matmul_ladder.csv

#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/harness/plan.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/harness/record_file.h"
#include "benchmarks/operations.h"
#include "benchmarks/profile/predicted_demand.h"
#include "common/base/flag_parsing.h"
#include "common/base/status_macros.h"
#include "common/measure/csv.h"

ABSL_FLAG(std::string, csv, "predicted_time.csv", "out");
ABSL_FLAG(std::string, machine, "h200", "machine");
ABSL_FLAG(std::string, measured, "", "files");

namespace stridewise {
namespace {

using executor::Quantity;
constexpr char kUsage[] = "predicted_times: predicts the time of each row of result files.";

absl::StatusOr<int> RunProgram() {
  ASSIGN_OR_RETURN(const executor::MachineModel* machine,
                   executor::FindMachine("--machine", absl::GetFlag(FLAGS_machine)));
  std::vector<std::string> header = {"file", "operation", "implementation", "dtype", "rows", "cols", "depth", "block_x", "block_y", "measured_ms", "launches", "blocks", "block_threads", "shared_bytes", "resident", "read_bytes", "written_bytes"};
  for (int i = 0; i < executor::kQuantities; ++i) header.emplace_back(executor::QuantityName(static_cast<Quantity>(i)));
  ASSIGN_OR_RETURN(RecordFile out, RecordFile::Create(ResolvePath(absl::GetFlag(FLAGS_csv)), header, CsvMode::kReplace));
  std::set<std::string> seen;
  std::map<std::string, executor::Demand> demands;
  for (const absl::string_view path : absl::StrSplit(absl::GetFlag(FLAGS_measured), ',')) {
    ASSIGN_OR_RETURN(const CsvTable table, ReadCsv(ResolvePath(path)));
    std::map<std::string, size_t> at;
    for (size_t i = 0; i < table.header.size(); ++i) at[table.header[i]] = i;
    for (const std::vector<std::string>& row : table.rows) {
      const auto cell = [&](const char* n) { return at.count(n) ? row[at[n]] : std::string(); };
      if (at.count("status") && cell("status") != "ok") continue;
      const std::string ms = at.count("kernel_ms_median") ? cell("kernel_ms_median") : cell("ms");
      if (ms.empty()) continue;
      const std::string op = cell("operation") == "matmul" || cell("study") == "matmul" ? "matmul" : "transpose";
      if (!cell("layout").empty() || !cell("alpha").empty() || !cell("beta").empty() || !cell("batch").empty()) continue;
      ASSIGN_OR_RETURN(const Operation* operation, FindOperation(op));
      const std::string name = cell("implementation");
      if (operation->Find(name) == nullptr || name == "auto") continue;
      Preset preset;
      preset.name = "predict";
      std::string shape = absl::StrCat(cell("rows"), "x", cell("cols"));
      if (op == "matmul") shape += "x" + (cell("depth").empty() ? cell("rows") : cell("depth"));
      std::string block;
      if (!cell("block_x").empty() && operation->Find(name)->blocks != Blocks::kFixed) block = cell("block_x") + "x" + cell("block_y");
      const std::string key = absl::StrCat(name, " ", cell("dtype"), " ", shape, " ", block);
      preset.selections = {Selection(name).Shapes(shape).Types(cell("dtype")).BlockShapes(block)};
      const auto plan = MakePlan(*operation, preset, {});
      if (!plan.ok() || plan->empty()) { if (seen.insert(name).second) std::cerr << key << ": " << plan.status() << "\n"; continue; }
      if (!operation->HasKernel(*plan->front().implementation)) continue;
      if (demands.count(key) == 0) {
        const auto demand = PredictedDemand(plan->front(), *machine);
        if (!demand.ok()) { if (seen.insert(name).second) std::cerr << key << ": " << demand.status() << "\n"; continue; }
        demands[key] = *demand;
      }
      const executor::Demand& d = demands[key];
      std::vector<std::string> record = {std::string(path.substr(path.rfind('/') + 1)), op, name, cell("dtype"), cell("rows"), cell("cols"), cell("depth"), cell("block_x"), cell("block_y"), ms, absl::StrCat(d.launches), absl::StrCat(d.blocks), absl::StrCat(d.block_threads), absl::StrCat(d.shared_bytes), absl::StrCat(d.resident_blocks), absl::StrCat(d.read_buffer_bytes), absl::StrCat(d.written_buffer_bytes)};
      for (int i = 0; i < executor::kQuantities; ++i) record.push_back(absl::StrCat(d.totals[static_cast<Quantity>(i)]));
      RETURN_IF_ERROR(out.Write(record));
    }
  }
  return kExitOk;
}

}  // namespace
}  // namespace stridewise

int main(int argc, char** argv) {
  return stridewise::ProgramMain(argc, argv, stridewise::kUsage, stridewise::RunProgram);
}
