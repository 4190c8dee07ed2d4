#include "transpose/permute_as_transpose.h"

#include <cstdint>
#include <numeric>

#include "absl/strings/string_view.h"
#include "transpose/dispatch.h"
#include "transpose/permute.h"

namespace stridewise {

bool AsTranspose(const PermuteArgs& canonical, TransposeArgs* args, MatrixOffsets* offsets) {
  constexpr int64_t kMostNested = int64_t{1} << 31;
  const int rank = canonical.rank;
  if (rank < 2 || rank > 4 || canonical.dims[0].stride_out != 1) return false;
  int inner = 1;
  while (inner < rank && canonical.dims[inner].stride_in != 1) ++inner;
  if (inner == rank) return false;
  const PermuteDimension& rows = canonical.dims[0];
  const PermuteDimension& cols = canonical.dims[inner];
  PermuteDimension batch[2];  // By their stride in `out`, the smaller first.
  int batches = 0;
  for (int d = 1; d < rank; ++d) {
    if (d != inner) batch[batches++] = canonical.dims[d];
  }
  if (rows.stride_in < cols.extent || cols.stride_out < rows.extent) return false;
  const int64_t span = (cols.extent - 1) * cols.stride_out + rows.extent;
  if (batches > 0 && batch[0].stride_out < span) return false;
  *args = TransposeArgs();
  args->rows = rows.extent;
  args->cols = cols.extent;
  args->element_bytes = canonical.element_bytes;
  args->in = canonical.in;
  args->ld_in = rows.stride_in;
  args->out = canonical.out;
  args->ld_out = cols.stride_out;
  args->batch = batch[0].extent;
  args->stride_in = batch[0].stride_in;
  args->stride_out = batch[0].stride_out;
  args->stream = canonical.stream;
  *offsets = OffsetsOf(*args);
  if (batches < 2) return true;
  if (batch[1].stride_out < (batch[0].extent - 1) * batch[0].stride_out + span) return false;
  args->batch *= batch[1].extent;
  if (args->batch >= kMostNested) return false;
  const auto nested = static_cast<uint32_t>(batch[0].extent);
  *offsets = {args->stride_in,     args->stride_out, batch[1].stride_in,
              batch[1].stride_out, nested,           BlockDivisor(nested)};
  // As aligned as the two together, and never without gaps.
  constexpr int64_t kOdd = 3;
  args->stride_in = kOdd * std::gcd(offsets->stride_in, offsets->outer_in);
  args->stride_out = kOdd * std::gcd(offsets->stride_out, offsets->outer_out);
  return true;
}

bool IsTranspose(const PermuteArgs& canonical) {
  TransposeArgs args;
  MatrixOffsets offsets;
  return AsTranspose(canonical, &args, &offsets) &&
         (offsets.nested == 0 || IsWorthNesting(args, offsets));
}

NestedTranspose NestedTransposeFor(const TransposeArgs& args) {
  const absl::string_view kernel = ChooseTranspose(args).implementation;
  if (kernel == "tile_strips") return NestedTileStrips;
  return kernel == "tile_flat" ? NestedTileFlat : nullptr;
}

TransposeArgs BatchOf(const TransposeArgs& args, const MatrixOffsets& offsets, int64_t number) {
  TransposeArgs batch = args;
  batch.in = static_cast<const char*>(args.in) + number * offsets.outer_in * args.element_bytes;
  batch.out = static_cast<char*>(args.out) + number * offsets.outer_out * args.element_bytes;
  batch.batch = offsets.nested;
  batch.stride_in = offsets.stride_in;
  batch.stride_out = offsets.stride_out;
  return batch;
}

bool IsWorthNesting(const TransposeArgs& args, const MatrixOffsets& offsets) {
  constexpr int64_t kLeastBytes = 32 << 10;
  constexpr int64_t kBytesWorthALaunch = 16000000;
  if (args.ld_in != args.cols) return false;
  const NestedTranspose kernel = NestedTransposeFor(args);
  if (kernel == NestedTileStrips) return true;
  const int64_t bytes = args.rows * args.cols * args.element_bytes;
  return kernel != nullptr ? bytes >= kLeastBytes : bytes * offsets.nested >= kBytesWorthALaunch;
}

}  // namespace stridewise
