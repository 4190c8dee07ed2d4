// Predicts how many times longer cuBLAS takes than we do, at least: exp() of a sum of tables, which
// fit_cublas_over_ours.py fitted to random calls on an H200. Each table has six questions, "is
// this feature at least that threshold?", whose answers are the index of its value.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "bindings/cublas/offer.h"
#include "common/gpu/launch_geometry.h"

namespace stridewise::drop_in {
namespace {

constexpr int kQuestions = 6;
constexpr int kFeatures = 20;

struct Table {
  uint8_t features[kQuestions];
  float thresholds[kQuestions];
  float values[1 << kQuestions];
};

constexpr Table kTables[] = {
#include "bindings/cublas/cublas_over_ours.inc"  // NOLINT(build/include)
};

// Returns whether each row of each matrix is made of whole 16 bytes.
bool HasVectors(const MatMulInput& matrix, int64_t batch) {
  constexpr int64_t kVector = 4;
  constexpr uintptr_t kBytes = 16;
  return matrix.ld % kVector == 0 && reinterpret_cast<uintptr_t>(matrix.data) % kBytes == 0 &&
         (batch <= 1 || matrix.stride % kVector == 0);
}

// Sets the features of a row-major product, in the order of fit_cublas_over_ours.py.
void SetFeatures(const MatMulArgs& args, double our_us, float* features) {
  constexpr int64_t kTile = 128;
  constexpr int64_t kMultiprocessors = 132;
  const auto matrices = [&](int64_t stride) { return stride == 0 ? 1 : args.batch; };
  const int64_t tiles = CeilDiv(args.m, kTile) * CeilDiv(args.n, kTile) * args.batch;
  const auto m = static_cast<double>(args.m);
  const auto n = static_cast<double>(args.n);
  const auto k = static_cast<double>(args.k);
  const auto batch = static_cast<double>(args.batch);
  const double products = m * n * k * batch;
  const double elements = m * k * static_cast<double>(matrices(args.a.stride)) +
                          k * n * static_cast<double>(matrices(args.b.stride)) + m * n * batch;
  const double values[kFeatures] = {
      m,
      n,
      k,
      batch,
      std::min(m, n),
      std::max(m, n),
      m * n * batch,
      products,
      args.a.transposed ? 1.0 : 0.0,
      args.b.transposed ? 1.0 : 0.0,
      args.beta != 0 ? 1.0 : 0.0,
      HasVectors(args.a, args.batch) ? 1.0 : 0.0,
      HasVectors(args.b, args.batch) ? 1.0 : 0.0,
      elements,
      static_cast<double>(tiles),
      static_cast<double>(tiles) /
          static_cast<double>(CeilDiv(tiles, kMultiprocessors) * kMultiprocessors),
      our_us,
      our_us / products,
      our_us / elements,
      args.c.ld % 4 == 0 ? 1.0 : 0.0};
  for (int i = 0; i < kFeatures; ++i) features[i] = static_cast<float>(values[i]);
}

}  // namespace

double CublasOverOurs(const MatMulArgs& args, double our_us) {
  float features[kFeatures];
  SetFeatures(args, our_us, features);
  double sum = 0;
  for (const Table& table : kTables) {
    unsigned index = 0;
    for (int i = 0; i < kQuestions; ++i) {
      index |= static_cast<unsigned>(features[table.features[i]] >= table.thresholds[i]) << i;
    }
    sum += static_cast<double>(table.values[index]);
  }
  return std::exp(sum);
}

}  // namespace stridewise::drop_in
