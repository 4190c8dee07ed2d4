// How a product is divided for TensorKParts, and how long that is expected to take: the constants
// are fitted to times on an H200 with a cold L2, of 110 products with all tiles and of 305 with
// the one that was chosen.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_K_PARTS_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_K_PARTS_PLAN_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/args.h"
#include "matmul/device/tensor/plan.h"
#include "matmul/rows.h"

namespace stridewise {

// A tile of 64 times `groups` rows.
struct KPartsShape {
  int groups, cols;

  constexpr int rows() const { return groups * 64; }
  // Of an MN-major operand a tile has panels of 64 columns.
  constexpr bool Takes(bool cols_along_k) const { return cols_along_k || cols % 64 == 0; }
};
constexpr KPartsShape kKPartsShapes[] = {{1, 128}, {1, 144}, {1, 192}, {2, 96},
                                         {2, 128}, {2, 144}, {2, 192}};

struct KPartsPlan {
  int shape = -1;           // Of kKPartsShapes; -1 where there is no plan.
  bool transposed = false;  // Tiles are those of C transposed.
  int64_t tiles = 0;
  int64_t parts = 0;  // That each tile's k is divided into.
  double us = 1e30;

  int64_t WorkspaceBytes() const {
    const KPartsShape& of = kKPartsShapes[shape];
    return tiles * parts * of.rows() * of.cols * int64_t{sizeof(float)};
  }
};

// Returns the microseconds of a plan, before corrections.
inline double KPartsUs(const MatMulArgs& args, const DeviceModel& device, const KPartsPlan& plan) {
  const KPartsShape& shape = kKPartsShapes[plan.shape];
  constexpr double kFixed = 6.25;           // Both kernels' starts.
  constexpr double kStep = 0.002364;        // Of a column and 64 of k, while tensor cores are busy.
  constexpr double kHalf = 0.535;           // Of it, with 64 rows.
  constexpr double kOnBytes = 128;          // Of a row and a step.
  constexpr double kOffBytes = 197;         // Of rows that begin within lines of the L2.
  constexpr double kBytesOfUs = 1.437e+05;  // Of a multiprocessor, from the L2.
  constexpr double kBytesOfAll = 1.399e+07;  // From the L2 to all of them.
  constexpr double kSumsOfUs = 2.83e+06;     // Bytes of parts, written and read.
  constexpr int64_t kTogether = 4;  // Parts that are read together, and how long that takes.
  constexpr double kTogetherUs = 0.137;
  constexpr double kMemory = 1.061;
  constexpr double kOther = 0.586;  // What of the lesser of two times is not hidden.
  const auto blocks = static_cast<double>(plan.tiles * plan.parts);
  const double steps =
      static_cast<double>(CeilDiv(args.k, int64_t{kTensorStep})) / static_cast<double>(plan.parts);
  const double rate = std::min(kBytesOfUs, kBytesOfAll / blocks);
  const auto of_row = [](const MatMulInput& input) {
    return BeginsOffLines(input) ? kOffBytes : kOnBytes;
  };
  const double bytes = shape.rows() * of_row(plan.transposed ? args.b : args.a) +
                       shape.cols * of_row(plan.transposed ? args.a : args.b);
  const double sums =
      steps * std::max(kStep * shape.cols * (shape.groups == 1 ? kHalf : 1), bytes / rate);
  const double memory = kMemory * MemoryUs(args, device);
  const double most = std::max(sums, memory);
  const double other = kOther * std::min(sums, memory);
  return kFixed + std::sqrt(most * most + other * other) +
         static_cast<double>(plan.WorkspaceBytes()) / kSumsOfUs +
         kTogetherUs * static_cast<double>(CeilDiv(plan.parts, kTogether));
}

// Returns the tile and the number of parts, or a plan without a shape where there are too many
// tiles or too few steps to divide.
inline KPartsPlan PlanTensorKParts(const MatMulArgs& args, const DeviceModel& device) {
  constexpr int64_t kLeastExtent = 64;
  constexpr int64_t kLeastK = 2048;  // With less, products were slower than by other kernels.
  constexpr double kMostWaste = 1.6;
  KPartsPlan best;
  if (std::min(args.m, args.n) <= kLeastExtent || args.k < kLeastK) return best;
  const int64_t steps = CeilDiv(args.k, int64_t{kTensorStep});
  const auto elements =
      static_cast<double>(args.m) * static_cast<double>(args.n) * static_cast<double>(args.batch);
  for (const bool transposed : {true, false}) {  // C is stored in longer pieces then.
    const int64_t rows = transposed ? args.n : args.m;
    const int64_t cols = transposed ? args.m : args.n;
    const bool cols_along_k = transposed ? !args.a.transposed : args.b.transposed;
    for (int i = 0; i < static_cast<int>(std::size(kKPartsShapes)); ++i) {
      const KPartsShape& shape = kKPartsShapes[i];
      if (!shape.Takes(cols_along_k)) continue;
      KPartsPlan plan = {i, transposed};
      plan.tiles =
          CeilDiv(rows, int64_t{shape.rows()}) * CeilDiv(cols, int64_t{shape.cols}) * args.batch;
      const double waste = static_cast<double>(plan.tiles * shape.rows() * shape.cols) / elements;
      if (waste > kMostWaste) continue;
      // A part has two steps at least. Where tiles had unequal parts, those that share rows or
      // columns would be everywhere along k, and find less of them in the L2: 1000 x 512 x 32768
      // took 96 us with 66 clusters for 14 tiles, and 61 with 56.
      const int64_t most = std::min(device.multiprocessors / plan.tiles, steps / 2);
      for (const int64_t parts : {most, CeilDiv(most, int64_t{2})}) {
        if (parts < 2) continue;
        plan.parts = parts;
        plan.us = KPartsUs(args, device, plan);
        if (plan.us < best.us) best = plan;
      }
    }
  }
  if (best.shape < 0) return best;
  const KPartsShape& shape = kKPartsShapes[best.shape];
  best.us = Corrected(TensorPredicted::kKParts, args, device,
                      {shape.rows(), shape.cols, 1, best.parts, best.transposed}, best.us);
  return best;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_K_PARTS_PLAN_H_
