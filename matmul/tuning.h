// The constants by which `auto` predicts the times of kernels (cost_model.h), for each GPU that
// stridewise_tune measured: built in (tuning.inc), and from the file that the environment variable
// STRIDEWISE_TUNING names. docs/tuning.md describes the files' format.

#ifndef STRIDEWISE_MATMUL_TUNING_H_
#define STRIDEWISE_MATMUL_TUNING_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "common/gpu/device_model.h"
#include "matmul/cost_model.h"

namespace stridewise {

// The environment variable.
inline constexpr char kTuningVariable[] = "STRIDEWISE_TUNING";

struct MatMulKernelTuning {
  std::string kernel;  // Its name in the registry.
  MatMulCostModel model;
};

// The constants of one GPU.
struct MatMulTuning {
  std::string device;  // As the driver calls it.
  int compute_capability = 0;
  int multiprocessors = 0;
  int memory_gbps = 0;  // The memory's highest rate; 0: not known.
  std::vector<MatMulKernelTuning> kernels;

  // Returns the kernel's; null where there is none.
  const MatMulCostModel* Find(absl::string_view kernel) const;
};

// Returns the tuning for a device whose memory has this rate: what memory takes is longer by as
// much as it is slower. The same where either rate is not known, 0.
MatMulTuning ForMemoryRate(MatMulTuning tuning, int memory_gbps);

// Returns the text of a tuning file.
std::string TuningText(const MatMulTuning& tuning);

// Reads such a text. Kernels that this program does not know are kept: their file may be older, or
// newer. Returns InvalidArgument, naming the line, for anything else that it does not understand,
// for negative or infinite constants, factors that are not positive, and kernels that stand twice.
absl::StatusOr<MatMulTuning> ParseTuning(absl::string_view text);

// Reads a file. Returns NotFound or InvalidArgument, naming it.
absl::StatusOr<MatMulTuning> LoadTuning(const std::string& path);

// Returns the tunings that are built in, by ascending compute capability.
absl::Span<const MatMulTuning> MatMulTunings();

// Returns the tuning of the file that STRIDEWISE_TUNING named when this or a choice was first asked
// for; null where it is not set, and where the file is bad, as TuningFileStatus() then says. `auto`
// goes on with the tunings that are built in. Safe to call from any thread.
const MatMulTuning* TuningFromFile();

// Returns why the file of STRIDEWISE_TUNING is not used; OK where it is, and where there is none.
// The library prints nothing: programs show this.
const absl::Status& TuningFileStatus();

// Returns the tuning for a device: of those with the nearest compute capability, the older of two
// equally near, those with the nearest number of multiprocessors, and of these the one whose
// memory's rate is nearest, or not known. REQUIRES: there is one.
const MatMulTuning& NearestTuning(absl::Span<const MatMulTuning* const> tunings,
                                  const DeviceModel& device);

// Returns the nearest of the file's and those built in; of two equally near the file's.
const MatMulTuning& TuningFor(const DeviceModel& device);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TUNING_H_
