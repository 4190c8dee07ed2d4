// How much the error of a measured time counts in a fit: what matters is which kernel is chosen.

#ifndef STRIDEWISE_BENCHMARKS_TUNING_SAMPLE_WEIGHTS_H_
#define STRIDEWISE_BENCHMARKS_TUNING_SAMPLE_WEIGHTS_H_

#include <cstddef>
#include <vector>

#include "benchmarks/tuning/common_errors.h"

namespace stridewise {

// Gives an error the weight, too, that it would have if the predictions were the times, where that
// is the greater one: a slow kernel that is predicted to be fast is chosen. Kernels without
// workspace are compared with those without alone. Of 2657 products on an H100 the regret at the
// 99th percentile falls from 1.115 to 1.106, without a workspace from 1.115 to 1.111.
void WeighByPredictions(size_t products, std::vector<KernelSamples>* kernels);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_TUNING_SAMPLE_WEIGHTS_H_
