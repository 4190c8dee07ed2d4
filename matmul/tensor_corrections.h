// What the plans of the kernels of tensor cores (matmul/device/tensor/*_plan.h) do not know:
// factors by which their predictions are multiplied, fitted to times of random products on an H100
// (docs/tuning.md). As those of cost_model.h, a factor is found by comparisons of features of the
// call and of how a plan divides it.

#ifndef STRIDEWISE_MATMUL_TENSOR_CORRECTIONS_H_
#define STRIDEWISE_MATMUL_TENSOR_CORRECTIONS_H_

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
  kStreamK,
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

// Returns the microseconds that a plan predicts, corrected. `memory_us` is what memory takes alone.
// Takes some hundred nanoseconds.
double CorrectedTensorUs(TensorPredicted predicted, const MatMulArgs& args,
                         const DeviceModel& device, const PlannedTiles& division, double memory_us,
                         double us);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TENSOR_CORRECTIONS_H_
