#include "transpose/permute.h"

#include <algorithm>
#include <cstdint>

#include "common/base/status_macros.h"
#include "transpose/permute_rows_plan.h"
#include "transpose/registry.h"
#include "transpose/transpose.h"

namespace stridewise {
namespace {

// Sets `transpose` to the same permutation as a transpose of one matrix or of a batch. Returns
// false where it is none.
bool AsTranspose(const PermuteArgs& args, MatrixView* in, MutableMatrixView* out) {
  if (args.rank < 2 || args.rank > 3 || args.dims[0].stride_out != 1) return false;
  const PermuteDimension& rows = args.dims[0];
  int inner = 1;
  if (args.rank == 3 && args.dims[2].stride_in == 1) inner = 2;
  const PermuteDimension& cols = args.dims[inner];
  PermuteDimension batch;  // One matrix.
  if (args.rank == 3) batch = args.dims[3 - inner];
  if (cols.stride_in != 1 || rows.stride_in < cols.extent || cols.stride_out < rows.extent) {
    return false;
  }
  const int64_t span = (cols.extent - 1) * cols.stride_out + rows.extent;
  if (batch.extent > 1 && batch.stride_out < span) return false;
  *in = {args.in,      rows.extent,    cols.extent, rows.stride_in, args.element_bytes,
         batch.extent, batch.stride_in};
  *out = {args.out,           cols.extent,  rows.extent,     cols.stride_out,
          args.element_bytes, batch.extent, batch.stride_out};
  return true;
}

// Returns whether tiles that pack several dimensions are faster than Transpose()'s kernels: 0.59
// and 0.15 of a copy for 32 pictures of three channels of bytes. Matrices that are small enough to
// be moved whole are better off there, and those for which few_rows and few_columns are made.
bool IsSkinny(const MatrixView& in, const MutableMatrixView& out) {
  constexpr int64_t kSkinny = 64;
  constexpr int64_t kMovedWhole = 8 << 10;
  constexpr int64_t kFew = 20;
  const int64_t side = std::min(in.rows, in.cols);
  const bool is_flat = in.rows < in.cols ? out.ld == in.rows : in.ld == in.cols;
  const bool few =
      side <= kFew && (in.batch == 1 || (is_flat && std::max(in.rows, in.cols) >= 8 * side));
  return side < kSkinny && !few && in.rows * in.cols * in.element_bytes > kMovedWhole;
}

bool IsCopy(const PermuteArgs& args) {
  return args.rank == 0 ||
         (args.rank == 1 && args.dims[0].stride_in == 1 && args.dims[0].stride_out == 1);
}

}  // namespace

bool IsTranspose(const PermuteArgs& canonical) {
  MatrixView in;
  MutableMatrixView out;
  return AsTranspose(canonical, &in, &out);
}

PermuteMethod ChoosePermute(const PermuteArgs& canonical) {
  if (Elements(canonical) == 0) return PermuteMethod::kNothing;
  if (IsCopy(canonical)) return PermuteMethod::kCopy;
  MatrixView in;
  MutableMatrixView out;
  const bool transposes = AsTranspose(canonical, &in, &out) && !IsSkinny(in, out);
  if (transposes) return PermuteMethod::kTranspose;
  return KeepsRows(canonical) ? PermuteMethod::kRows : PermuteMethod::kTiles;
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
  MatrixView in;
  MutableMatrixView out;
  if (AsTranspose(canonical, &in, &out)) return Transpose(in, out, canonical.stream);
  return absl::InvalidArgumentError("the permutation is no transpose of matrices");
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
    case PermuteMethod::kTiles:
      return PermuteTiles(canonical);
  }
  return absl::OkStatus();
}

}  // namespace stridewise
