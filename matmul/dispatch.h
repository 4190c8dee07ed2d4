// Which implementation `auto` runs. The table is made of those lines of kernels.inc that say when
// they apply, in their order: the first that applies wins, and the last applies to everything.
// Tests walk the table, and programs print it.

#ifndef STRIDEWISE_MATMUL_DISPATCH_H_
#define STRIDEWISE_MATMUL_DISPATCH_H_

#include "absl/status/status.h"
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

// Returns the row for these arguments on such a device: the first that applies, of those whose
// implementation runs there. Looks at shape, form, workspace and addresses, never at what they
// point to. The thresholds are those of TuningFor(device.compute_capability), unless given.
const MatMulDispatch& ChooseMatMul(const MatMulArgs& args, const DeviceModel& device,
                                   RunsOn runs_on = RunsOn::kDevice);
const MatMulDispatch& ChooseMatMul(const MatMulArgs& args, const DeviceModel& device,
                                   RunsOn runs_on, const MatMulTuning& tuning);

// Hands the chosen implementation and its arguments to `run`, which is RunMatMul() or does the same
// elsewhere. Returns OK and runs nothing where C has no elements.
absl::Status RunChosenMatMul(const MatMulArgs& args, const DeviceModel& device, RunsOn runs_on,
                             absl::Status (*run)(const MatMulImplementation& implementation,
                                                 const MatMulArgs& args));

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DISPATCH_H_
