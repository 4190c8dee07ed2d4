// Predicts how long a kernel takes for a call: the sum of what it does (kernel_work.h), each count
// times a constant of the kernel and the GPU, and corrections.
//
//   microseconds = (fixed + launches + rounds + ... + fixup_mb + packed_mb, each times its
//   constant)
//                  beside dram_mb times its own: arithmetic and memory overlap, so that the result
//                  is the fourth root of the sum of their fourth powers, the larger of the two and
//                  at most 19 % more;
//   times one factor from each correction (factor_table.h), for what the counts do not know.
//
// The constants are fitted to times measured on the GPU (benchmarks/tuning); tuning.h has them.

#ifndef STRIDEWISE_MATMUL_COST_MODEL_H_
#define STRIDEWISE_MATMUL_COST_MODEL_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/gpu/device_model.h"
#include "matmul/args.h"
#include "matmul/factor_table.h"
#include "matmul/kernel_work.h"

namespace stridewise {

// The microseconds that a kernel takes for each unit of its work. None is negative.
struct MatMulCosts {
  double fixed = 0;
#define MATMUL_WORK(field) double field = 0;
  STRIDEWISE_MATMUL_WORK(MATMUL_WORK)
#undef MATMUL_WORK
};

// A field of MatMulCosts, by its name.
struct MatMulCostField {
  const char* name;
  double MatMulCosts::*cost;
  double MatMulWork::*work;  // Null for `fixed`.
};

// All fields, in order.
inline constexpr MatMulCostField kMatMulCostFields[] = {{"fixed", &MatMulCosts::fixed, nullptr},
#define MATMUL_WORK(field) {#field, &MatMulCosts::field, &MatMulWork::field},
                                                        STRIDEWISE_MATMUL_WORK(MATMUL_WORK)
#undef MATMUL_WORK
};

// What corrections compare with their thresholds.
enum class MatMulFeature : uint8_t {
  kM,
  kN,
  kK,
  kBatch,
  kLess,      // The smaller of m and n.
  kGreater,   // The larger one.
  kElements,  // Of the batch's C.
  kOps,       // 1 where A is transposed, and 2 more where B is.
  kVectorsA,  // 1 where all rows of A are made of whole 16 bytes.
  kVectorsB,
  kVectorsC,  // The same for C.
  kFill,
  kLast,
  kWaste,
  kUnits,
  kRounds,
  kTiles,
  kSteps,
  kBlockSteps,
  kFixup,
  kDepth,
  kCluster,
  kDram,
  kBalance,  // The time of memory over that of all else.
  kCount,
};
inline constexpr size_t kMatMulFeatures = static_cast<size_t>(MatMulFeature::kCount);

// Returns the name of a feature in tuning files.
const char* MatMulFeatureName(MatMulFeature feature);

// The features of one kernel for one call.
using MatMulFeatures = float[kMatMulFeatures];

using MatMulCorrection = FactorTable<MatMulFeature>;

// The range of a factor of a correction, and of the product of all. More would be a mistake.
inline constexpr double kLeastCorrection = 0.01;
inline constexpr double kMostCorrection = 100;

struct MatMulCostModel {
  MatMulCosts costs;
  // All corrections together multiply by a factor in this range: that of the products measured.
  double least_correction = 1;
  double most_correction = 1;
  std::vector<MatMulCorrection> corrections;
};

// Returns the microseconds without corrections.
double UncorrectedUs(const MatMulCosts& costs, const MatMulWork& work);

// Sets the features of a call that are the same for all kernels.
void SetCallFeatures(const MatMulCall& call, MatMulFeatures* features);

// Sets the others.
void SetKernelFeatures(const MatMulCosts& costs, const MatMulWork& work, MatMulFeatures* features);

// Returns the product of the corrections, within their range.
double CorrectionOf(const MatMulCostModel& model, const MatMulFeatures& features);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_COST_MODEL_H_
