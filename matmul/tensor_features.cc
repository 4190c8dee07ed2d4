#include "matmul/tensor_features.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "common/gpu/launch_geometry.h"
#include "matmul/rows.h"

namespace stridewise {

TensorFeatures TensorFeaturesOf(const MatMulArgs& args, const DeviceModel& device,
                                const PlannedTiles& division, double memory_us, double us) {
  constexpr int64_t kStep = 64;
  constexpr int64_t kOfVector = 8;
  constexpr int64_t kUsualTile = 64;
  const int64_t rows = division.rows > 0 ? division.rows : kUsualTile;
  const int64_t cols = division.cols > 0 ? division.cols : kUsualTile;
  const int64_t tiles = CeilDiv(division.transposed ? args.n : args.m, rows) *
                        CeilDiv(division.transposed ? args.m : args.n, cols) * args.batch;
  const double elements =
      static_cast<double>(args.m) * static_cast<double>(args.n) * static_cast<double>(args.batch);
  const double blocks = static_cast<double>(tiles) * static_cast<double>(division.split);
  const double rounds = blocks / std::max(1, device.multiprocessors);
  return {static_cast<float>(args.m),
          static_cast<float>(args.n),
          static_cast<float>(args.k),
          static_cast<float>(args.batch),
          static_cast<float>(std::min(args.m, args.n)),
          static_cast<float>(std::max(args.m, args.n)),
          static_cast<float>(elements),
          static_cast<float>((args.a.transposed ? 1 : 0) + (args.b.transposed ? 2 : 0)),
          BeginsOffLines(args.a) ? 1.0f : 0.0f,
          BeginsOffLines(args.b) ? 1.0f : 0.0f,
          HasRowsOfVectors(args, kOfVector) ? 1.0f : 0.0f,
          static_cast<float>(division.rows),
          static_cast<float>(division.cols),
          static_cast<float>(division.group),
          static_cast<float>(division.split),
          division.transposed ? 1.0f : 0.0f,
          static_cast<float>(blocks),
          static_cast<float>(rounds - std::floor(rounds)),
          static_cast<float>(static_cast<double>(tiles * rows * cols) / elements),
          static_cast<float>(static_cast<double>(CeilDiv(args.k, kStep)) /
                             static_cast<double>(division.split)),
          static_cast<float>(memory_us / us),
          static_cast<float>(us),
          static_cast<float>(device.memory_gbps)};
}

}  // namespace stridewise
