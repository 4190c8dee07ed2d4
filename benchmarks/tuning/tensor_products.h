// How long the kernels of tensor cores take for products, from files of matmul_sweep.

#ifndef STRIDEWISE_BENCHMARKS_TUNING_TENSOR_PRODUCTS_H_
#define STRIDEWISE_BENCHMARKS_TUNING_TENSOR_PRODUCTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/gpu/device_model.h"
#include "matmul/tensor_plans.h"

namespace stridewise {

// A measured kernel at one product, and the division that it took.
struct TensorTime {
  std::string kernel;
  double us;
  TensorPrediction prediction;
};

// The kernels of a product.
using TensorProduct = std::vector<TensorTime>;

// Returns the products of sweeps' CSVs of `matmul_sweep`, BF16 and FP16 without epilogue and beta.
// Rows of kernels without a plan here are passed over. Returns InvalidArgument for a file that
// lacks a column.
absl::StatusOr<std::vector<TensorProduct>> ReadTensorProducts(absl::Span<const std::string> paths,
                                                              const DeviceModel& device);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TUNING_TENSOR_PRODUCTS_H_
