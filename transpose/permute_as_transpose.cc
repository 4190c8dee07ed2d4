#include "transpose/permute_as_transpose.h"

#include <cstdint>

#include "transpose/dispatch.h"
#include "transpose/permute.h"

namespace stridewise {

bool AsTranspose(const PermuteArgs& permutation, TransposeArgs* args) {
  constexpr int64_t kMostNested = int64_t{1} << 31;
  const int rank = permutation.rank;
  if (rank < 2 || rank > 4 || permutation.dims[0].stride_out != 1) return false;
  int inner = 1;
  while (inner < rank && permutation.dims[inner].stride_in != 1) ++inner;
  if (inner == rank) return false;
  const PermuteDimension& rows = permutation.dims[0];
  const PermuteDimension& cols = permutation.dims[inner];
  PermuteDimension batch[2];  // By their stride in `out`, the smaller first.
  int batches = 0;
  for (int d = 1; d < rank; ++d) {
    if (d != inner) batch[batches++] = permutation.dims[d];
  }
  if (rows.stride_in < cols.extent || cols.stride_out < rows.extent) return false;
  const int64_t span = (cols.extent - 1) * cols.stride_out + rows.extent;
  if (batches > 0 && batch[0].stride_out < span) return false;
  *args = TransposeArgs();
  args->rows = rows.extent;
  args->cols = cols.extent;
  args->element_bytes = permutation.element_bytes;
  args->in = permutation.in;
  args->ld_in = rows.stride_in;
  args->out = permutation.out;
  args->ld_out = cols.stride_out;
  args->batch = batch[0].extent;
  args->stride_in = batch[0].stride_in;
  args->stride_out = batch[0].stride_out;
  args->stream = permutation.stream;
  if (batches < 2) return true;
  if (batch[1].stride_out < (batch[0].extent - 1) * batch[0].stride_out + span) return false;
  args->batch *= batch[1].extent;
  args->nested = batch[0].extent;
  args->outer_in = batch[1].stride_in;
  args->outer_out = batch[1].stride_out;
  return args->batch < kMostNested;
}

bool IsTranspose(const PermuteArgs& canonical) {
  TransposeArgs args;
  return AsTranspose(canonical, &args);
}

const TransposeImplementation* ChosenOfNested(const TransposeArgs& args) {
  const TransposeImplementation& chosen = ChosenTranspose(args);
  return args.nested == 0 || chosen.nested_batches ? &chosen : nullptr;
}

}  // namespace stridewise
