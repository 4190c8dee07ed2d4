// Which implementation `auto` runs: of those lines of kernels.inc that say what they take, the one
// whose time for the call is predicted to be the least (cost_model.h, tuning.h). Tests walk the
// table, and programs print it.

#ifndef STRIDEWISE_MATMUL_DISPATCH_H_
#define STRIDEWISE_MATMUL_DISPATCH_H_

#include <limits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/gpu/device_model.h"
#include "matmul/registry.h"
#include "matmul/tuning.h"

namespace stridewise {

struct MatMulDispatch : MatMulDispatchRule {
  const char* implementation = "";  // Its name in the registry. Takes the general form.
  const MatMulImplementation* entry = nullptr;
};

absl::Span<const MatMulDispatch> MatMulDispatchTable();

// Where the chosen kernel runs: on the device itself, or on the host executor, which runs only
// kernels of Executor::kHostExecutable.
enum class RunsOn { kDevice, kHostExecutor };

// Returns whether the row's kernel runs there, and takes the call.
bool TakesCall(const MatMulDispatch& row, const MatMulArgs& args, const DeviceModel& device,
               RunsOn runs_on);

// A kernel that takes a call, and the microseconds that it is predicted to take: infinite where the
// tuning does not know it.
struct MatMulPrediction {
  const MatMulDispatch* row = nullptr;
  double us = std::numeric_limits<double>::infinity();
  // False where the kernel is faster if it is not told of the workspace: clusters may divide tiles
  // faster than partial sums in memory do.
  bool uses_workspace = true;
};

// Chooses by one tuning.
class MatMulChooser {
 public:
  // Copies what it needs of the tuning.
  explicit MatMulChooser(const MatMulTuning& tuning);

  // Returns the row for these arguments on such a device: the one with the least predicted time, of
  // those that take the call and run there; where the tuning knows none of them, the last of the
  // table, which takes everything. Looks at shape, form, workspace and addresses, never at what
  // they point to. Allocates nothing.
  MatMulPrediction Choose(const MatMulArgs& args, const DeviceModel& device, RunsOn runs_on) const;

  // Returns the predictions for all that take the call, in the order of the table.
  std::vector<MatMulPrediction> PredictAll(const MatMulArgs& args, const DeviceModel& device,
                                           RunsOn runs_on) const;

 private:
  // A row of the table whose kernel the tuning knows.
  struct Candidate {
    const MatMulDispatch* row;
    MatMulCostModel model;
  };

  std::vector<Candidate> candidates_;
};

// Returns the chooser by TuningFor(device), for the rate of the device's memory. It lives on.
const MatMulChooser& ChooserFor(const DeviceModel& device);

// Returns what ChooserFor(device) chooses. Where the workspace suffices for what would be chosen
// with any, that is chosen: so a call with the workspace that `auto` asks for runs the kernel that
// it was asked for. What is not FP32 has no prediction (0 us), and the first row of it that takes
// the call; where none takes a lesser precision, the choice is that of kFp32. A thread
// remembers its latest choices, which changes nothing but the time.
MatMulPrediction PredictMatMul(const MatMulArgs& args, const DeviceModel& device,
                               RunsOn runs_on = RunsOn::kDevice);

// Returns its row.
const MatMulDispatch& ChooseMatMul(const MatMulArgs& args, const DeviceModel& device,
                                   RunsOn runs_on = RunsOn::kDevice);

// Returns what the caller plans for, or the current device.
absl::StatusOr<DeviceModel> PlannedDevice(const MatMulArgs& args);

// Returns the call with the precision that is never less exact.
MatMulArgs InFp32(MatMulArgs args);

// Runs the entry as `auto` does: in FP32 where it does not take the precision of the arguments, and
// with a pass over C for an epilogue that it does not take. REQUIRES: `auto` takes the arguments,
// and the entry is one that it may choose for them, or the same elsewhere with the pass of there.
absl::Status RunChosenEntry(const MatMulImplementation& entry, const MatMulArgs& args,
                            absl::Status (*epilogue_pass)(const MatMulArgs& args));
absl::Status RunChosenEntry(const MatMulImplementation& entry, const MatMulArgs& args);

// Returns the arguments as if there were as much workspace as any kernel asks for.
MatMulArgs WithAnyWorkspace(MatMulArgs args);

// Hands the chosen implementation and its arguments to `run`, which is RunChosenEntry() or does the
// same elsewhere. Returns OK and runs nothing where C has no elements.
absl::Status RunChosenMatMul(const MatMulArgs& args, const DeviceModel& device, RunsOn runs_on,
                             absl::Status (*run)(const MatMulImplementation& implementation,
                                                 const MatMulArgs& args));

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DISPATCH_H_
