#include "matmul/dispatch.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/status_macros.h"
#include "common/gpu/gpu_runtime.h"
#if STRIDEWISE_WITH_CUDA
#include "common/gpu/current_device.h"
#endif

namespace stridewise {
namespace {

bool HasNoElements(const MatMulArgs& args) { return args.m == 0 || args.n == 0 || args.batch == 0; }

// The most kernels that a choice considers: their predictions lie on the stack.
constexpr size_t kMostCandidates = 64;

// Corrections are within this factor: a kernel that is predicted to be slower by more is not worth
// their time.
constexpr double kWorthCorrecting = 3;

// Returns whether the row's kernel runs there, and takes the call.
bool Takes(const MatMulDispatch& row, const MatMulArgs& args, const DeviceModel& device,
           RunsOn runs_on) {
  const MatMulImplementation& entry = *row.entry;
  return entry.target.min_compute_capability <= device.compute_capability &&
         (runs_on == RunsOn::kDevice || entry.executor == Executor::kHostExecutable) &&
         row.takes.takes(args);
}

// Returns what the caller plans for, or the current device.
absl::StatusOr<DeviceModel> DeviceOf(const MatMulArgs& args) {
  if (args.device_model != nullptr) return *args.device_model;
  RETURN_IF_ERROR(gpu::CurrentComputeCapability().status());  // CurrentDeviceModel() has no errors.
#if STRIDEWISE_WITH_CUDA
  return CurrentDeviceModel();
#else
  return absl::UnavailableError("built without a CUDA toolkit");
#endif
}

}  // namespace

absl::Span<const MatMulDispatch> MatMulDispatchTable() {
  static const auto& table = *[] {
    auto* made = new std::vector<MatMulDispatch>;
    for (const MatMulImplementation& implementation : MatMulImplementations()) {
      if (implementation.dispatch.work == nullptr) continue;
      made->push_back({implementation.dispatch, implementation.name.c_str(), &implementation});
    }
    return made;
  }();
  return table;
}

MatMulChooser::MatMulChooser(const MatMulTuning& tuning) {
  for (const MatMulDispatch& row : MatMulDispatchTable()) {
    const MatMulCostModel* const model = tuning.Find(row.implementation);
    if (model != nullptr) candidates_.push_back({&row, *model});
  }
  if (candidates_.size() > kMostCandidates) candidates_.resize(kMostCandidates);
}

MatMulPrediction MatMulChooser::Choose(const MatMulArgs& args, const DeviceModel& device,
                                       RunsOn runs_on) const {
  struct Rough {
    MatMulWork work;
    double us = std::numeric_limits<double>::infinity();
  };
  Rough rough[kMostCandidates];
  double least = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < candidates_.size(); ++i) {
    const Candidate& candidate = candidates_[i];
    if (!Takes(*candidate.row, args, device, runs_on)) continue;
    rough[i].work = candidate.row->work(args, device, candidate.row->entry->tile);
    rough[i].us = UncorrectedUs(candidate.model.costs, rough[i].work);
    least = std::min(least, rough[i].us);
  }
  MatMulFeatures features;
  SetCallFeatures(args, &features);
  MatMulPrediction best;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (!(rough[i].us <= kWorthCorrecting * least)) continue;
    const Candidate& candidate = candidates_[i];
    SetKernelFeatures(candidate.model.costs, rough[i].work, &features);
    const double us = rough[i].us * CorrectionOf(candidate.model, features);
    if (us < best.us) best = {candidate.row, us};
  }
  if (best.row == nullptr) best.row = &MatMulDispatchTable().back();
  return best;
}

std::vector<MatMulPrediction> MatMulChooser::PredictAll(const MatMulArgs& args,
                                                        const DeviceModel& device,
                                                        RunsOn runs_on) const {
  std::vector<MatMulPrediction> predictions;
  MatMulFeatures features;
  SetCallFeatures(args, &features);
  for (const MatMulDispatch& row : MatMulDispatchTable()) {
    if (!Takes(row, args, device, runs_on)) continue;
    predictions.push_back({&row});
    for (const Candidate& candidate : candidates_) {
      if (candidate.row != &row) continue;
      const MatMulWork work = row.work(args, device, row.entry->tile);
      SetKernelFeatures(candidate.model.costs, work, &features);
      predictions.back().us =
          UncorrectedUs(candidate.model.costs, work) * CorrectionOf(candidate.model, features);
    }
  }
  return predictions;
}

const MatMulChooser& ChooserFor(const DeviceModel& device) {
  static const auto& choosers = *[] {
    auto* made = new std::vector<std::pair<const MatMulTuning*, MatMulChooser>>;
    if (const MatMulTuning* file = TuningFromFile()) made->emplace_back(file, *file);
    for (const MatMulTuning& tuning : MatMulTunings()) made->emplace_back(&tuning, tuning);
    return made;
  }();
  const MatMulTuning* const tuning = &TuningFor(device);
  return std::find_if(choosers.begin(), choosers.end(),
                      [&](const auto& chooser) { return chooser.first == tuning; })
      ->second;
}

const MatMulDispatch& ChooseMatMul(const MatMulArgs& args, const DeviceModel& device,
                                   RunsOn runs_on) {
  return *ChooserFor(device).Choose(args, device, runs_on).row;
}

MatMulArgs WithAnyWorkspace(MatMulArgs args) {
  args.workspace_bytes = kAnyWorkspace;
  return args;
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
  return MatMulWorkspaceBytes(*ChooseMatMul(WithAnyWorkspace(args), *device).entry, args);
}

}  // namespace stridewise
