#include "transpose/dispatch.h"

#include <cstdint>
#include <vector>

#include "common/base/status_macros.h"
#include "transpose/alignment.h"

namespace stridewise {
namespace {

// The thresholds. The table's texts repeat them.
constexpr int64_t kSmallMatrixBytes = 8 << 10;
constexpr int64_t kThinExtent = 32;                  // Tiles are mostly empty below,
constexpr int64_t kSmallThinMatrixBytes = 48 << 10;  // and so more counts as small.
constexpr int64_t kFewColumns = 20;
constexpr int64_t kFewRows = 20;
constexpr int64_t kManyTimes = 8;  // The other extent of a matrix of few columns or rows, in these.
// Matrices of a batch that are worth a launch each; the fewer bytes, the more a launch costs.
constexpr int64_t kBytesWorthALaunch = int64_t{1} << 20;
constexpr int64_t kSectorBytes = 32;
constexpr int64_t kTile = 64;
constexpr double kMostlyFull = 0.85;

int64_t MatrixBytes(const TransposeArgs& args) {
  return args.rows * args.cols * args.element_bytes;
}

// Matrix upon matrix and row upon row without a byte between them.
bool IsGapless(const TransposeArgs& args) {
  const int64_t elements = args.rows * args.cols;
  return args.ld_in == args.cols && args.ld_out == args.rows && args.stride_in == elements &&
         args.stride_out == elements;
}

bool IsBatchOfSmall(const TransposeArgs& args) {
  const bool thin = args.rows < kThinExtent || args.cols < kThinExtent;
  return args.batch > 1 && IsGapless(args) &&
         MatrixBytes(args) <= (thin ? kSmallThinMatrixBytes : kSmallMatrixBytes);
}

bool IsWorthALaunch(const TransposeArgs& args) {
  return args.batch <= 1 || MatrixBytes(args) >= kBytesWorthALaunch;
}

bool HasFewColumns(const TransposeArgs& args) {
  return args.cols <= kFewColumns && args.rows >= kManyTimes * args.cols && IsWorthALaunch(args);
}

bool HasFewRows(const TransposeArgs& args) {
  return args.rows <= kFewRows && args.cols >= kManyTimes * args.rows && IsWorthALaunch(args);
}

bool IsLine(const TransposeArgs& args) {
  const bool gapless = args.rows == 1 ? args.ld_out == 1 : args.cols == 1 && args.ld_in == 1;
  return gapless && IsAt(args.in, kWidestAccessBytes) && IsAt(args.out, kWidestAccessBytes) &&
         IsWorthALaunch(args);
}

// Whether tiles of 64x64, or so, are mostly full.
bool FillsTiles(const TransposeArgs& args) {
  const auto covered = [](int64_t extent) { return (extent + kTile - 1) / kTile * kTile; };
  return static_cast<double>(args.rows) * static_cast<double>(args.cols) >=
         kMostlyFull * static_cast<double>(covered(args.rows)) *
             static_cast<double>(covered(args.cols));
}

// Every row of every matrix, on both sides, is made of whole vectors, and those of `out` begin with
// a sector: sectors that two tiles share cost tile_vector 4 points of a copy's speed.
bool IsOfVectors(const TransposeArgs& args) {
  return FillsTiles(args) && IsMadeOf(args, kWidestAccessBytes) &&
         args.ld_out * args.element_bytes % kSectorBytes == 0;
}

constexpr TransposeDispatch kTable[] = {
    {"batch_small",
     "a batch without gaps of matrices of at most 8 KiB, or 48 KiB below 32 rows or columns",
     "0.97 to 1.15 of memcpy for 16x16, 7x5 and 33x31 floats; tile_vector 0.30 to 0.58",
     IsBatchOfSmall},
    {"one_line", "one row or one column without gaps, pointers multiples of 16 bytes",
     "0.95 of memcpy at 1x67108864 floats; few_rows 0.80", IsLine},
    {"few_columns",
     "at most 20 columns and 8 times as many rows; in a batch, matrices of 1 MiB or more",
     "0.96 to 0.99 of memcpy from 2 to 7 columns of floats, 0.92 at 20; tile_ragged 0.17 to 0.52, "
     "0.92",
     HasFewColumns},
    {"few_rows",
     "at most 20 rows and 8 times as many columns; in a batch, matrices of 1 MiB or more",
     "0.99 to 1.00 of memcpy from 2 to 7 rows of floats, 0.89 at 20; tile_ragged 0.12 to 0.36, "
     "0.90",
     HasFewRows},
    {"tile_vector",
     "pointers, rows, columns and leading dimensions multiples of 16 bytes, ld_out of 32, that "
     "fill "
     "85 % of 64x64 tiles",
     "0.98 of memcpy at 8192x8192 floats; tile_ragged 0.96", IsOfVectors},
    {"tile_ragged", "everything else", "0.95 of memcpy at 8193x8191 floats; tile_vector 0.49",
     [](const TransposeArgs& /*args*/) { return true; }},
};

// The table's, in its order: found by name once, and not in every call.
absl::Span<const TransposeImplementation* const> Implementations() {
  static const auto& found = *[] {
    auto* all = new std::vector<const TransposeImplementation*>;
    for (const TransposeDispatch& row : kTable) {
      all->push_back(FindTransposeImplementation(row.implementation));
    }
    return all;
  }();
  return found;
}

// `elements` behind `data`.
template <typename Void>
Void* Advance(Void* data, int64_t elements, int64_t element_bytes) {
  return reinterpret_cast<Void*>(reinterpret_cast<uintptr_t>(data) +
                                 static_cast<uintptr_t>(elements * element_bytes));
}

}  // namespace

absl::Span<const TransposeDispatch> TransposeDispatchTable() { return kTable; }

const TransposeDispatch& ChooseTranspose(const TransposeArgs& args) {
  const TransposeDispatch* row = kTable;
  while (!row->applies(args)) ++row;
  return *row;
}

absl::Status RunChosenTranspose(const TransposeArgs& args,
                                absl::Status (*run)(const TransposeImplementation& implementation,
                                                    const TransposeArgs& args)) {
  if (args.rows == 0 || args.cols == 0 || args.batch == 0) return absl::OkStatus();
  const TransposeImplementation* chosen = Implementations()[&ChooseTranspose(args) - kTable];
  TransposeArgs call = args;
  call.block = kNoBlock;  // Its own.
  if (chosen->batches || args.batch == 1) return run(*chosen, call);
  call.batch = 1;
  for (int64_t i = 0; i < args.batch; ++i) {
    call.in = Advance(args.in, i * args.stride_in, args.element_bytes);
    call.out = Advance(args.out, i * args.stride_out, args.element_bytes);
    RETURN_IF_ERROR(run(*chosen, call));
  }
  return absl::OkStatus();
}

absl::Status TransposeAuto(const TransposeArgs& args) {
  return RunChosenTranspose(args, RunTranspose);
}

}  // namespace stridewise
