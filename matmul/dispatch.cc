#include "matmul/dispatch.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "common/base/status_macros.h"
#include "common/gpu/gpu_runtime.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/tile_limits.h"
#include "matmul/tuning.h"

namespace stridewise {
namespace {

// Tiles of the batch's C.
int64_t Tiles(const MatMulArgs& args, int64_t rows, int64_t cols) {
  return CeilDiv(args.m, rows) * CeilDiv(args.n, cols) * args.batch;
}

bool FitsTiles(const MatMulArgs& args) {
  return args.a.ld <= kMaxTileLd && args.b.ld <= kMaxTileLd;
}

bool IsTiny(const MatMulArgs& args, const MatMulTuning& tuning) {
  return args.k <= tuning.tiny_terms &&
         Tiles(args, 16, 16) <= tuning.tiny_work / std::max<int64_t>(args.k, 1);
}

bool IsThin(const MatMulArgs& args, const MatMulTuning& tuning) {
  return std::min(args.m, args.n) <= tuning.thin_lines && args.k >= tuning.thin_terms;
}

// What it takes to cover C with tiles, those of its edges too, if there are many: see the field
// whose percentage this is. Smaller tiles are slower, and cover less outside C.
double Cost(const MatMulArgs& args, int64_t rows, int64_t cols, int64_t percent) {
  return static_cast<double>(Tiles(args, rows, cols) * rows * cols) *
         (static_cast<double>(percent) / 100);
}

// The least of these tiles and all larger ones.
double CostFrom128x128(const MatMulArgs& args, const MatMulTuning& tuning) {
  return std::min(Cost(args, 128, 128, tuning.slower_128x128), Cost(args, 128, 256, 100));
}
double CostFrom64x64(const MatMulArgs& args, const MatMulTuning& tuning) {
  return std::min(Cost(args, 64, 64, tuning.slower_64x64), CostFrom128x128(args, tuning));
}
double CostFrom32x64(const MatMulArgs& args, const MatMulTuning& tuning) {
  return std::min(Cost(args, 32, 64, tuning.slower_32x64), CostFrom64x64(args, tuning));
}

// For tiles of 32 rows: they and the terms are few, or they cover C in less time than larger ones.
bool IsFor32Rows(const MatMulArgs& args, const MatMulTuning& tuning, int64_t cols, int64_t tiles,
                 int64_t slower, double cost_of_larger) {
  const bool few = Tiles(args, 32, cols) <= tiles && args.k <= tuning.few_terms;
  const bool cheapest =
      Cost(args, 32, cols, slower) < cost_of_larger && args.k > tuning.short_terms;
  return FitsTiles(args) && (few || cheapest);
}

bool Is32x32(const MatMulArgs& args, const MatMulTuning& tuning) {
  return IsFor32Rows(args, tuning, 32, tuning.tiles_32x32, tuning.slower_32x32,
                     CostFrom32x64(args, tuning));
}

bool Is32x64(const MatMulArgs& args, const MatMulTuning& tuning) {
  return IsFor32Rows(args, tuning, 64, tuning.tiles_32x64, tuning.slower_32x64,
                     CostFrom64x64(args, tuning));
}

bool IsFor64x64(const MatMulArgs& args, const MatMulTuning& tuning) {
  return FitsTiles(args) && Tiles(args, 64, 64) <= tuning.tiles_64x64;
}

bool IsRound64x64(const MatMulArgs& args, const MatMulTuning& tuning) {
  const int64_t tiles = Tiles(args, 64, 64);
  return FitsTiles(args) && tiles >= tuning.round_from && tiles <= tuning.round_to &&
         args.k <= tuning.few_terms;
}

bool IsMany64x64(const MatMulArgs& args, const MatMulTuning& tuning) {
  if (IsFor64x64(args, tuning)) return args.k <= tuning.short_terms;
  return FitsTiles(args) && Cost(args, 64, 64, tuning.slower_64x64) < CostFrom128x128(args, tuning);
}

bool Is128x128(const MatMulArgs& args, const MatMulTuning& tuning) {
  return FitsTiles(args) && Cost(args, 128, 128, tuning.slower_128x128) < Cost(args, 128, 256, 100);
}

bool IsForTiles(const MatMulArgs& args, const MatMulTuning& /*tuning*/) { return FitsTiles(args); }

bool IsAnything(const MatMulArgs& /*args*/, const MatMulTuning& /*tuning*/) { return true; }

// Words such as tiny_work are the fields of MatMulTuning.
constexpr MatMulDispatch kTable[] = {
    {"tiny", "tiles of 16x16 times terms are at most tiny_work, and terms tiny_terms",
     "3.4 to 6.1 us up to n = 160, cuBLAS 4.3 to 10; stream_k_32x32 6 to 7", IsTiny},
    {"thin", "at most thin_lines rows or columns, and thin_terms terms or more",
     "reads the large operand once; stream_k_64x64 does four times the work", IsThin},
    {"stream_k_32x32",
     "at most tiles_32x32 tiles of 32x32 and few_terms terms; or covers C in less time than larger "
     "tiles (slower_32x32)",
     "7.1 us at n = 256, cuBLAS 11, stream_k_32x64 9.3", Is32x32},
    {"stream_k_32x64",
     "at most tiles_32x64 tiles of 32x64 and few_terms terms; or covers C in less time than larger "
     "tiles (slower_32x64)",
     "13.9 us at n = 512, cuBLAS 16.5, stream_k_64x64 15.5", Is32x64},
    {"batch_64x64",
     "more than tiles_64x64 tiles of 64x64, where they cover C in less time than larger ones "
     "(slower_64x64); or no more, and at most short_terms terms",
     "1000 of 64^3: 1.07 of cuBLAS; stream_k_64x64 0.75", IsMany64x64},
    {"round_64x64", "round_from to round_to tiles of 64x64, and few_terms terms or fewer",
     "24.2 us at n = 704, cuBLAS 28.0, stream_k_64x64 27.2", IsRound64x64},
    {"stream_k_64x64", "at most tiles_64x64 tiles of 64x64",
     "19.1 us at n = 576, cuBLAS 19.9, round_64x64 20.8", IsFor64x64},
    {"stream_k_128x128", "covers C in less time than tiles of 128x256 (slower_128x128)",
     "31 us at n = 768, cuBLAS 36, ragged 33", Is128x128},
    {"ragged", "leading dimensions of at most 2^23", "1.10 of cuBLAS at n = 4096, 1.2 at 1536",
     IsForTiles},
    {"general_tile", "everything else", "the only one that takes it", IsAnything},
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
  return ChooseMatMul(args, compute_capability, TuningFor(compute_capability));
}

const MatMulDispatch& ChooseMatMul(const MatMulArgs& args, int compute_capability,
                                   const MatMulTuning& tuning) {
  const MatMulDispatch* row = kTable;
  while (ImplementationOf(*row).target.min_compute_capability > compute_capability ||
         !row->applies(args, tuning)) {
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
