#include "matmul/tensor_corrections.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "absl/types/span.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/factor_table.h"
#include "matmul/rows.h"

namespace stridewise {
namespace {

enum class Feature : uint8_t {
  kM,
  kN,
  kK,
  kBatch,
  kLess,  // The smaller of m and n.
  kGreater,
  kElements,  // Of the batch's C.
  kOps,       // 1 where A is transposed, and 2 more where B is.
  kOffA,      // 1 where BeginsOffLines() says so.
  kOffB,
  kVectorsC,  // 1 where rows of C are made of eight elements, as the TMA needs it of 16 bits.
  kRows,      // Those of PlannedTiles.
  kCols,
  kGroup,
  kSplit,
  kTransposed,
  kBlocks,  // Tiles of the batch, times the parts of k. Kernels without tiles count those of 64x64.
  kLast,    // The part of the multiprocessors that the last round of blocks has.
  kWaste,   // Elements that tiles cover, over those of C.
  kSteps,   // Of 64 of k, of a block.
  kBalance,  // What memory takes, over the time that is predicted.
  kUs,       // That time.
  kMemoryGbps,
  kCount,
};

using Correction = FactorTable<Feature>;

#include "matmul/tensor_corrections.inc"

using Features = std::array<float, static_cast<size_t>(Feature::kCount)>;

Features FeaturesOf(const MatMulArgs& args, const DeviceModel& device, const PlannedTiles& division,
                    double memory_us, double us) {
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

}  // namespace

double CorrectedTensorUs(TensorPredicted predicted, const MatMulArgs& args,
                         const DeviceModel& device, const PlannedTiles& division, double memory_us,
                         double us) {
  constexpr double kMost = 2.72;  // Times or over what the plan says, as in the fit.
  constexpr double kHuge = 1e9;   // Says that there is no plan.
  // Products of tiles that last longer are bound by power, which a few samples do not show.
  constexpr double kMostOfTiles = 400;
  if (us >= kHuge || (predicted <= TensorPredicted::kClustered && us > kMostOfTiles)) return us;
  const Features features = FeaturesOf(args, device, division, memory_us, us);
  return us * ProductOfFactors(CorrectionsOf(predicted), features.data(), 1 / kMost, kMost);
}

}  // namespace stridewise
