#include "benchmarks/profile/profile_tables.h"

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/harness/row_comparison.h"
#include "common/base/table.h"

namespace stridewise {
namespace {

// The columns that say which configuration it is.
std::vector<TableColumn> ConfigColumns() {
  return {{"kernel", 28, false}, {"type", 6, false}, {"shape", 13, false}, {"block", 7, false}};
}

std::vector<std::string> ConfigCells(const ResultRow& row) {
  return {row.Get(Column::kImplementation), row.Get(Column::kDtype),
          JoinExtents(row, {Column::kRows, Column::kCols, Column::kDepth}),
          JoinExtents(row, {Column::kBlockX, Column::kBlockY})};
}

std::string Rounded(const std::string& cell) {
  double value = 0;
  if (!absl::SimpleAtod(cell, &value)) return "";
  return absl::StrFormat("%.*g", value < 1e3 ? 4 : 15, value);
}

std::string Text(const std::optional<uint64_t>& count) {
  return count.has_value() ? absl::StrCat(*count) : "?";
}

std::string CountCell(const CountComparison& counts, int i) {
  switch (counts.Of(static_cast<Counter>(i))) {
    case Agreement::kSame:
      return Text(counts.predicted[i]);
    case Agreement::kUnknown:
      return absl::StrCat(Text(counts.predicted[i]), "/", Text(counts.measured[i]));
    case Agreement::kExplained:
      return absl::StrCat(Text(counts.predicted[i]), "/", Text(counts.measured[i]), "~");
    case Agreement::kDifferent:
      return absl::StrCat(Text(counts.predicted[i]), "/", Text(counts.measured[i]), "!");
  }
  return "";
}

struct Cell {
  TableColumn column;
  Column cell;
};

// Returns a line for each row that has the cell `known_by`, without the columns that none of them
// has.
std::string RowTable(absl::Span<const ResultRow> rows, Column known_by, std::vector<Cell> cells) {
  std::vector<const ResultRow*> known;
  for (const ResultRow& row : rows) {
    if (!row.Get(known_by).empty()) known.push_back(&row);
  }
  if (known.empty()) return "";
  const auto nobody_has = [&](const Cell& cell) {
    return std::all_of(known.begin(), known.end(),
                       [&](const ResultRow* row) { return row->Get(cell.cell).empty(); });
  };
  cells.erase(std::remove_if(cells.begin(), cells.end(), nobody_has), cells.end());

  std::vector<TableColumn> columns = ConfigColumns();
  for (const Cell& cell : cells) columns.push_back(cell.column);
  std::ostringstream text;
  Table table(columns, &text);
  table.PrintHeader();
  for (const ResultRow* row : known) {
    std::vector<std::string> line = ConfigCells(*row);
    for (const Cell& cell : cells) line.push_back(Rounded(row->Get(cell.cell)));
    table.PrintRow(line);
  }
  return absl::StrCat("\n", text.str(), "\n");
}

}  // namespace

std::string ProfileTable(absl::Span<const ResultRow> rows) {
  return RowTable(rows, Column::kLoadTransactions,
                  {{{"load eff %", 10, true}, Column::kLoadEfficiency},
                   {{"store eff %", 11, true}, Column::kStoreEfficiency},
                   {{"load sectors", 12, true}, Column::kLoadTransactions},
                   {{"store sectors", 13, true}, Column::kStoreTransactions},
                   {{"sh ld/req", 9, true}, Column::kSharedLoadWavefrontsPerRequest},
                   {{"sh st/req", 9, true}, Column::kSharedStoreWavefrontsPerRequest},
                   {{"sh eff %", 8, true}, Column::kSharedEfficiency},
                   {{"occ %", 6, true}, Column::kAchievedOccupancy},
                   {{"branch %", 8, true}, Column::kBranchEfficiency},
                   {{"ms", 9, true}, Column::kKernelMsMedian}});
}

std::string ReasonTable(absl::Span<const ResultRow> rows) {
  return RowTable(rows, Column::kComputePctOfPeak,
                  {{{"compute %", 9, true}, Column::kComputePctOfPeak},
                   {{"memory %", 8, true}, Column::kMemoryPctOfPeak},
                   {{"dram %", 6, true}, Column::kDramPctOfPeak},
                   {{"l2 hit %", 8, true}, Column::kL2HitRate},
                   {{"issue %", 7, true}, Column::kIssueActivePct},
                   {{"fma %", 6, true}, Column::kFmaPctOfInstructions},
                   {{"regs", 4, true}, Column::kRegisters},
                   {{"long sb", 7, true}, Column::kStalledLongScoreboard},
                   {{"short sb", 8, true}, Column::kStalledShortScoreboard},
                   {{"barrier", 7, true}, Column::kStalledBarrier},
                   {{"mio", 6, true}, Column::kStalledMioThrottle},
                   {{"lg", 6, true}, Column::kStalledLgThrottle},
                   {{"dispatch", 8, true}, Column::kStalledDispatch},
                   {{"wait", 6, true}, Column::kStalledWait}});
}

std::string CountTable(absl::Span<const ComparedRow> rows) {
  if (rows.empty()) return "";
  std::vector<TableColumn> columns = ConfigColumns();
  for (const char* title : {"ld requests", "st requests", "ld sectors", "st sectors", "sh ld req",
                            "sh st req", "sh ld wavefr", "sh st wavefr"}) {
    columns.push_back({title, 14, true});
  }
  std::ostringstream text;
  Table table(columns, &text);
  table.PrintHeader();
  std::set<std::string> explanations;
  for (const ComparedRow& compared : rows) {
    std::vector<std::string> line = ConfigCells(compared.row);
    bool explained = false;
    for (int i = 0; i < kNumCounters; ++i) {
      line.push_back(CountCell(compared.counts, i));
      explained |= compared.counts.Of(static_cast<Counter>(i)) == Agreement::kExplained;
    }
    table.PrintRow(line);
    if (!explained || compared.counts.Explanation().empty()) continue;
    explanations.insert(
        absl::StrCat(compared.counts.implementation, ": ", compared.counts.Explanation(), "\n"));
  }
  std::string legend =
      "Predicted/measured where they are not the same: ! must not be, ~ may be.\n"
      "Shared requests may be: the GPU also counts instructions with all lanes off.\n";
  for (const std::string& explanation : explanations) legend += explanation;
  return absl::StrCat("\n", text.str(), legend, "\n");
}

std::vector<std::string> CountHeader() {
  return {"operation", "implementation", "dtype",   "rows",      "cols",     "depth",
          "block_x",   "block_y",        "counter", "predicted", "measured", "git_commit"};
}

std::vector<std::vector<std::string>> CountRecords(const ComparedRow& compared) {
  std::vector<std::vector<std::string>> records;
  for (int i = 0; i < kNumCounters; ++i) {
    std::vector<std::string>& record = records.emplace_back();
    for (const Column column :
         {Column::kOperation, Column::kImplementation, Column::kDtype, Column::kRows, Column::kCols,
          Column::kDepth, Column::kBlockX, Column::kBlockY}) {
      record.push_back(compared.row.Get(column));
    }
    record.emplace_back(CounterName(static_cast<Counter>(i)));
    for (const KernelCounts& counts : {compared.counts.predicted, compared.counts.measured}) {
      record.push_back(counts[i].has_value() ? absl::StrCat(*counts[i]) : "");
    }
    record.push_back(compared.row.Get(Column::kGitCommit));
  }
  return records;
}

std::string PredictedTable(absl::Span<const PredictedRow> rows, absl::string_view machine) {
  if (rows.empty()) return "";
  std::vector<TableColumn> columns = ConfigColumns();
  columns.push_back({"predicted ms", 12, true});
  columns.push_back({"limiter", 13, false});
  columns.push_back({"share %", 7, true});
  std::ostringstream text;
  Table table(columns, &text);
  table.PrintHeader();
  for (const PredictedRow& predicted : rows) {
    std::vector<std::string> line = ConfigCells(predicted.row);
    line.push_back(absl::StrFormat("%.4g", predicted.prediction.ms));
    line.emplace_back(executor::LimiterName(predicted.prediction.limiter()));
    line.push_back(absl::StrFormat("%.0f", 100 * predicted.prediction.share()));
    table.PrintRow(line);
  }
  return absl::StrCat("\nPredicted for ", machine, ", not measured:\n", text.str(), "\n");
}

std::vector<std::string> PredictedHeader() {
  return {"operation", "implementation", "dtype",   "rows",         "cols",    "depth",
          "block_x",   "block_y",        "machine", "predicted_ms", "limiter", "share"};
}

std::vector<std::string> PredictedRecord(const PredictedRow& predicted, absl::string_view machine) {
  std::vector<std::string> record;
  for (const Column column :
       {Column::kOperation, Column::kImplementation, Column::kDtype, Column::kRows, Column::kCols,
        Column::kDepth, Column::kBlockX, Column::kBlockY}) {
    record.push_back(predicted.row.Get(column));
  }
  const executor::Prediction& p = predicted.prediction;
  record.insert(record.end(), {std::string(machine), absl::StrFormat("%.5g", p.ms),
                               std::string(executor::LimiterName(p.limiter())),
                               absl::StrFormat("%.3f", p.share())});
  return record;
}

}  // namespace stridewise
