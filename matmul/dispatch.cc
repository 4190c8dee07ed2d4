#include "matmul/dispatch.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/gpu_runtime.h"
#include "common/launch_geometry.h"
#include "common/status_macros.h"
#include "matmul/tile_limits.h"

namespace stridewise {
namespace {

// The thresholds. The table's texts repeat them.
constexpr int64_t kTinyTiles = 100;
constexpr int64_t kTinyTerms = 160;
constexpr int64_t kThin = 16;
constexpr int64_t k32x32Tiles = 200;
constexpr int64_t k32x64Tiles = 132;
constexpr int64_t k64x64Tiles = 264;
constexpr int64_t kFewTerms = 2048;
constexpr int64_t kThinTerms = 512;
constexpr int64_t kBatchTerms = 512;
// How much longer than stream_k these take for an element that their tiles cover.
constexpr double kSlower128x128 = 1.06;
constexpr double kSlower64x64 = 1.22;

// Tiles of the batch's C.
int64_t Tiles(const MatMulArgs& args, int64_t rows, int64_t cols) {
  return CeilDiv(args.m, rows) * CeilDiv(args.n, cols) * args.batch;
}

bool FitsTiles(const MatMulArgs& args) { return args.lda <= kMaxTileLd && args.ldb <= kMaxTileLd; }

bool IsTiny(const MatMulArgs& args) {
  return Tiles(args, 16, 16) <= kTinyTiles && args.k <= kTinyTerms;
}

bool IsThin(const MatMulArgs& args) {
  return std::min(args.m, args.n) <= kThin && args.k >= kThinTerms;
}

bool Is32x32(const MatMulArgs& args) {
  return FitsTiles(args) && Tiles(args, 32, 32) <= k32x32Tiles && args.k <= kFewTerms;
}

bool Is32x64(const MatMulArgs& args) {
  return FitsTiles(args) && Tiles(args, 32, 64) <= k32x64Tiles && args.k <= kFewTerms;
}

// Elements that tiles cover, those outside C too.
double Covered(const MatMulArgs& args, int64_t rows, int64_t cols) {
  return static_cast<double>(Tiles(args, rows, cols) * rows * cols);
}

bool LargerTilesWaste(const MatMulArgs& args) {
  return kSlower64x64 * Covered(args, 64, 64) <
         std::min(Covered(args, 128, 256), kSlower128x128 * Covered(args, 128, 128));
}

bool IsBatchOfSmall(const MatMulArgs& args) {
  return FitsTiles(args) && args.batch > 1 && args.k <= kBatchTerms &&
         Tiles(args, 64, 64) > k64x64Tiles && LargerTilesWaste(args);
}

bool Is64x64(const MatMulArgs& args) {
  return FitsTiles(args) && (Tiles(args, 64, 64) <= k64x64Tiles || LargerTilesWaste(args));
}

bool Is128x128(const MatMulArgs& args) {
  return FitsTiles(args) && kSlower128x128 * Covered(args, 128, 128) < Covered(args, 128, 256);
}

constexpr MatMulDispatch kTable[] = {
    {"tiny", "at most 100 tiles of 16x16 and 160 terms",
     "4 to 7 us up to n = 160, cuBLAS 4 to 10; stream_k_32x32 6 to 8", IsTiny},
    {"thin", "at most 16 rows or columns, and 512 terms or more",
     "reads the large operand once; stream_k_64x64 does four times the work", IsThin},
    {"stream_k_32x32", "at most 200 tiles of 32x32 and 2048 terms",
     "1.45 of cuBLAS at n = 256; stream_k_64x64 0.91", Is32x32},
    {"stream_k_32x64", "at most 132 tiles of 32x64 and 2048 terms",
     "1.19 of cuBLAS at n = 512; stream_k_64x64 0.84", Is32x64},
    {"batch_64x64", "a batch with at most 512 terms whose tiles of 64x64 cover much less",
     "1000 of 64^3: 0.92 of cuBLAS; stream_k_64x64 0.75", IsBatchOfSmall},
    {"stream_k_64x64", "at most 264 tiles of 64x64, or larger tiles would cover 22 % more",
     "1.10 of cuBLAS at n = 1024; stream_k 1.08", Is64x64},
    {"stream_k_128x128", "tiles of 128x256 would cover 6 % more than tiles of 128x128",
     "0.94 to 0.98 of stream_k's speed where both fit", Is128x128},
    {"ragged", "leading dimensions of at most 2^23", "1.03 of cuBLAS at n = 4096, 1.17 at 1536",
     FitsTiles},
    {"general_tile", "everything else", "the only one that takes it",
     [](const MatMulArgs& /*args*/) { return true; }},
};

// The table's, in its order: found by name once, and not in every call.
absl::Span<const MatMulImplementation* const> Implementations() {
  static const auto& found = *[] {
    auto* all = new std::vector<const MatMulImplementation*>;
    for (const MatMulDispatch& row : kTable) {
      all->push_back(FindMatMulImplementation(row.implementation));
    }
    return all;
  }();
  return found;
}

const MatMulImplementation& ImplementationOf(const MatMulDispatch& row) {
  return *Implementations()[static_cast<size_t>(&row - kTable)];
}

bool HasNoElements(const MatMulArgs& args) { return args.m == 0 || args.n == 0 || args.batch == 0; }

}  // namespace

absl::Span<const MatMulDispatch> MatMulDispatchTable() { return kTable; }

const MatMulDispatch& ChooseMatMul(const MatMulArgs& args, int compute_capability) {
  const MatMulDispatch* row = kTable;
  while (ImplementationOf(*row).min_compute_capability > compute_capability ||
         !row->applies(args)) {
    ++row;
  }
  return *row;
}

absl::Status RunChosenMatMul(const MatMulArgs& args, int compute_capability,
                             absl::Status (*run)(const MatMulImplementation& implementation,
                                                 const MatMulArgs& args)) {
  if (HasNoElements(args)) return absl::OkStatus();
  return run(ImplementationOf(ChooseMatMul(args, compute_capability)), args);
}

absl::Status MatMulAuto(const MatMulArgs& args) {
  if (HasNoElements(args)) return absl::OkStatus();  // Which needs no device.
  ASSIGN_OR_RETURN(const int compute_capability, gpu::CurrentComputeCapability());
  return RunChosenMatMul(args, compute_capability, RunMatMul);
}

// 0 where there is no device to choose for.
int64_t MatMulAutoWorkspaceBytes(const MatMulArgs& args) {
  const absl::StatusOr<int> compute_capability = gpu::CurrentComputeCapability();
  if (HasNoElements(args) || !compute_capability.ok()) return 0;
  return MatMulWorkspaceBytes(ImplementationOf(ChooseMatMul(args, *compute_capability)), args);
}

}  // namespace stridewise
