// What every sweep does with a row: file, table, progress, resuming, exit code.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_SWEEP_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_SWEEP_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmarks/harness/sweep_flags.h"
#include "common/base/clock.h"
#include "common/base/progress.h"
#include "common/base/table.h"
#include "common/measure/csv.h"
#include "common/measure/result_row.h"

namespace stridewise {

class Sweep {
 public:
  // Opens the file. `total` is the number of configurations. Rows go to a table on standard output,
  // or, where the CSV itself goes there, on standard error.
  static absl::StatusOr<std::unique_ptr<Sweep>> Create(const SweepOptions& options, int total);

  // Rows so far, those that were in the file first.
  const std::vector<ResultRow>& rows() const { return rows_; }

  // Measures one configuration, unless the file has it. Skipped rows go to the file only; the table
  // would drown in them. `row` has the configuration's columns; `measure` fills in the rest.
  // DataLoss when the file cannot be written.
  absl::Status Run(ResultRow row, const std::function<void(ResultRow*)>& measure);

  // Returns whether the file has this configuration as one that memory did not suffice for.
  bool EndedOutOfMemory(const ResultRow& row) const;

  // Announces configurations beyond those of Create().
  void Expect(int more) { progress_.Expect(more); }

  // One line for each reason for which rows were skipped.
  std::string SkippedText() const;

  // Prints a text below the table.
  void Print(const std::string& text);

  // kExitOk, kExitWrongResult or kExitInterrupted.
  int ExitCode() const;

 private:
  Sweep(CsvWriter writer, int total, std::ostream* out);

  SteadyClock clock_;
  CsvWriter writer_;
  std::ostream* out_;
  Table table_;
  Progress progress_;
  std::vector<ResultRow> rows_;
  std::unordered_set<std::string> done_;
  std::unordered_set<std::string> out_of_memory_;
  std::map<std::string, int> skipped_;  // Rows by reason.
  bool header_printed_ = false;
  bool wrong_ = false;
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_SWEEP_H_
