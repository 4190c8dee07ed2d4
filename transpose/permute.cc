#include "transpose/permute.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/string_view.h"
#include "common/base/status_macros.h"
#include "transpose/dispatch.h"
#include "transpose/permute_as_transpose.h"
#include "transpose/permute_blocks_plan.h"
#include "transpose/permute_flat_plan.h"
#include "transpose/permute_joined_plan.h"
#include "transpose/permute_rows_plan.h"
#include "transpose/permute_vector_plan.h"
#include "transpose/registry.h"

namespace stridewise {
namespace {

// Returns whether tiles of several dimensions are faster than Transpose()'s kernels: those that cut
// matrices into tiles are made for matrices that fill them. 0.27 of a copy for 10 matrices of 47 x
// 584010 bytes in permute_tile, 0.96 in few_rows. Of bytes in some columns, tiles have
// neighbouring rows of `out` where few_columns has strips: on an H200 0.78 for 1358 matrices of
// 1812x28, and 0.70 there; of 2 bytes 0.94 for 64 of 7836x28, and 1.12.
bool IsSkinny(const TransposeArgs& args) {
  constexpr int64_t kSkinny = 64;
  constexpr int64_t kSomeColumns = 14;
  constexpr int64_t kManyColumns = 32;
  constexpr int64_t kManyRows = 1000;
  constexpr int64_t kManyBytes = 15000000;
  if (std::min(args.rows, args.cols) >= kSkinny) return false;
  const absl::string_view kernel = ChooseTranspose(args).implementation;
  if (args.element_bytes == 1 && kernel == "few_columns") {
    return args.cols >= kSomeColumns && args.cols < kManyColumns && args.rows >= kManyRows &&
           args.batch * args.rows * args.cols >= kManyBytes;
  }
  return kernel == "tile_ragged" || kernel == "tile_vector";
}

// Returns whether few instructions before the first load matter more than whole sectors:
// 92x4x3x5x68 bytes reach 0.62 of a copy as words, 0.57 in flat tiles; 15 times as many 0.36 and
// 0.86.
bool TakesAsLongAsALaunch(const PermuteArgs& args) {
  const int64_t most = args.element_bytes == 1   ? 750000
                       : args.element_bytes == 2 ? 1000000
                                                 : 2000000;
  return IsDirect(args) && Elements(args) * args.element_bytes <= most;
}

// Returns whether rows that stay are so short that tiles, which hold neighbours of a row on both
// sides, are faster: on an H100 rows of 37 words reach 0.97 of a copy in tiles and 0.84 shifted, 13
// elements of 2 bytes 0.80 to 0.94 and 0.34 to 0.92. Of whole vectors only those of large tensors
// are: on an H200 80 bytes of 531x8x336x5, 114 MB, 0.95 and 0.89, and 160 bytes of 32x128x32x80,
// 21 MB, 0.83 and 0.97. So are longer rows of small elements: 57 elements of 2 bytes of
// 11x4x7x776x57, 27 MB, 0.82 and 0.70, of 8x25x7x7x6x57, 7 MB, 0.87 and 0.89; 19 bytes of
// 4x464x244x5x19, 43 MB, 0.76 and 0.46, 17 of 66x96x26x17, 3 MB, 0.79 and 0.99.
bool HasRowsForTiles(const PermuteArgs& args) {
  const int64_t row_bytes = args.dims[0].extent * args.element_bytes;
  const int64_t bytes = Elements(args) * args.element_bytes;
  constexpr int64_t kLarge = 15000000;
  switch (args.element_bytes) {
    case 1:
      return row_bytes < 24 && bytes >= kLarge;
    case 2:
      return row_bytes < 40 || (row_bytes < 600 && bytes >= kLarge);
    case 4:
      return row_bytes < 192;
    case 16:
      return row_bytes < 96 && bytes >= 100000000;
    default:
      return false;
  }
}

// Returns whether rows that stay are moved faster by vectors that are shifted than by elements or
// through tiles. Rows of 4 bytes are moved word by word otherwise, at 0.62 to 0.68 of a copy for
// 49, 217 and 1177 words; shorter ones, as 15 floats, have 0.92 in tiles, which load few of such
// elements from shared memory, and 0.70 shifted.
bool IsWorthShifting(const PermuteArgs& args) {
  if (!KeepsRowsOfBytes(args) || TakesAsLongAsALaunch(args) || HasRowsForTiles(args)) return false;
  return args.element_bytes < 4 || (args.element_bytes == 4 && KeepsRows(args));
}

bool IsCopy(const PermuteArgs& args) {
  return args.rank == 0 ||
         (args.rank == 1 && args.dims[0].stride_in == 1 && args.dims[0].stride_out == 1);
}

}  // namespace

PermuteMethod ChoosePermute(const PermuteArgs& canonical) {
  if (Elements(canonical) == 0) return PermuteMethod::kNothing;
  if (IsCopy(canonical)) return PermuteMethod::kCopy;
  constexpr int64_t kWordBytes = 4;
  const int64_t interleaved = InterleavedBytes(canonical);
  if (interleaved >= kWordBytes || (interleaved > 0 && !TakesAsLongAsALaunch(canonical))) {
    return PermuteMethod::kInterleave;
  }
  TransposeArgs args;
  MatrixOffsets offsets;
  const bool transposes = AsTranspose(canonical, &args, &offsets) && !IsSkinny(args);
  const bool nests = transposes && offsets.nested != 0;
  if (transposes && !nests) return PermuteMethod::kTranspose;
  if (IsWorthShifting(canonical)) return PermuteMethod::kRowBytes;
  if (KeepsRows(canonical) && !HasRowsForTiles(canonical)) return PermuteMethod::kRows;
  if (TakesAsLongAsALaunch(canonical)) return PermuteMethod::kDirect;
  if (PrefersVectors(canonical)) return PermuteMethod::kVector;
  if (nests && IsWorthNesting(args, offsets)) return PermuteMethod::kTranspose;
  if (PrefersBlocks(canonical)) return PermuteMethod::kBlocks;
  if (JoinsColumns(canonical)) return PermuteMethod::kJoined;
  if (HasFlatRuns(canonical)) return PermuteMethod::kFlat;
  return canonical.element_bytes < 4 && HasBlocks(canonical) ? PermuteMethod::kBlocks
                                                             : PermuteMethod::kTiles;
}

absl::Status PermuteByCopy(const PermuteArgs& canonical) {
  static const TransposeImplementation& memcpy = *FindByName(TransposeLibrary(), "memcpy");
  if (!IsCopy(canonical)) return absl::InvalidArgumentError("the permutation is no copy");
  TransposeArgs args;
  args.rows = 1;
  args.cols = Elements(canonical);
  args.element_bytes = canonical.element_bytes;
  args.in = canonical.in;
  args.ld_in = args.cols;
  args.out = canonical.out;
  args.ld_out = args.cols;
  args.stream = canonical.stream;
  return RunTranspose(memcpy, args);
}

absl::Status PermuteByTranspose(const PermuteArgs& canonical) {
  TransposeArgs args;
  MatrixOffsets offsets;
  if (!IsTranspose(canonical) || !AsTranspose(canonical, &args, &offsets)) {
    return absl::InvalidArgumentError("the permutation is no transpose of matrices");
  }
  if (offsets.nested == 0) return RunChosenTranspose(args, RunTranspose);
  const NestedTranspose kernel = NestedTransposeFor(args);
  if (kernel != nullptr) return kernel(args, offsets);
  for (int64_t i = 0; i < args.batch / offsets.nested; ++i) {
    RETURN_IF_ERROR(RunChosenTranspose(BatchOf(args, offsets, i), RunTranspose));
  }
  return absl::OkStatus();
}

absl::Status Permute(const PermuteProblem& problem, cudaStream_t stream) {
  ASSIGN_OR_RETURN(PermuteArgs args, CheckedPermuteArgs(problem));
  if (Elements(args) == 0) return absl::OkStatus();
  args.stream = stream;
  const PermuteArgs canonical = Canonical(args);
  switch (ChoosePermute(canonical)) {
    case PermuteMethod::kNothing:
      return absl::OkStatus();
    case PermuteMethod::kCopy:
      return PermuteByCopy(canonical);
    case PermuteMethod::kTranspose:
      return PermuteByTranspose(canonical);
    case PermuteMethod::kRows:
      return PermuteRows(canonical);
    case PermuteMethod::kRowBytes:
      return PermuteRowBytes(canonical);
    case PermuteMethod::kInterleave:
      return PermuteInterleave(canonical);
    case PermuteMethod::kDirect:
      return PermuteDirect(canonical);
    case PermuteMethod::kVector:
      return PermuteVector(canonical);
    case PermuteMethod::kFlat:
      return PermuteFlat(canonical);
    case PermuteMethod::kJoined:
      return PermuteJoined(canonical);
    case PermuteMethod::kBlocks:
      return PermuteBlocks(canonical);
    case PermuteMethod::kTiles:
      return PermuteTiles(canonical);
  }
  return absl::OkStatus();
}

}  // namespace stridewise
