#include "matmul/tensor_corrections.h"

#include "matmul/factor_table.h"
#include "matmul/tensor_tables.h"

namespace stridewise {

double CorrectedTensorUs(TensorPredicted predicted, const MatMulArgs& args,
                         const DeviceModel& device, const PlannedTiles& division, double memory_us,
                         double us) {
  if (!HasTensorFactor(predicted, us)) return us;
  const TensorFeatures features = TensorFeaturesOf(args, device, division, memory_us, us);
  return us * ProductOfFactors(TensorTablesOf(predicted), features.data(), 1 / kMostTensorFactor,
                               kMostTensorFactor);
}

}  // namespace stridewise
