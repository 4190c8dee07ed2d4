#include "matmul/cost_model.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "matmul/rows.h"

namespace stridewise {
namespace {

constexpr const char* kFeatureNames[] = {
    "m",           "n",        "k",           "batch",          "less",      "greater",
    "elements",    "ops",      "vectors_a",   "vectors_b",      "vectors_c", "fill",
    "last",        "waste",    "units",       "rounds",         "tiles",     "steps",
    "block_steps", "fixup_mb", "fixup_depth", "cluster_blocks", "dram_mb",   "balance"};
static_assert(sizeof(kFeatureNames) / sizeof(kFeatureNames[0]) == kMatMulFeatures);

// The time of memory, and of all else.
struct TwoTimes {
  double memory;
  double rest;
};

TwoTimes TimesOf(const MatMulCosts& costs, const MatMulWork& work) {
  const double memory = costs.dram_mb * work.dram_mb;
  // Four sums: each addition waits for the one before it.
  double sums[4] = {};
  unsigned i = 0;
#define MATMUL_WORK(field) sums[i++ % 4] += costs.field * work.field;
  STRIDEWISE_MATMUL_WORK(MATMUL_WORK)
#undef MATMUL_WORK
  return {memory, (sums[0] + sums[1]) + (sums[2] + sums[3]) - memory};
}

// Whether every row of C begins and ends at a multiple of 16 bytes.
bool IsMadeOfVectors(const MatMulArgs& args) {
  constexpr int64_t kVector = 4;
  return HasRowsOfVectors(args, kVector) &&
         reinterpret_cast<uintptr_t>(args.c.data) % (kVector * sizeof(float)) == 0;
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

void SetCallFeatures(const MatMulCall& call, MatMulFeatures* features) {
  const auto set = [&](MatMulFeature feature, double value) {
    (*features)[static_cast<size_t>(feature)] = static_cast<float>(value);
  };
  set(MatMulFeature::kM, call.m);
  set(MatMulFeature::kN, call.n);
  set(MatMulFeature::kK, call.k);
  set(MatMulFeature::kBatch, call.batch);
  set(MatMulFeature::kLess, std::min(call.m, call.n));
  set(MatMulFeature::kGreater, std::max(call.m, call.n));
  set(MatMulFeature::kElements, call.elements);
  set(MatMulFeature::kOps, (call.args.a.transposed ? 1 : 0) + (call.args.b.transposed ? 2 : 0));
  set(MatMulFeature::kVectorsA, call.vectors_a ? 1 : 0);
  set(MatMulFeature::kVectorsB, call.vectors_b ? 1 : 0);
  set(MatMulFeature::kVectorsC, IsMadeOfVectors(call.args) ? 1 : 0);
}

void SetKernelFeatures(const MatMulCosts& costs, const MatMulWork& work, MatMulFeatures* features) {
  const auto set = [&](MatMulFeature feature, double value) {
    (*features)[static_cast<size_t>(feature)] = static_cast<float>(value);
  };
  const TwoTimes times = TimesOf(costs, work);
  set(MatMulFeature::kFill, work.fill);
  set(MatMulFeature::kLast, work.last);
  set(MatMulFeature::kWaste, work.waste);
  set(MatMulFeature::kUnits, work.units);
  set(MatMulFeature::kRounds, work.rounds);
  set(MatMulFeature::kTiles, work.tiles);
  set(MatMulFeature::kSteps, work.steps);
  set(MatMulFeature::kBlockSteps, work.block_steps);
  set(MatMulFeature::kFixup, work.fixup_mb);
  set(MatMulFeature::kDepth, work.fixup_depth);
  set(MatMulFeature::kCluster, work.cluster_blocks);
  set(MatMulFeature::kDram, work.dram_mb);
  set(MatMulFeature::kBalance, times.rest > 0 ? times.memory / times.rest : 0);
}

double CorrectionOf(const MatMulCostModel& model, const MatMulFeatures& features) {
  return ProductOfFactors(model.corrections, features, model.least_correction,
                          model.most_correction);
}

}  // namespace stridewise
