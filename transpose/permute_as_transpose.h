// Permutations that are transposes: of one matrix, of a batch, or of a batch of batches, whose
// matrices lie in another order in `in` than in `out`.

#ifndef STRIDEWISE_TRANSPOSE_PERMUTE_AS_TRANSPOSE_H_
#define STRIDEWISE_TRANSPOSE_PERMUTE_AS_TRANSPOSE_H_

#include "common/gpu/launch_status.h"
#include "transpose/args.h"
#include "transpose/device/matrix_offsets.h"
#include "transpose/permute_args.h"

namespace stridewise {

// Sets `args` to the same permutation as a transpose, and `offsets` to where its matrices lie.
// Returns false where it is none. Of a batch of batches args.batch counts all matrices, and its
// strides say no more than how matrices are aligned. REQUIRES: `canonical` is what Canonical()
// returned.
bool AsTranspose(const PermuteArgs& canonical, TransposeArgs* args, MatrixOffsets* offsets);

// A kernel of Transpose() for batches of batches.
using NestedTranspose = LaunchStatus (*)(const TransposeArgs& args, const MatrixOffsets& offsets);

// Returns what Transpose() takes for the matrices, or null where that takes no batches of batches.
NestedTranspose NestedTransposeFor(const TransposeArgs& args);

// Returns the arguments of one of the batches, of which there are args.batch / offsets.nested.
TransposeArgs BatchOf(const TransposeArgs& args, const MatrixOffsets& offsets, int64_t number);

// Returns whether a batch of batches is for Transpose()'s kernels: matrices without gaps, of which
// tile_strips' blocks take several, or large ones; or batches that are worth a launch each.
bool IsWorthNesting(const TransposeArgs& args, const MatrixOffsets& offsets);

// The kernels of library/, of namespace executor, too.
LaunchStatus NestedTileStrips(const TransposeArgs& args, const MatrixOffsets& offsets);
LaunchStatus NestedTileFlat(const TransposeArgs& args, const MatrixOffsets& offsets);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_PERMUTE_AS_TRANSPOSE_H_
