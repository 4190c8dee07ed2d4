#include "matmul/dispatch.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/status_macros.h"
#include "common/gpu/gpu_runtime.h"
#include "matmul/dispatch_conditions.h"

namespace stridewise {
namespace {

bool HasNoElements(const MatMulArgs& args) { return args.m == 0 || args.n == 0 || args.batch == 0; }

bool CanRun(const MatMulImplementation& implementation, const DeviceModel& device, RunsOn runs_on) {
  return implementation.target.min_compute_capability <= device.compute_capability &&
         (runs_on == RunsOn::kDevice || implementation.executor == Executor::kHostExecutable);
}

// The time that these tiles take to cover C, in elements of the largest tiles.
double Cost(const MatMulArgs& args, const MatMulTuning& tuning, const MatMulTile& tile) {
  const int64_t percent = tile.cost == nullptr ? 100 : tuning.*tile.cost;
  return static_cast<double>(Tiles(args, tile.rows, tile.cols) * tile.rows * tile.cols) *
         (static_cast<double>(percent) / 100);
}

// Returns what the caller plans for or, the current device.
absl::StatusOr<DeviceModel> DeviceOf(const MatMulArgs& args) {
  if (args.device_model != nullptr) return *args.device_model;
  ASSIGN_OR_RETURN(const DeviceModel* device, gpu::CurrentModel());
  return *device;
}

}  // namespace

absl::Span<const MatMulDispatch> MatMulDispatchTable() {
  static const auto& table = *[] {
    auto* made = new std::vector<MatMulDispatch>;
    for (const MatMulImplementation& implementation : MatMulImplementations()) {
      if (implementation.dispatch.applies == nullptr) continue;
      made->push_back({implementation.dispatch, implementation.name.c_str(), &implementation});
    }
    return made;
  }();
  return table;
}

bool CoversFastest(const MatMulArgs& args, const MatMulTuning& tuning, int64_t rows, int64_t cols) {
  double own = std::numeric_limits<double>::infinity();
  double larger = own;
  for (const MatMulDispatch& row : MatMulDispatchTable()) {
    const MatMulTile& tile = row.entry->tile;
    if (tile.rows == rows && tile.cols == cols) own = Cost(args, tuning, tile);
    if (tile.rows * tile.cols > rows * cols) larger = std::min(larger, Cost(args, tuning, tile));
  }
  return own < larger;
}

const MatMulDispatch& ChooseMatMul(const MatMulArgs& args, const DeviceModel& device,
                                   RunsOn runs_on) {
  return ChooseMatMul(args, device, runs_on, TuningFor(device.compute_capability));
}

const MatMulDispatch& ChooseMatMul(const MatMulArgs& args, const DeviceModel& device,
                                   RunsOn runs_on, const MatMulTuning& tuning) {
  const MatMulDispatch* row = MatMulDispatchTable().data();
  while (!CanRun(*row->entry, device, runs_on) || !row->applies(args, tuning)) ++row;
  return *row;
}

absl::Status RunChosenMatMul(const MatMulArgs& args, const DeviceModel& device, RunsOn runs_on,
                             absl::Status (*run)(const MatMulImplementation& implementation,
                                                 const MatMulArgs& args)) {
  if (HasNoElements(args)) return absl::OkStatus();
  return run(*ChooseMatMul(args, device, runs_on).entry, args);
}

LaunchStatus MatMulAuto(const MatMulArgs& args) {
  if (HasNoElements(args)) return absl::OkStatus();  // Which needs no device.
  ASSIGN_OR_RETURN(const DeviceModel device, DeviceOf(args));
  return RunChosenMatMul(args, device, RunsOn::kDevice, RunMatMul);
}

// Returns 0 where there is no device to choose for.
int64_t MatMulAutoWorkspaceBytes(const MatMulArgs& args) {
  if (HasNoElements(args)) return 0;
  const absl::StatusOr<DeviceModel> device = DeviceOf(args);
  if (!device.ok()) return 0;
  return MatMulWorkspaceBytes(*ChooseMatMul(args, *device).entry, args);
}

}  // namespace stridewise
