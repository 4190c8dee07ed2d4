// What --gpus of matmul_sweep and transpose_sweep measures: products and transposes of operands
// that are spread over the GPUs of this machine, by this repository and by cuBLASMp.

#ifndef STRIDEWISE_BENCHMARKS_DISTRIBUTED_GRID_SWEEPS_H_
#define STRIDEWISE_BENCHMARKS_DISTRIBUTED_GRID_SWEEPS_H_

#include <memory>

#include "benchmarks/distributed/grid_devices.h"
#include "benchmarks/harness/grid_rows.h"

namespace stridewise {

// Measures on these devices.
class GridSweep : public GridRows {
 public:
  // The entry `summa` of products, or `exchange` of transposes; and `cublasmp` of both.
  enum class Of { kProducts, kTransposes };

  // Products have the axis `precision`, if it is given, of which they take what has no more error
  // than FP32.
  GridSweep(Of of, GridDevices devices, const Axis* precision = nullptr);

  const Operation& operation() const override { return *operation_; }
  absl::Status Measure(const Config& config, const SweepOptions& options, const Peer* peer,
                       const Machine& machine, ResultRow* row) const override;

 private:
  bool of_products_;
  GridDevices devices_;
  std::unique_ptr<Operation> operation_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_DISTRIBUTED_GRID_SWEEPS_H_
