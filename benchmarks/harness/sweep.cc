#include "benchmarks/harness/sweep.h"

#include <unistd.h>

#include <iostream>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/harness/row_comparison.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

std::vector<TableColumn> TableColumns() {
  return {{"implementation", 28, false},
          {"type", 6, false},
          {"shape", 17, false},
          {"block", 7, false},
          {"kernel ms", 10, true},
          {"+-%", 5, true},
          {"total ms", 10, true},
          {"GFLOP/s", 9, true},
          {"GB/s", 8, true},
          {"%copy", 6, true},
          {"%peak", 6, true},
          {"status", 13, false},
          {"message", 0, false}};
}

// Rounds for the eye; the file has all digits.
std::string Rounded(const ResultRow& row, Column column, const char* format) {
  double value = 0;
  if (!absl::SimpleAtod(row.Get(column), &value)) return "";
  return absl::StrFormat(*absl::ParsedFormat<'f'>::New(format), value);
}

// Half the confidence interval in percent of the median.
std::string Noise(const ResultRow& row) {
  double low = 0;
  double high = 0;
  double median = 0;
  if (!absl::SimpleAtod(row.Get(Column::kKernelMsCiLow), &low) ||
      !absl::SimpleAtod(row.Get(Column::kKernelMsCiHigh), &high) ||
      !absl::SimpleAtod(row.Get(Column::kKernelMsMedian), &median) || median == 0) {
    return "";
  }
  return absl::StrFormat("%.1f", 50 * (high - low) / median);
}

std::vector<std::string> TableCells(const ResultRow& row) {
  return {row.Get(Column::kImplementation),
          row.Get(Column::kDtype),
          ShapeText(row),
          JoinExtents(row, {Column::kBlockX, Column::kBlockY}),
          Rounded(row, Column::kKernelMsMedian, "%.4f"),
          Noise(row),
          Rounded(row, Column::kTotalMs, "%.3f"),
          Rounded(row, Column::kGflops, "%.1f"),
          Rounded(row, Column::kGbps, "%.1f"),
          Rounded(row, Column::kPctOfCopy, "%.1f"),
          Rounded(row, Column::kPctOfPeak, "%.1f"),
          row.Get(Column::kStatus),
          row.Get(Column::kMessage)};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Sweep>> Sweep::Create(const SweepOptions& options, int total) {
  absl::StatusOr<CsvWriter> writer =
      CsvWriter::Create(options.csv, options.resume ? CsvMode::kResume : CsvMode::kReplace);
  if (!writer.ok()) return OfFlag("--csv", writer.status());
  std::ostream* out = options.csv == "-" ? &std::cerr : &std::cout;
  return std::unique_ptr<Sweep>(new Sweep(*std::move(writer), total, out));
}

Sweep::Sweep(CsvWriter writer, int total, std::ostream* out)
    : writer_(std::move(writer)),
      out_(out),
      table_(TableColumns(), out),
      progress_(total, isatty(STDERR_FILENO) != 0, &std::cerr, &clock_),
      rows_(writer_.rows_found()) {
  for (const ResultRow& row : rows_) {
    done_.insert(RowKey(row));
    if (HasStatus(row, RowStatus::kOutOfMemory)) out_of_memory_.insert(RowKey(row));
    wrong_ = wrong_ || IsWrong(row);  // A resumed sweep that has a wrong row is not well.
  }
}

absl::Status Sweep::Run(ResultRow row, const std::function<void(ResultRow*)>& measure) {
  if (!done_.insert(RowKey(row)).second) {
    progress_.Skip();
    return absl::OkStatus();
  }
  progress_.Start(absl::StrCat(row.Get(Column::kImplementation), " ", ShapeText(row)));
  measure(&row);
  // A row that Ctrl-C cut short is not finished: --resume measures it anew.
  if (row.Get(Column::kStatus).empty()) return absl::OkStatus();
  RETURN_IF_ERROR(writer_.Write(row));
  wrong_ = wrong_ || IsWrong(row);
  if (HasStatus(row, RowStatus::kOutOfMemory)) out_of_memory_.insert(RowKey(row));
  if (HasStatus(row, RowStatus::kSkipped)) {
    ++skipped_[row.Get(Column::kMessage)];
    rows_.push_back(std::move(row));
    return absl::OkStatus();
  }
  progress_.Clear();
  if (!std::exchange(header_printed_, true)) table_.PrintHeader();
  table_.PrintRow(TableCells(row));
  rows_.push_back(std::move(row));
  return absl::OkStatus();
}

bool Sweep::EndedOutOfMemory(const ResultRow& row) const {
  return out_of_memory_.count(RowKey(row)) == 1;
}

void Sweep::Print(const std::string& text) {
  progress_.Clear();
  *out_ << text << std::flush;
}

int Sweep::ExitCode() const {
  if (Interrupted()) return kExitInterrupted;
  return wrong_ ? kExitWrongResult : kExitOk;
}

std::string Sweep::SkippedText() const {
  std::string text;
  for (const auto& [reason, count] : skipped_) {
    absl::StrAppend(&text, count, " rows skipped: ", reason, "\n");
  }
  return text;
}

}  // namespace stridewise
