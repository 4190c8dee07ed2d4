// Rows of an operation whose operands are spread over several GPUs of this machine: what --gpus
// asks for. The harness plans, resumes and writes them as all others; these functions measure them.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_GRID_ROWS_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_GRID_ROWS_H_

#include "absl/status/status.h"
#include "benchmarks/harness/machine.h"
#include "benchmarks/harness/operation.h"
#include "benchmarks/harness/sweep_flags.h"
#include "common/measure/result_row.h"

namespace stridewise {

// The preset that is measured where --gpus is given and --preset is not.
inline constexpr char kGridPreset[] = "gpus";

class GridRows {
 public:
  virtual ~GridRows() = default;

  // Returns the operation with the entries that take spread operands. The first of its axes is
  // --gpus; it has the preset kGridPreset.
  virtual const Operation& operation() const = 0;

  // Measures a configuration of that operation, and sets all columns but those of the run and the
  // outcome. Cancelled where the program was interrupted; Unavailable where the machine has not
  // enough GPUs or a library is missing.
  virtual absl::Status Measure(const Config& config, const SweepOptions& options, const Peer* peer,
                               const Machine& machine, ResultRow* row) const = 0;
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_GRID_ROWS_H_
