// From what the library measured to the columns of a row.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_ROW_COLUMNS_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_ROW_COLUMNS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "benchmarks/harness/problem.h"
#include "common/gpu/buffer.h"
#include "common/gpu/device.h"
#include "common/gpu/nvml.h"
#include "common/measure/device_measurement.h"
#include "common/measure/result_row.h"
#include "common/measure/statistics.h"

namespace stridewise {

// "pageable" or "pinned".
absl::string_view HostMemoryName(HostMemory memory);

// samples and kernel_ms_*. The confidence interval and the deviation need several samples.
void SetKernelTimes(const Summary& kernel, ResultRow* row);

// The clock, power, temperature and throttle reason that are known.
void SetState(const DeviceState& state, ResultRow* row);

// Returns the column `kernels`: names in order, with ";" between them; one that comes n times in a
// row once, with " xn". Behind 100 of these, the number of launches that are left: a batch of
// thousands fills no more than a spreadsheet's cell of 32767 characters.
std::string KernelsText(absl::Span<const std::string> names);

// Kernel times, phases, the state of the device and the kernels' names.
void SetMeasurement(const DeviceMeasurement& measurement, ResultRow* row);

// Returns what the time of a run grows with: operations or, where there are none, bytes.
double WorkToTime(const Work& work);

// Sets gbps and, for work with operations, gflops.
void SetRates(const Work& work, const Summary& kernel, ResultRow* row);

// The same for a device row, with pct_of_peak (of arithmetic for work with operations, otherwise of
// the memory's bandwidth) and bound_ms, the time below which no implementation gets for work whose
// data comes from memory. Unknown peaks are 0. Internal if the work was done faster than the device
// can: above the arithmetic's peak, or above the memory's with more data than the L2 may have held.
absl::Status SetDeviceRates(const Work& work, const Summary& kernel, double peak_gflops,
                            const DeviceInfo& device, ResultRow* row);

// The same for a row of the host, from peaks that were measured on its threads. A processor's clock
// moves: nothing is an error.
void SetHostRates(const Work& work, const Summary& kernel, double peak_gflops, double copy_gbps,
                  ResultRow* row);

// status and message. Cancelled leaves both empty: the row is not finished. Other codes:
// Unavailable is skipped, ResourceExhausted out_of_memory, DataLoss mismatch, InvalidArgument and
// Unimplemented unsupported, DeadlineExceeded timeout, the rest error.
void SetOutcome(const absl::Status& status, ResultRow* row);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_ROW_COLUMNS_H_
