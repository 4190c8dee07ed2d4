#include "matmul/cost_model.h"

#include <algorithm>
#include <cmath>

namespace stridewise {
namespace {

constexpr const char* kFeatureNames[] = {
    "m",    "n",     "k",     "batch",  "less",  "greater", "elements",    "ops",  "vectors_a", "vectors_b",
    "fill", "waste", "units", "rounds", "tiles", "steps",   "block_steps", "dram", "balance"};
static_assert(sizeof(kFeatureNames) / sizeof(kFeatureNames[0]) == kMatMulFeatures);

// The time of memory, and of all else.
struct TwoTimes {
  double memory;
  double rest;
};

TwoTimes TimesOf(const MatMulCosts& costs, const MatMulWork& work) {
  const double memory = costs.dram_mb * work.dram_mb;
  double all = 0;
#define MATMUL_WORK(field) all += costs.field * work.field;
  STRIDEWISE_MATMUL_WORK(MATMUL_WORK)
#undef MATMUL_WORK
  return {memory, all - memory};
}

double Fourth(double x) { return (x * x) * (x * x); }

}  // namespace

const char* MatMulFeatureName(MatMulFeature feature) {
  return kFeatureNames[static_cast<size_t>(feature)];
}

double UncorrectedUs(const MatMulCosts& costs, const MatMulWork& work) {
  const TwoTimes times = TimesOf(costs, work);
  return costs.fixed + std::sqrt(std::sqrt(Fourth(times.memory) + Fourth(times.rest)));
}

void SetCallFeatures(const MatMulArgs& args, MatMulFeatures* features) {
  const auto set = [&](MatMulFeature feature, double value) {
    (*features)[static_cast<size_t>(feature)] = static_cast<float>(value);
  };
  const auto m = static_cast<double>(args.m);
  const auto n = static_cast<double>(args.n);
  const auto batch = static_cast<double>(args.batch);
  set(MatMulFeature::kM, m);
  set(MatMulFeature::kN, n);
  set(MatMulFeature::kK, static_cast<double>(args.k));
  set(MatMulFeature::kBatch, batch);
  set(MatMulFeature::kLess, std::min(m, n));
  set(MatMulFeature::kGreater, std::max(m, n));
  set(MatMulFeature::kElements, m * n * batch);
  set(MatMulFeature::kOps, (args.a.transposed ? 1 : 0) + (args.b.transposed ? 2 : 0));
  set(MatMulFeature::kVectorsA, HasVectorsA(args) ? 1 : 0);
  set(MatMulFeature::kVectorsB, HasVectorsB(args) ? 1 : 0);
}

void SetKernelFeatures(const MatMulCosts& costs, const MatMulWork& work, MatMulFeatures* features) {
  const auto set = [&](MatMulFeature feature, double value) {
    (*features)[static_cast<size_t>(feature)] = static_cast<float>(value);
  };
  const TwoTimes times = TimesOf(costs, work);
  set(MatMulFeature::kFill, work.fill);
  set(MatMulFeature::kWaste, work.waste);
  set(MatMulFeature::kUnits, work.units);
  set(MatMulFeature::kRounds, work.rounds);
  set(MatMulFeature::kTiles, work.tiles);
  set(MatMulFeature::kSteps, work.steps);
  set(MatMulFeature::kBlockSteps, work.block_steps);
  set(MatMulFeature::kDram, work.dram_mb);
  set(MatMulFeature::kBalance, times.rest > 0 ? times.memory / times.rest : 0);
}

double CorrectionOf(const MatMulCostModel& model, const MatMulFeatures& features) {
  float factor = 1;
  for (const MatMulCorrection& correction : model.corrections) {
    factor *= correction.FactorFor(features);
  }
  return static_cast<double>(factor);
}

}  // namespace stridewise
