// From what the library measured to the columns of a row.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_ROW_COLUMNS_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_ROW_COLUMNS_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "common/gpu/buffer.h"
#include "common/gpu/device.h"
#include "common/measure/device_measurement.h"
#include "common/measure/result_row.h"
#include "common/measure/statistics.h"

namespace stridewise {

// "pageable" or "pinned".
absl::string_view HostMemoryName(HostMemory memory);

// samples and kernel_ms_*. The confidence interval and the deviation need several samples.
void SetKernelTimes(const Summary& kernel, ResultRow* row);

// Kernel times, phases, the state of the device and the kernels' names.
void SetMeasurement(const DeviceMeasurement& measurement, ResultRow* row);

// gbps, pct_of_copy, where the measurement had a copy as its reference, and pct_of_peak, of the
// memory's bandwidth, for work that moves so many bytes, read and written. Internal if they moved
// faster than the memory can and are too many for the L2 to have hidden it.
absl::Status SetBandwidth(const DeviceMeasurement& measurement, double bytes_moved,
                          const DeviceInfo& device, ResultRow* row);

// status and message. Cancelled leaves both empty: the row is not finished. Other codes:
// Unavailable is skipped, ResourceExhausted out_of_memory, DataLoss mismatch, InvalidArgument and
// Unimplemented unsupported, DeadlineExceeded timeout, the rest error.
void SetOutcome(const absl::Status& status, ResultRow* row);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_ROW_COLUMNS_H_
