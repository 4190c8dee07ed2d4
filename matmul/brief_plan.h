// How `brief` (library/brief.cu) divides a product.

#ifndef STRIDEWISE_MATMUL_BRIEF_PLAN_H_
#define STRIDEWISE_MATMUL_BRIEF_PLAN_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/cluster_sizes.h"

namespace stridewise {

// A block's tile, which each of its warps computes from a part of the k, and what it takes on an
// H200, fitted to 900 times of 180 products: microseconds of a call, of clusters, of a round of
// blocks after the first, for a thousand copies of a warp and a thousand fma of each lane on a
// multiprocessor, for 64 k, for a thousand elements on a multiprocessor, and for a thousand
// fma of each lane of a block in each round.
struct BriefShape {
  int rows, cols, warps;
  int resident;  // Blocks on a multiprocessor.
  double call, clusters, round, copies, fma, chunk, elements, fma_of_round;
};
inline constexpr BriefShape kBriefShapes[] = {
    {16, 16, 4, 6, 5.38, 0.65, 0.29, 1.22, 1.30, 0.27, 0.99, 0.94},
    {32, 16, 8, 3, 5.09, 0.73, 0.04, 1.41, 1.26, 0.10, 1.70, 0.13},
    {32, 32, 8, 2, 5.18, 0.79, 0.25, 1.51, 0.81, 0, 0.95, 0.59},
};

struct BriefPlan {
  int shape;  // The number in kBriefShapes.
  int parts;  // Blocks of a cluster, which share the k of a tile.
  int k_of_part;
  int64_t tiles;  // Of one multiplication.
  double us;      // Predicted.
};

// `width_a` and `width_b`: the elements that a thread copies at once.
inline BriefPlan PlanBrief(int64_t m, int64_t n, int64_t k, int64_t batch, int width_a, int width_b,
                           const DeviceModel& device) {
  BriefPlan best = {};
  const auto multiprocessors = static_cast<double>(device.multiprocessors);
  for (int number = 0; number < static_cast<int>(std::size(kBriefShapes)); ++number) {
    const BriefShape& shape = kBriefShapes[number];
    const int64_t tiles = CeilDiv(m, shape.rows) * CeilDiv(n, shape.cols);
    const double area = shape.rows * shape.cols;
    const double width =
        static_cast<double>(shape.rows) / width_a + static_cast<double>(shape.cols) / width_b;
    for (int parts = 1; parts <= 8; parts *= 2) {
      if (parts > 1 && (device.compute_capability < 90 || k < 12 * parts)) break;
      const int64_t k_of_part = std::max<int64_t>(CeilDiv(k, 4 * parts) * 4, 4);
      if (parts > 1 && (parts - 1) * k_of_part >= k) continue;
      const auto k_part = static_cast<double>(k_of_part);
      const double blocks = static_cast<double>(tiles) * static_cast<double>(batch * parts);
      const double of_each = std::ceil(blocks / multiprocessors);
      const double rounds = std::ceil(blocks / (multiprocessors * shape.resident));
      const double fma = area * k_part / 128e3;
      const double us = shape.call + (parts > 1 ? shape.clusters : 0) + (rounds - 1) * shape.round +
                        of_each * (k_part * width / 32e3 * shape.copies + fma * shape.fma +
                                   area / 1e3 * shape.elements) +
                        std::ceil(k_part / 64) * shape.chunk + rounds * fma * shape.fma_of_round;
      if (best.parts > 0 && us >= best.us) continue;
      best = {number, parts, static_cast<int>(k_of_part), tiles, us};
    }
  }
  return best;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_BRIEF_PLAN_H_
