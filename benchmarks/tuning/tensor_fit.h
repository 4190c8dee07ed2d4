// From times of the kernels of tensor cores to the tables of matmul/tensor_corrections.inc.

#ifndef STRIDEWISE_BENCHMARKS_TUNING_TENSOR_FIT_H_
#define STRIDEWISE_BENCHMARKS_TUNING_TENSOR_FIT_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "benchmarks/tuning/boost.h"
#include "benchmarks/tuning/tensor_products.h"
#include "matmul/tensor_plans.h"
#include "matmul/tensor_tables.h"

namespace stridewise {

using TensorTables = std::map<TensorPredicted, std::vector<TensorTable>>;

// Returns the tables that are built in.
TensorTables BuiltInTensorTables();

// Returns these, and new ones in the place of those of what the products have at least 50 times of.
TensorTables FitTensorTables(absl::Span<const TensorProduct> products,
                             const CorrectionOptions& options);

// Returns the tables that are built in with more on top, found in what they leave of the products'
// times: for GPUs whose memory has at least `least_gbps`. For others nothing changes, so that a few
// hundred times of one GPU mend a fit to thousands of another's. Where `kernels` are named, these
// alone have more, found beside what is left of all others' times in the mean.
TensorTables FitOnTop(absl::Span<const TensorProduct> products, const CorrectionOptions& options,
                      double least_gbps, const std::set<std::string>& kernels = {});

// Returns the microseconds that the tables make of a prediction.
double CorrectedBy(const TensorTables& tables, const TensorPrediction& prediction);

// Returns of each product the time of the kernel that is chosen by the tables over that of the
// fastest, in ascending order.
std::vector<double> RegretsOf(absl::Span<const TensorProduct> products, const TensorTables& tables);

// Returns the text of matmul/tensor_corrections.inc.
std::string TextOf(const TensorTables& tables);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TUNING_TENSOR_FIT_H_
