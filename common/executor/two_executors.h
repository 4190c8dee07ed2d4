// Two executors on which tests run a kernel, so that it meets more than one schedule.

#ifndef STRIDEWISE_COMMON_EXECUTOR_TWO_EXECUTORS_H_
#define STRIDEWISE_COMMON_EXECUTOR_TWO_EXECUTORS_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/status_macros.h"
#include "common/executor/executor.h"

namespace stridewise::executor {

// Returns one with a core and everything in order, and one with two cores and another order.
inline absl::StatusOr<std::vector<std::unique_ptr<Executor>>> TwoExecutors() {
  std::vector<std::unique_ptr<Executor>> executors;
  for (const auto& [threads, seed] : {std::pair<int, uint64_t>{1, 0}, {2, 41}}) {
    ExecutorOptions options;
    options.threads = threads;
    options.schedule_seed = seed;
    ASSIGN_OR_RETURN(auto executor, Executor::Create(options));
    executors.push_back(std::move(executor));
  }
  return executors;
}

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_TWO_EXECUTORS_H_
