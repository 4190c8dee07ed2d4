// A configuration on the host executor: what it does to memory, on a machine without a GPU.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_EXECUTOR_RUN_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_EXECUTOR_RUN_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmarks/harness/operation.h"
#include "benchmarks/harness/problem.h"
#include "common/executor/executor.h"
#include "common/executor/profile.h"
#include "common/measure/result_row.h"

namespace stridewise {

// A configuration with random, read-only inputs and an output that nobody has written or that
// starts as the implementation wants it.
class ExecutorRun {
 public:
  // Unimplemented for what the host executor cannot run, ResourceExhausted, with the bytes asked
  // for, where the machine has not so much memory. REQUIRES: the problem is not empty.
  static absl::StatusOr<ExecutorRun> Create(const Config& config, uint64_t seed,
                                            const executor::ExecutorOptions& options);

  // Runs it once. DataLoss with the findings' text if a check failed; otherwise as the
  // implementation. A run in place goes on with what the one before it left.
  absl::Status Run();

  // Of the last run: its launches, and the profile of all of them together.
  const std::vector<executor::LaunchReport>& launches() const { return executor_->launches(); }
  executor::Profile Profile() const;

 private:
  ExecutorRun() = default;

  Binding binding_;
  std::unique_ptr<executor::Executor> executor_;
  std::vector<executor::Buffer> inputs_;
  executor::Buffer output_;
  executor::Buffer workspace_;
};

// One run on all cores with all checks. Errors are those above.
absl::StatusOr<executor::Profile> ProfileOnExecutor(const Config& config, uint64_t seed);

// Sets the columns of the memory behaviour as ncu defines them (ncu_metrics.h): loads and stores
// without atomic operations, efficiencies in percent of bytes that anybody asked for, each counted
// once. achieved_occupancy and branch_efficiency stay empty: time and machine code are not
// modelled. A cell is empty where there is nothing to divide by.
void SetProfileColumns(const executor::Profile& profile, ResultRow* row);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_EXECUTOR_RUN_H_
