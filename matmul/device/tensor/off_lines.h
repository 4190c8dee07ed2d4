// What a kernel of tensor cores loads more where rows of operands do not begin with lines of the
// L2: 128 bytes of a row are four sectors of 32 bytes, or five.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_OFF_LINES_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_OFF_LINES_H_

#include <algorithm>
#include <cstdint>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/args.h"
#include "matmul/cluster_sizes.h"
#include "matmul/device/tensor/plan.h"
#include "matmul/rows.h"

namespace stridewise {

// Returns the least time of a kernel with the tiles of `plan` where rows of operands begin within
// lines, 0 where none do: what its blocks load. On an H200 2000 x 2008 x 2000 takes 70 us in tiles
// of 64 x 64, 56 of 64 x 128, 39 of 128 x 128 and 34 of 128 x 256, of which this says 72, 56, 40
// and 32.
//
// Blocks of plan.cluster share the tile's columns, and k is divided by plan.split.
inline double OffLinesUs(const MatMulArgs& args, const TensorPlan& plan,
                         const DeviceModel& device) {
  constexpr double kFixed = 8;
  constexpr double kBytesOfUs = 80e3;  // Of a multiprocessor, while all of them load.
  constexpr double kOnBytes = 128;     // Of a row and a step.
  constexpr double kOffBytes = 160;
  constexpr int64_t kLeastExtent = 64;  // Others wait for memory, which sends each line once.
  const bool a_off = BeginsOffLines(args.a);
  const bool b_off = BeginsOffLines(args.b);
  if ((!a_off && !b_off) || std::min(args.m, args.n) <= kLeastExtent) return 0;
  const int64_t rows = plan.transposed ? args.n : args.m;
  const int64_t cols = plan.transposed ? args.m : args.n;
  const bool rows_off = plan.transposed ? b_off : a_off;
  const bool cols_off = plan.transposed ? a_off : b_off;
  const double bytes = plan.rows * (rows_off ? kOffBytes : kOnBytes) +
                       plan.cols * (cols_off ? kOffBytes : kOnBytes) / plan.cluster;
  const int64_t clusters = ClustersAtOnce(plan.cluster * plan.split, 1, device.multiprocessors);
  const int64_t tiles = CeilDiv(rows, int64_t{plan.rows} * plan.cluster) *
                        CeilDiv(cols, int64_t{plan.cols}) * args.batch;
  // A multiprocessor loads a little faster where others do not: 72 blocks of 64 x 128 take 30 us
  // for 520 x 1000 x 4104, and 144 of 64 x 64, of which some are two on a multiprocessor, 37.
  constexpr double kOfOne = 0.87;
  const double rounds =
      std::max({static_cast<double>(tiles) / static_cast<double>(clusters),
                kOfOne * static_cast<double>(CeilDiv(tiles, clusters)), plan.split > 1 ? 1.0 : 0});
  const auto steps = static_cast<double>(CeilDiv(args.k, int64_t{kTensorStep} * plan.split));
  return kFixed + rounds * steps * bytes / kBytesOfUs;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_OFF_LINES_H_
