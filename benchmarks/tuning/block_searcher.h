// Finds the best thread block of a kernel at a shape, in two rounds.
//
// The first round takes a few samples of every block. Only those within 20 % of its best can win,
// as its noise is far below that: they, and the kernel's default block, are measured in full. The
// others get a row that is skipped and says how long they took.

#ifndef STRIDEWISE_BENCHMARKS_TUNING_BLOCK_SEARCHER_H_
#define STRIDEWISE_BENCHMARKS_TUNING_BLOCK_SEARCHER_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "benchmarks/harness/machine.h"
#include "benchmarks/harness/operation.h"
#include "benchmarks/harness/runner.h"
#include "benchmarks/harness/sweep.h"
#include "benchmarks/harness/sweep_flags.h"
#include "common/base/clock.h"
#include "common/measure/result_row.h"

namespace stridewise {

// One kernel at one shape and type, with every block to try.
using BlockSearchGroup = std::vector<Config>;

class BlockSearcher {
 public:
  // All arguments are borrowed. Rows are paired with `peer`, where it is not null.
  BlockSearcher(const SweepOptions* options, const Machine* machine, const Peer* peer,
                Sweep* sweep);

  // Writes a row for each configuration of the group that the sweep's file does not have yet.
  absl::Status Run(const BlockSearchGroup& group);

  // One line: the best block and what it gains over the default. Empty if nothing was measured.
  std::string Conclusion(const BlockSearchGroup& group) const;

 private:
  using Rows = std::map<std::string, ResultRow>;  // By RowKey().

  // The group's rows that were written.
  Rows RowsInFile(const BlockSearchGroup& group) const;

  // A row after a few samples for each configuration that is not known, by a runner of its own with
  // other options.
  Rows FirstRound(const BlockSearchGroup& group, const Rows& known);

  const SweepOptions& options_;
  const Machine& machine_;
  Sweep& sweep_;
  Runner runner_;
  RowOptions row_options_;
  SteadyClock clock_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TUNING_BLOCK_SEARCHER_H_
