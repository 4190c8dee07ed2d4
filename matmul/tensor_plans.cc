#include "matmul/tensor_plans.h"

#include <algorithm>
#include <functional>

#include "matmul/device/tensor/decode_plan.h"
#include "matmul/device/tensor/direct_plan.h"
#include "matmul/device/tensor/divided_plan.h"
#include "matmul/device/tensor/lines_plan.h"
#include "matmul/device/tensor/pair_plan.h"
#include "matmul/device/tensor/plan.h"
#include "matmul/device/tensor/ring_plan.h"
#include "matmul/device/tensor/shallow_plan.h"
#include "matmul/device/tensor/single_plan.h"
#include "matmul/device/tensor/small_plan.h"
#include "matmul/device/tensor/split_plan.h"
#include "matmul/device/tensor/tile_plan.h"
#include "matmul/device/tensor/tiny_plan.h"
#include "matmul/device/tensor/turned_plan.h"
#include "matmul/device/tensor/vector_plan.h"
#include "matmul/factor_table.h"
#include "matmul/tensor_corrections.h"
#include "matmul/tensor_tables.h"

namespace stridewise {
namespace {

// Where CorrectedTensorUs() keeps what it is asked for while PredictionsOf() plans.
thread_local std::vector<TensorPrediction>* asked = nullptr;

struct PlannedKernel {
  const char* name;
  bool needs_tma;
  std::function<bool(const MatMulArgs&)> takes;
  std::function<void(const MatMulArgs&, const DeviceModel&)> plan;
};

bool TakesAll(const MatMulArgs& /*args*/) { return true; }

const std::vector<PlannedKernel>& Kernels() {
  using Args = const MatMulArgs&;
  using Device = const DeviceModel&;
  static const auto& kernels = *new std::vector<PlannedKernel>{
      {"tensor_tile", true, TakesAll, [](Args a, Device d) { PlanTensorTile(a, d); }},
      {"tensor_divided", true, TakesAll, [](Args a, Device d) { PlanTensorDivided(a, d); }},
      {"tensor_turned", true, TensorTurnedTakes, [](Args a, Device d) { PlanTensorTurned(a, d); }},
      {"tensor_single", true, TensorSingleTakes, [](Args a, Device d) { PlanTensorSingle(a, d); }},
      {"tensor_split", true, TakesAll, [](Args a, Device d) { PlanTensorSplit(a, d); }},
      {"tensor_decode", true, TensorDecodeTakes, [](Args a, Device d) { PlanTensorDecode(a, d); }},
      {"tensor_pair", true, TakesAll, [](Args a, Device d) { PlanTensorPair(a, d); }},
      {"tensor_lines", true, TakesAll, [](Args a, Device d) { PlanTensorLines(a, d); }},
      {"tensor_general", false, TakesAll, [](Args a, Device d) { PlanTensorGeneral(a, d); }},
      {"tensor_tiny", false, [](Args a) { return TensorTinyTakes(a) && IsTiny(a); },
       [](Args a, Device d) { TensorTinyUs(a, d); }},
      {"tensor_direct", false, TensorDirectTakes, [](Args a, Device d) { PlanTensorDirect(a, d); }},
      {"tensor_ring", false,
       [](Args a) { return TensorRingTakes(a) && std::min(a.m, a.n) <= kRingMostFew; },
       [](Args a, Device d) { PlanTensorRing(a, d); }},
      {"tensor_small", false, TensorSmallTakes, [](Args a, Device d) { PlanTensorSmall(a, d); }},
      {"tensor_vector", false, TensorVectorTakes, [](Args a, Device d) { PlanTensorVector(a, d); }},
      {"tensor_shallow", false, TensorShallowTakes,
       [](Args a, Device d) { TensorShallowUs(a, d); }}};
  return kernels;
}

}  // namespace

double CorrectedTensorUs(TensorPredicted predicted, const MatMulArgs& args,
                         const DeviceModel& device, const PlannedTiles& division, double memory_us,
                         double us) {
  if (!HasTensorFactor(predicted, us)) return us;
  const TensorFeatures features = TensorFeaturesOf(args, device, division, memory_us, us);
  const double corrected = us * ProductOfFactors(TensorTablesOf(predicted), features.data(),
                                                 1 / kMostTensorFactor, kMostTensorFactor);
  if (asked != nullptr) asked->push_back({predicted, features, us, corrected});
  return corrected;
}

std::vector<std::string> PlannedTensorKernels() {
  std::vector<std::string> names;
  for (const PlannedKernel& kernel : Kernels()) names.emplace_back(kernel.name);
  return names;
}

std::vector<TensorPrediction> PredictionsOf(const std::string& kernel, const MatMulArgs& args,
                                            const DeviceModel& device) {
  std::vector<TensorPrediction> predictions;
  for (const PlannedKernel& planned : Kernels()) {
    if (planned.name != kernel || !planned.takes(args)) continue;
    if (planned.needs_tma && !TmaTakes(args, device)) continue;
    asked = &predictions;
    planned.plan(args, device);
    asked = nullptr;
  }
  std::stable_sort(predictions.begin(), predictions.end(),
                   [](const TensorPrediction& x, const TensorPrediction& y) {
                     return x.corrected < y.corrected;
                   });
  return predictions;
}

}  // namespace stridewise
