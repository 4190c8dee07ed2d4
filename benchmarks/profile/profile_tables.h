// What `profile` prints for people.

#ifndef STRIDEWISE_BENCHMARKS_PROFILE_PROFILE_TABLES_H_
#define STRIDEWISE_BENCHMARKS_PROFILE_PROFILE_TABLES_H_

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "benchmarks/profile/kernel_counts.h"
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

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_PROFILE_PROFILE_TABLES_H_
