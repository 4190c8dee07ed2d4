#include "benchmarks/tuning/fit_costs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>

namespace stridewise {
namespace {

constexpr size_t kCosts = std::size(kMatMulCostFields);
using Vector = std::array<double, kCosts>;
using Square = std::array<Vector, kCosts>;

double WorkOf(const CostSample& sample, size_t field) {
  const auto member = kMatMulCostFields[field].work;
  return member == nullptr ? 1 : sample.work.*member;
}

MatMulCosts CostsOf(const Vector& values) {
  MatMulCosts costs;
  for (size_t j = 0; j < kCosts; ++j) costs.*kMatMulCostFields[j].cost = values[j];
  return costs;
}

double LossOf(const Vector& values, absl::Span<const CostSample> samples) {
  const MatMulCosts costs = CostsOf(values);
  double loss = 0;
  for (const CostSample& sample : samples) {
    const double error = std::log(UncorrectedUs(costs, sample.work) / sample.us);
    loss += sample.weight * error * error;
  }
  return loss;
}

// Returns the non-negative constants of the plain sum with the least relative errors, by cyclic
// coordinate descent.
Vector FitSum(absl::Span<const CostSample> samples) {
  Square gram = {};
  Vector target = {};
  for (const CostSample& sample : samples) {
    Vector row;
    for (size_t j = 0; j < kCosts; ++j) row[j] = WorkOf(sample, j) / sample.us;
    for (size_t i = 0; i < kCosts; ++i) {
      target[i] += sample.weight * row[i];
      for (size_t j = 0; j < kCosts; ++j) gram[i][j] += sample.weight * row[i] * row[j];
    }
  }
  constexpr int kSweeps = 3000;
  Vector values = {};
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    for (size_t i = 0; i < kCosts; ++i) {
      if (gram[i][i] == 0) continue;
      double rest = target[i];
      for (size_t j = 0; j < kCosts; ++j) rest -= j == i ? 0 : gram[i][j] * values[j];
      values[i] = std::max(0.0, rest / gram[i][i]);
    }
  }
  return values;
}

// Solves matrix * x = right by elimination. REQUIRES: positive definite.
Vector Solve(Square matrix, Vector right) {
  for (size_t i = 0; i < kCosts; ++i) {
    for (size_t j = i + 1; j < kCosts; ++j) {
      const double factor = matrix[j][i] / matrix[i][i];
      for (size_t k = i; k < kCosts; ++k) matrix[j][k] -= factor * matrix[i][k];
      right[j] -= factor * right[i];
    }
  }
  for (size_t i = kCosts; i-- > 0;) {
    for (size_t j = i + 1; j < kCosts; ++j) right[i] -= matrix[i][j] * right[j];
    right[i] /= matrix[i][i];
  }
  return right;
}

// Sets the normal equations of a step from `values`: the derivatives of log(predicted), by
// differences.
void NormalEquations(const Vector& values, absl::Span<const CostSample> samples, Square* normal,
                     Vector* gradient) {
  *normal = {};
  *gradient = {};
  const MatMulCosts costs = CostsOf(values);
  for (const CostSample& sample : samples) {
    const double predicted = UncorrectedUs(costs, sample.work);
    const double error = std::log(predicted / sample.us);
    Vector slope;
    for (size_t j = 0; j < kCosts; ++j) {
      const double work = WorkOf(sample, j);
      slope[j] = 0;
      if (work == 0) continue;
      const double step = 1e-5 * predicted / work;
      MatMulCosts moved = costs;
      moved.*kMatMulCostFields[j].cost += step;
      slope[j] = std::log(UncorrectedUs(moved, sample.work) / predicted) / step;
    }
    for (size_t i = 0; i < kCosts; ++i) {
      (*gradient)[i] -= sample.weight * slope[i] * error;
      for (size_t j = 0; j < kCosts; ++j) {
        (*normal)[i][j] += sample.weight * slope[i] * slope[j];
      }
    }
  }
}

}  // namespace

MatMulCosts FitCosts(absl::Span<const CostSample> samples) {
  Vector values = FitSum(samples);
  double loss = LossOf(values, samples);
  double damping = 1e-3;
  constexpr int kSteps = 100;
  constexpr double kMostDamping = 1e9;
  for (int step = 0; step < kSteps && damping < kMostDamping; ++step) {
    Square normal;
    Vector gradient;
    NormalEquations(values, samples, &normal, &gradient);
    for (size_t i = 0; i < kCosts; ++i) {
      // At the bound only steps inside count.
      if (values[i] == 0 && gradient[i] <= 0) {
        normal[i].fill(0);
        for (size_t j = 0; j < kCosts; ++j) normal[j][i] = 0;
        gradient[i] = 0;
      }
      normal[i][i] += damping * normal[i][i] + 1e-12;
    }
    const Vector move = Solve(normal, gradient);
    Vector moved;
    for (size_t i = 0; i < kCosts; ++i) moved[i] = std::max(0.0, values[i] + move[i]);
    const double moved_loss = LossOf(moved, samples);
    if (moved_loss < loss) {
      const bool done = moved_loss > loss * (1 - 1e-7);
      values = moved;
      loss = moved_loss;
      damping = std::max(damping / 4, 1e-9);
      if (done) break;
    } else {
      damping *= 8;
    }
  }
  return CostsOf(values);
}

}  // namespace stridewise
