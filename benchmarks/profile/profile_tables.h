// What `profile` prints for people.

#ifndef STRIDEWISE_BENCHMARKS_PROFILE_PROFILE_TABLES_H_
#define STRIDEWISE_BENCHMARKS_PROFILE_PROFILE_TABLES_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "benchmarks/profile/kernel_counts.h"
#include "common/executor/predict/predict_time.h"
#include "common/measure/result_row.h"

namespace stridewise {

// The columns as the transpose studies have them, a line for each row whose memory behaviour is
// known, without the columns that none of them has. Empty if there is no such row.
std::string ProfileTable(absl::Span<const ResultRow> rows);

// Returns what the GPU was busy with and what its warps waited for, as the table above. Empty if no
// row has it: only the GPU's counters tell.
std::string ReasonTable(absl::Span<const ResultRow> rows);

// A configuration's row and what became of its counts.
struct ComparedRow {
  ResultRow row;
  CountComparison counts;
};

// A line a configuration: each count as the host executor predicted and as the GPU measured it, one
// number where they are the same. Empty if there are no rows.
std::string CountTable(absl::Span<const ComparedRow> rows);

// The columns of --counts_csv, and a record for each counter.
std::vector<std::string> CountHeader();
std::vector<std::vector<std::string>> CountRecords(const ComparedRow& compared);

// A configuration's row and its predicted time.
struct PredictedRow {
  ResultRow row;
  executor::Prediction prediction;
};

// Returns a line for each configuration: the predicted time, its limiter and the limiter's share of
// the time, under a line that names the machine. Empty if there are no rows.
std::string PredictedTable(absl::Span<const PredictedRow> rows, absl::string_view machine);

// The predictions as records of a file.
std::vector<std::string> PredictedHeader();
std::vector<std::string> PredictedRecord(const PredictedRow& predicted, absl::string_view machine);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_PROFILE_PROFILE_TABLES_H_
