#include "benchmarks/profile/predicted_demand.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/harness/executor_run.h"
#include "benchmarks/profile/compiled_kernels.h"
#include "common/base/status_macros.h"
#include "common/executor/executor.h"
#include "common/executor/symbolizer.h"

namespace stridewise {
namespace {

using executor::Demand;
using executor::MachineModel;

constexpr int64_t kPeriod = 1024;  // Patterns of addresses repeat after it.
constexpr int64_t kMostOfExtent = 3 * kPeriod;
constexpr int64_t kDepthPeriod = 64;
constexpr int64_t kMostOfDepth = 512;
constexpr size_t kMostRequests = size_t{1} << 19;

// The number of sampled blocks: fewer where a block does much.
int SampledBlocks(const Config& config) { return config.point.extents.size() > 2 ? 12 : 48; }

int64_t SmallerExtent(int64_t extent) {
  return extent < kMostOfExtent ? extent : 2 * kPeriod + extent % kPeriod;
}

absl::StatusOr<Demand> Count(const Config& config, const MachineModel& machine) {
  executor::ExecutorOptions options;
  options.check = false;  // Blocks that do not run leave results missing.
  options.threads = 1;
  options.record_every_block = true;
  options.max_recorded_requests = kMostRequests;
  const int most = SampledBlocks(config);
  std::vector<uint64_t> sample;
  Grid sampled_grid{0, 0, 0};
  options.only = [&](const Extent3& block, const Grid& grid) {
    if (grid.x != sampled_grid.x || grid.y != sampled_grid.y || grid.z != sampled_grid.z) {
      sampled_grid = grid;
      sample = executor::SampleBlocks(machine, grid.x * grid.y * grid.z, most);
    }
    return std::binary_search(sample.begin(), sample.end(),
                              block.x + grid.x * (block.y + grid.y * block.z));
  };
  ASSIGN_OR_RETURN(ExecutorRun run, ExecutorRun::Create(config, /*seed=*/1, options));
  RETURN_IF_ERROR(run.Run());
  Demand demand;
  for (const executor::LaunchReport& launch : run.launches()) {
    const std::string name = executor::SymbolizeFunctions({launch.kernel}).front().full_name;
    const executor::CompiledKernel* compiled = FindCompiledKernel(executor::KernelKey(name));
    demand.Add(executor::DemandOf(launch, machine, compiled));
  }
  return demand;
}

// The demand of a product whose depth is counted as it is, or on a straight line.
absl::StatusOr<Demand> CountDepth(const Config& config, const MachineModel& machine) {
  if (config.point.extents.size() < 3 || config.point.extents[2] < kMostOfDepth) {
    return Count(config, machine);
  }
  const int64_t depth = config.point.extents[2];
  const int64_t first = 2 * kDepthPeriod + depth % kDepthPeriod;
  const int64_t second = 2 * first - depth % kDepthPeriod;
  Config smaller = config;
  smaller.point.extents[2] = first;
  ASSIGN_OR_RETURN(const Demand a, Count(smaller, machine));
  smaller.point.extents[2] = second;
  ASSIGN_OR_RETURN(const Demand b, Count(smaller, machine));
  const double along = static_cast<double>(depth - first) / static_cast<double>(second - first);
  Demand demand;
  demand.Add(a, 1 - along);
  demand.Add(b, along);
  return demand;
}

}  // namespace

absl::StatusOr<Demand> PredictedDemand(const Config& config, const MachineModel& machine) {
  Config smaller = config;
  double scale = static_cast<double>(config.point.batch);
  smaller.point.batch = 1;
  for (size_t i = 0; i < 2; ++i) {
    int64_t& extent = smaller.point.extents[i];
    scale *= static_cast<double>(extent);
    extent = SmallerExtent(extent);
    scale /= static_cast<double>(extent);
  }
  ASSIGN_OR_RETURN(const Demand counted, CountDepth(smaller, machine));
  Demand demand;
  demand.Add(counted, scale);
  demand.launches = counted.launches;
  if (demand.totals[executor::Quantity::kInstructions] == 0) {
    const Work work = config.operation->MakeProblem(config.point)->work();
    demand.totals[executor::Quantity::kFusedMultiplyAdds] = work.flops / 2 / executor::kWarpLanes;
  }
  demand.fp64 = config.point.type == "double";
  return demand;
}

}  // namespace stridewise
