// Permutations that are transposes: of one matrix, of a batch, or of a batch of batches, whose
// matrices lie in another order in `in` than in `out`.

#ifndef STRIDEWISE_TRANSPOSE_PERMUTE_AS_TRANSPOSE_H_
#define STRIDEWISE_TRANSPOSE_PERMUTE_AS_TRANSPOSE_H_

#include "transpose/args.h"
#include "transpose/permute_args.h"
#include "transpose/registry.h"

namespace stridewise {

// Sets `args` to the same permutation as a transpose. Returns false where it is none. REQUIRES:
// `canonical` is what Canonical() returned.
bool AsTranspose(const PermuteArgs& canonical, TransposeArgs* args);

// Returns what Transpose() takes for these matrices, or null where that takes no batches of batches
// and they are one.
const TransposeImplementation* ChosenOfNested(const TransposeArgs& args);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_PERMUTE_AS_TRANSPOSE_H_
