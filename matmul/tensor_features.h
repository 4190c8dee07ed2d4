// What plans of the kernels of tensor cores (matmul/device/tensor/*_plan.h) tell of a call and of
// how they divide it: what tensor_corrections.h compares with thresholds.

#ifndef STRIDEWISE_MATMUL_TENSOR_FEATURES_H_
#define STRIDEWISE_MATMUL_TENSOR_FEATURES_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/gpu/device_model.h"
#include "matmul/args.h"

namespace stridewise {

// What has corrections of its own: a kernel, tensor_single's tiles in clusters, calls on copies of
// operands, whose time is that of the kernel and of the copies, and what multiplies floats that may
// be rounded (rounded_choice.h).
enum class TensorPredicted : uint8_t {
  kTile,
  kDivided,
  kTurned,
  kSingle,
  kClustered,
  kSplit,
  kDecode,
  kPair,
  kLines,
  kGeneral,
  kTiny,
  kDirect,
  kRing,
  kSmall,
  kVector,
  kShallow,
  kCopied,
  kRounded,  // Of floats.
  kTf32,
  kFewTf32,
};

// How a plan divides a call. What a kernel does not choose is 0.
struct PlannedTiles {
  int64_t rows = 0, cols = 0;  // Of a tile.
  int64_t group = 0;  // Blocks of a cluster that share operands, or of a multiprocessor, or lanes.
  int64_t split = 1;  // Parts of k.
  bool transposed = false;  // Tiles are those of C transposed.
};

enum class TensorFeature : uint8_t {
  kM,
  kN,
  kK,
  kBatch,
  kLess,  // The smaller of m and n.
  kGreater,
  kElements,  // Of the batch's C.
  kOps,       // 1 where A is transposed, and 2 more where B is.
  kOffA,      // 1 where BeginsOffLines() says so (rows.h).
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
inline constexpr size_t kTensorFeatures = static_cast<size_t>(TensorFeature::kCount);

// A number for each.
using TensorFeatures = std::array<float, kTensorFeatures>;

// Returns the features of a plan that predicts `us`; memory alone takes `memory_us`.
TensorFeatures TensorFeaturesOf(const MatMulArgs& args, const DeviceModel& device,
                                const PlannedTiles& division, double memory_us, double us);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TENSOR_FEATURES_H_
