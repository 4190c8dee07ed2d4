// How long kernels take at random products: what stridewise_tune measures, and keeps in a CSV with
// columns of its own.

#ifndef STRIDEWISE_BENCHMARKS_TUNING_KERNEL_TIMES_H_
#define STRIDEWISE_BENCHMARKS_TUNING_KERNEL_TIMES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "benchmarks/harness/problem.h"
#include "common/gpu/device_model.h"
#include "common/measure/csv.h"
#include "matmul/args.h"

namespace stridewise {

// A product to be measured. Its seed and number tell products of one file apart.
struct TuneShape {
  uint64_t seed = 0;
  int64_t number = 0;
  std::string family;
  Point point;
};

// The time of one kernel at one product. A kernel that makes use of a workspace has two: with all
// that it asks for, and with none.
struct KernelTime {
  std::string kernel;
  int64_t workspace_bytes = 0;
  int samples = 0;
  double ms = 0;  // The median.
};

// A product, and the kernels that were measured there. Those that are far too slow have no time.
struct ShapeTimes {
  TuneShape shape;
  MatMulArgs args;  // Without pointers and workspace.
  std::vector<KernelTime> times;
};

// All of a file: of one device.
struct TuneData {
  std::string device;
  DeviceModel model;
  std::vector<ShapeTimes> shapes;
};

// Returns `count` products: seven of eight of the families of the preset `random`, in turn, and
// each eighth a cube or a batch of products whose extents are multiples of four, by turns. They
// depend on the seed and their number alone.
absl::StatusOr<std::vector<TuneShape>> DrawTuneShapes(int64_t count, uint64_t seed);

// Return the header of the file, and the records of one product.
std::vector<std::string> TuneHeader();
std::vector<std::vector<std::string>> TuneRecords(const std::string& device,
                                                  const DeviceModel& model,
                                                  const ShapeTimes& shape);

// Reads such files, one after the other. Returns InvalidArgument, naming file and record, for what
// is no such record, and where they are of several devices.
absl::StatusOr<TuneData> ReadTuneData(absl::Span<const std::string> paths);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TUNING_KERNEL_TIMES_H_
