// The flags of the worker.

#ifndef STRIDEWISE_BENCHMARKS_DISTRIBUTED_WORKER_TASK_H_
#define STRIDEWISE_BENCHMARKS_DISTRIBUTED_WORKER_TASK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "benchmarks/distributed/gpu_ranks.h"
#include "common/distributed/block_cyclic.h"

namespace stridewise {

// What the command line says, the same on all ranks.
struct WorkerTask {
  bool is_product = true;
  bool on_gpu = false;
  GpuRank::Transport transport = GpuRank::Transport::kNccl;  // Of GPUs.
  std::vector<std::vector<int64_t>> shapes;
  RankGrid grid;
  std::vector<int64_t> block;
  std::vector<std::string> types;
  double alpha = 1, beta = 0;  // Of products.
  uint64_t seed = 0;
  int64_t repeat = 1;
  double seconds = 0;  // --timeout
};

// Returns InvalidArgument, with a line that names the flag, its value and what is allowed for so
// many ranks.
absl::StatusOr<WorkerTask> ReadWorkerTask(int ranks);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_DISTRIBUTED_WORKER_TASK_H_
