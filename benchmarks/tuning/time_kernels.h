// Measures the kernels that `auto` chooses among at random products.

#ifndef STRIDEWISE_BENCHMARKS_TUNING_TIME_KERNELS_H_
#define STRIDEWISE_BENCHMARKS_TUNING_TIME_KERNELS_H_

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmarks/tuning/kernel_times.h"
#include "common/gpu/buffer.h"
#include "common/gpu/device.h"
#include "common/gpu/device_model.h"
#include "common/measure/gpu_timer.h"
#include "matmul/registry.h"

namespace stridewise {

// Times the kernels of one product in turn, round after round, with a cold L2, so that all see the
// same clock and temperature. Kernels that are hopeless get few samples or none: see the constants
// of the file. All products use the same buffers, which are filled once.
class KernelTimer {
 public:
  // Times the kernels of these names, or all where there are none. Takes up to half of the device's
  // memory. REQUIRES: `device` is current; `timer` outlives it.
  static absl::StatusOr<std::unique_ptr<KernelTimer>> Create(const DeviceInfo& device,
                                                             const std::set<std::string>& kernels,
                                                             GpuTimer* timer);

  const DeviceModel& model() const { return model_; }

  // Returns the times at this product; none where it does not fit in the buffers. An error of a
  // kernel ends all: it would not be the last.
  absl::StatusOr<ShapeTimes> Measure(const TuneShape& shape);

 private:
  // A kernel with a workspace, or without.
  struct Arm {
    const MatMulImplementation* kernel = nullptr;
    int64_t workspace_bytes = 0;
    std::vector<double> ms;
    bool hopeless = false;
  };

  KernelTimer() = default;
  bool Fits(const MatMulArgs& args) const;
  std::vector<Arm> ArmsOf(const MatMulArgs& args) const;
  absl::Status TimeOnce(const MatMulArgs& args, Arm* arm);
  absl::Status WarmUp();

  std::set<std::string> kernels_;
  GpuTimer* timer_ = nullptr;
  DeviceModel model_;
  DeviceBuffer a_, b_, c_, workspace_;
  // The best of a kernel so far, and the number of times that it began a product.
  struct Rate {
    double flops_per_ms = 0;
    int products = 0;
  };
  std::map<std::string, Rate> best_rate_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TUNING_TIME_KERNELS_H_
