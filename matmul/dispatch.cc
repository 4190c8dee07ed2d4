#include "matmul/dispatch.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <mutex>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/status_macros.h"
#include "common/gpu/gpu_runtime.h"
#include "matmul/epilogue_pass.h"
#include "matmul/latest_choices.h"

namespace stridewise {
namespace {

bool HasNoElements(const MatMulArgs& args) { return args.m == 0 || args.n == 0 || args.batch == 0; }

// The most kernels that a choice considers: their predictions lie on the stack.
constexpr size_t kMostCandidates = 32;

// Of this factor or more no kernel is faster without its workspace.
constexpr double kNearTheBest = 1.5;

bool IsFp32(const MatMulArgs& args) {
  return args.a.type == ElementType::kFloat && args.precision == MatMulPrecision::kFp32;
}

// Returns the rows of what is not FP32, in the order of the registry.
absl::Span<const MatMulDispatch> FirstRows() {
  static const auto& rows = *[] {
    auto* made = new std::vector<MatMulDispatch>;
    for (const MatMulImplementation& implementation : MatMulImplementations()) {
      if (!implementation.dispatch.first) continue;
      made->push_back({implementation.dispatch, implementation.name.c_str(), &implementation});
    }
    return made;
  }();
  return rows;
}

// Returns whether the entry has the types and the precision of the call.
bool HasTypes(const MatMulImplementation& entry, const MatMulArgs& args) {
  return FindTypes(entry, args) != nullptr && TakesPrecision(entry, args.precision, args.a.type);
}

}  // namespace

absl::StatusOr<DeviceModel> PlannedDevice(const MatMulArgs& args) {
  if (args.device_model != nullptr) return *args.device_model;
  ASSIGN_OR_RETURN(const DeviceModel* device, gpu::CurrentModel());
  return *device;
}

MatMulArgs InFp32(MatMulArgs args) {
  args.precision = MatMulPrecision::kFp32;
  return args;
}

bool TakesCall(const MatMulDispatch& row, const MatMulArgs& args, const DeviceModel& device,
               RunsOn runs_on) {
  const MatMulImplementation& entry = *row.entry;
  return HasWhatItTakes(device, entry.target) &&
         (runs_on == RunsOn::kDevice || entry.executor == Executor::kHostExecutable) &&
         (row.first ? HasTypes(entry, args) : IsFp32(args)) && row.takes.takes(args);
}

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
  const MatMulCall call(args, device);
  MatMulWork work[kMostCandidates];
  double rough_us[kMostCandidates];
  size_t first = 0;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    const Candidate& candidate = candidates_[i];
    rough_us[i] = std::numeric_limits<double>::infinity();
    if (!TakesCall(*candidate.row, args, device, runs_on)) continue;
    work[i] = candidate.row->work(call, candidate.row->entry->tile);
    rough_us[i] = UncorrectedUs(candidate.model.costs, work[i]);
    if (rough_us[i] < rough_us[first]) first = i;
  }
  MatMulFeatures features;
  SetCallFeatures(call, &features);
  MatMulPrediction best;
  const auto correct = [&](size_t i) {
    const Candidate& candidate = candidates_[i];
    // Corrections take most of the time of a choice.
    if (!(rough_us[i] * candidate.model.least_correction < best.us)) return;
    SetKernelFeatures(candidate.model.costs, work[i], &features);
    const double us = rough_us[i] * CorrectionOf(candidate.model, features);
    if (us < best.us) best = {candidate.row, us, true};
  };
  if (!candidates_.empty()) correct(first);
  for (size_t i = 0; i < candidates_.size(); ++i) {
    if (i != first) correct(i);
  }
  // Those that would keep partial sums in the workspace, and are not far behind, without it.
  MatMulCall without = call;
  without.workspace_bytes = 0;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    const Candidate& candidate = candidates_[i];
    if (!(rough_us[i] < kNearTheBest * best.us) || work[i].fixup_mb == 0) continue;
    work[i] = candidate.row->work(without, candidate.row->entry->tile);
    const double rough = UncorrectedUs(candidate.model.costs, work[i]);
    if (!(rough * candidate.model.least_correction < best.us)) continue;
    SetKernelFeatures(candidate.model.costs, work[i], &features);
    const double us = rough * CorrectionOf(candidate.model, features);
    if (us < best.us) best = {candidate.row, us, false};
  }
  if (best.row == nullptr) best.row = &MatMulDispatchTable().back();
  return best;
}

std::vector<MatMulPrediction> MatMulChooser::PredictAll(const MatMulArgs& args,
                                                        const DeviceModel& device,
                                                        RunsOn runs_on) const {
  std::vector<MatMulPrediction> predictions;
  const MatMulCall call(args, device);
  MatMulFeatures features;
  SetCallFeatures(call, &features);
  for (const MatMulDispatch& row : MatMulDispatchTable()) {
    if (!TakesCall(row, args, device, runs_on)) continue;
    predictions.push_back({&row});
    for (const Candidate& candidate : candidates_) {
      if (candidate.row != &row) continue;
      const MatMulWork work = row.work(call, row.entry->tile);
      SetKernelFeatures(candidate.model.costs, work, &features);
      predictions.back().us =
          UncorrectedUs(candidate.model.costs, work) * CorrectionOf(candidate.model, features);
    }
  }
  return predictions;
}

const MatMulChooser& ChooserFor(const DeviceModel& device) {
  struct Made {
    const MatMulTuning* tuning;
    int memory_gbps;
    MatMulChooser chooser;
  };
  static auto& mutex = *new std::mutex;
  static auto& choosers = *new std::deque<Made>;  // Those that are there stay where they are.
  const MatMulTuning* const tuning = &TuningFor(device);
  const std::lock_guard<std::mutex> lock(mutex);
  for (const Made& made : choosers) {
    if (made.tuning == tuning && made.memory_gbps == device.memory_gbps) return made.chooser;
  }
  choosers.push_back(
      {tuning, device.memory_gbps, MatMulChooser(ForMemoryRate(*tuning, device.memory_gbps))});
  return choosers.back().chooser;
}

namespace {

MatMulPrediction PredictAnew(const MatMulArgs& args, const DeviceModel& device, RunsOn runs_on) {
  const MatMulChooser& chooser = ChooserFor(device);
  if (args.workspace_bytes == 0 || args.workspace_bytes == kAnyWorkspace) {
    return chooser.Choose(args, device, runs_on);
  }
  MatMulArgs any = WithAnyWorkspace(args);
  any.device_model = &device;
  const MatMulPrediction best = chooser.Choose(any, device, runs_on);
  if (!best.uses_workspace || MatMulWorkspaceBytes(*best.row->entry, any) <= args.workspace_bytes) {
    return best;
  }
  return chooser.Choose(args, device, runs_on);
}

}  // namespace

MatMulPrediction PredictMatMul(const MatMulArgs& args, const DeviceModel& device, RunsOn runs_on) {
  if (!IsFp32(args)) {
    for (const MatMulDispatch& row : FirstRows()) {
      if (TakesCall(row, args, device, runs_on)) return {&row, 0};
    }
    if (args.precision == MatMulPrecision::kFp32) return {&FirstRows().back(), 0};
    return PredictMatMul(InFp32(args), device, runs_on);
  }
  static thread_local LatestChoices<MatMulPrediction> latest;
  return latest.For(args, device, runs_on == RunsOn::kDevice ? 1 : 0,
                    [&] { return PredictAnew(args, device, runs_on); });
}

const MatMulDispatch& ChooseMatMul(const MatMulArgs& args, const DeviceModel& device,
                                   RunsOn runs_on) {
  return *PredictMatMul(args, device, runs_on).row;
}

MatMulArgs WithAnyWorkspace(MatMulArgs args) {
  args.workspace_bytes = kAnyWorkspace;
  return args;
}

absl::Status RunChosenMatMul(const MatMulArgs& args, const DeviceModel& device, RunsOn runs_on,
                             absl::Status (*run)(const MatMulImplementation& implementation,
                                                 const MatMulArgs& args)) {
  if (HasNoElements(args)) return absl::OkStatus();
  const MatMulPrediction best = PredictMatMul(args, device, runs_on);
  if (best.uses_workspace) return run(*best.row->entry, args);
  MatMulArgs without = args;
  without.workspace_bytes = 0;
  return run(*best.row->entry, without);
}

absl::Status RunChosenEntry(const MatMulImplementation& entry, const MatMulArgs& args,
                            absl::Status (*epilogue_pass)(const MatMulArgs& args)) {
  MatMulArgs taken = HasTypes(entry, args) ? args : InFp32(args);
  taken.block = entry.default_block;
  const bool needs_pass = !entry.takes_epilogue && HasEpilogue(args);
  if (needs_pass) taken.epilogue = MatMulEpilogue();
  RETURN_IF_ERROR(entry.run(taken));
  return needs_pass ? epilogue_pass(args) : absl::OkStatus();
}

absl::Status RunChosenEntry(const MatMulImplementation& entry, const MatMulArgs& args) {
  return RunChosenEntry(entry, args, ApplyEpilogue);
}

LaunchStatus MatMulAuto(const MatMulArgs& args) {
  if (HasNoElements(args)) return absl::OkStatus();  // Which needs no device.
  ASSIGN_OR_RETURN(const DeviceModel device, PlannedDevice(args));
  return RunChosenMatMul(args, device, RunsOn::kDevice, RunChosenEntry);
}

// Returns 0 where there is no device to choose for.
int64_t MatMulAutoWorkspaceBytes(const MatMulArgs& args) {
  if (HasNoElements(args)) return 0;
  const absl::StatusOr<DeviceModel> device = PlannedDevice(args);
  if (!device.ok()) return 0;
  const MatMulPrediction best = PredictMatMul(WithAnyWorkspace(args), *device);
  return best.uses_workspace ? MatMulWorkspaceBytes(*best.row->entry, args) : 0;
}

}  // namespace stridewise
