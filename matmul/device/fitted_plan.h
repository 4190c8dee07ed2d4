// Which tiles `fitted` computes a call with: of eleven arrangements, the one that should take the
// least time.
//
// The estimate counts instructions, which is what bounds these kernels: they issue one in four of
// five clocks. Its constants are fitted to 359 random shapes on an H200, with all eleven measured:
// the arrangement that it chooses takes 5 % more time than the best in the geometric mean.

#ifndef STRIDEWISE_MATMUL_DEVICE_FITTED_PLAN_H_
#define STRIDEWISE_MATMUL_DEVICE_FITTED_PLAN_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "common/gpu/device_model.h"
#include "common/gpu/launch_geometry.h"
#include "common/gpu/launch_status.h"
#include "matmul/args.h"
#include "matmul/device/fitted_tile.h"
#include "matmul/device/gemm_args.h"

namespace stridewise {

// For tiles of some 64x128: 8x8 elements a thread have 64 fma for four loads from shared memory.
using FittedTile8x8 = FittedTile<8, 128, 192, 16, 3, 1, 4>;
// For few rows or columns: a tile of 8 columns has 120 rows. Steps of 32 and two stages instead of
// 16 and three save a tenth of the time, and nothing with FittedTile8x8.
using FittedTile4x4 = FittedTile<4, 128, 136, 32, 2, 1, 6>;
// For few elements of C: four slices of a deeper step, so that more loads are in flight.
using FittedTileSliced = FittedTile<4, 128, 72, 64, 3, 4, 3>;

enum class FittedPolicy { k8x8, k4x4, kSliced };

// The largest tile of an arrangement. Tiles are made equal, and so are mostly smaller.
struct FittedArrangement {
  FittedPolicy policy;
  int most_rows;
  int most_cols;
};

inline constexpr FittedArrangement kFittedArrangements[] = {
    {FittedPolicy::k8x8, 128, 64},  {FittedPolicy::k8x8, 64, 128},   {FittedPolicy::k8x8, 96, 80},
    {FittedPolicy::k4x4, 120, 16},  {FittedPolicy::k4x4, 16, 120},   {FittedPolicy::k4x4, 64, 32},
    {FittedPolicy::k4x4, 32, 64},   {FittedPolicy::kSliced, 16, 32}, {FittedPolicy::kSliced, 64, 8},
    {FittedPolicy::kSliced, 8, 64}, {FittedPolicy::kSliced, 32, 16},
};

// Calls fn with a value of the policy's tile.
template <typename Fn>
auto ForFittedTile(FittedPolicy policy, Fn fn) {
  switch (policy) {
    case FittedPolicy::k8x8:
      return fn(FittedTile8x8());
    case FittedPolicy::k4x4:
      return fn(FittedTile4x4());
    default:
      return fn(FittedTileSliced());
  }
}

// Returns the binary logarithm of the number of lanes that have a part of a row of `units`.
inline int LogLanes(int64_t units) {
  int log = 0;
  while (log < 5 && (1 << log) < units) ++log;
  return log;
}

// Returns the arrangement's tiles for the call. REQUIRES: args.m and args.n are above 0.
template <typename Tile>
FittedGeometry FittedGeometryOf(const MatMulArgs& args, const Gemm<Float32>& gemm,
                                const FittedArrangement& most) {
  const int64_t units_m = CeilDiv(args.m, Tile::kUnit);
  const int64_t units_n = CeilDiv(args.n, Tile::kUnit);
  FittedGeometry tile;
  tile.tiles_m = static_cast<uint32_t>(CeilDiv(units_m, most.most_rows / Tile::kUnit));
  tile.tiles_n = static_cast<uint32_t>(CeilDiv(units_n, most.most_cols / Tile::kUnit));
  tile.squares_m = static_cast<int>(CeilDiv(units_m, tile.tiles_m));
  tile.squares_n = static_cast<int>(CeilDiv(units_n, tile.tiles_n));
  tile.rows = tile.squares_m * Tile::kUnit;
  tile.cols = tile.squares_n * Tile::kUnit;
  constexpr int kMostInRow = 4;
  const int64_t groups = CeilDiv(tile.squares_n, kMostInRow);
  tile.group_width = static_cast<int>(CeilDiv(tile.squares_n, groups));
  tile.out_pitch = tile.cols + kVector;
  tile.c_vectors =
      IsMadeOfVectors(ConstMatrix<float>{gemm.c.data, gemm.c.rows, gemm.c.cols, gemm.c.ld},
                      args.batch, args.c.stride);
  tile.lanes_a = LogLanes(gemm.a.vectors ? tile.rows / kVector : tile.rows);
  tile.lanes_b = LogLanes(gemm.b.vectors ? tile.cols / kVector : tile.cols);
  tile.lanes_c =
      LogLanes(tile.c_vectors ? tile.cols / kVector : std::min<int64_t>(tile.cols, args.n));
  tile.a_k_major = !args.a.transposed;
  tile.b_k_major = args.b.transposed;
  return tile;
}

inline int64_t FittedBlocks(const FittedGeometry& tile, int64_t batch) {
  return int64_t{tile.tiles_m} * tile.tiles_n * batch;
}

// Returns the bytes of shared memory: of the stages that are used, or of the tile on its way to C.
template <typename Tile>
int64_t FittedSharedBytes(const FittedGeometry& tile, int k) {
  const int64_t stages = std::min<int64_t>(CeilDiv(k, Tile::kStepK), Tile::kStages);
  const int64_t out_floats = int64_t{Tile::kSlices} * tile.squares_m * 2 * kVector * tile.out_pitch;
  return std::max(stages * Tile::kStageFloats, out_floats) * static_cast<int64_t>(sizeof(float));
}

// Returns the estimated instructions of a warp that copy an operand's part of one step.
template <typename Tile>
double FittedCopyCost(bool k_major, bool vectors, int extent, int log_lanes) {
  constexpr double kSetUp = 16;
  if (k_major) {
    constexpr int kFourCopies = 4 * 2 * Tile::kWarps;
    return kSetUp + 19.5 * static_cast<double>(CeilDiv(extent, kFourCopies) * (Tile::kStepK / 16));
  }
  const int64_t rows = CeilDiv(Tile::kStepK, Tile::kWarps << (5 - log_lanes));
  return kSetUp + 11.0 * static_cast<double>(rows * CeilDiv(extent, vectors ? 128 : 32));
}

// Returns the estimated time in clocks.
template <typename Tile>
double FittedCost(const Gemm<Float32>& gemm, const FittedGeometry& tile, int64_t batch,
                  const DeviceModel& device) {
  constexpr double kInstructionsPerClock = 4 * 0.85;
  constexpr double kOfOneK = Tile::kThreadM > kVector ? 74 : 22.5;
  // The clocks of a step that no other block fills.
  constexpr double kStepLatency = Tile::kThreadM > kVector ? 3150 : 1070;
  constexpr double kBlockLatency = 1600;
  const auto steps = static_cast<double>(CeilDiv(gemm.k, Tile::kStepK));
  const int64_t k =
      Tile::kSlices == 1 ? CeilDiv(gemm.k, 2) * 2 : CeilDiv(gemm.k, Tile::kStepK) * Tile::kSliceK;
  const int64_t working_warps =
      CeilDiv(int64_t{tile.squares_m} * tile.squares_n * 4 * Tile::kSlices, kWarpSize);
  const double copies =
      FittedCopyCost<Tile>(tile.a_k_major, gemm.a.vectors, tile.rows, tile.lanes_a) +
      FittedCopyCost<Tile>(tile.b_k_major, gemm.b.vectors, tile.cols, tile.lanes_b);
  const double store =
      static_cast<double>(tile.rows * tile.cols / kWarpSize) * (tile.c_vectors ? 0.8 : 2.4);
  const double instructions = Tile::kWarps * (120 + steps * (24 + copies)) +
                              static_cast<double>(working_warps * k) * kOfOneK + store;
  const int64_t blocks = FittedBlocks(tile, batch);
  const double issue =
      static_cast<double>(blocks) * instructions / (device.multiprocessors * kInstructionsPerClock);
  const int64_t rounds = CeilDiv(blocks, int64_t{device.multiprocessors} * Tile::kMinBlocks);
  const double latency = static_cast<double>(rounds) * (kBlockLatency + steps * kStepLatency);
  return std::hypot(issue, latency);
}

// Returns the arrangement of the call. REQUIRES: args.m and args.n are above 0.
inline FittedArrangement ChooseFitted(const MatMulArgs& args, const Gemm<Float32>& gemm,
                                      const DeviceModel& device) {
  FittedArrangement best = kFittedArrangements[0];
  double least = std::numeric_limits<double>::infinity();
  for (const FittedArrangement& most : kFittedArrangements) {
    const double cost = ForFittedTile(most.policy, [&](auto policy) {
      using Tile = decltype(policy);
      return FittedCost<Tile>(gemm, FittedGeometryOf<Tile>(args, gemm, most), args.batch, device);
    });
    if (cost >= least) continue;
    least = cost;
    best = most;
  }
  return best;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_FITTED_PLAN_H_
