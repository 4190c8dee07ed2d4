// Which vectors of `out` the threads of a warp of permute_tile.cu gather at the same time, where
// elements have 1 or 2 bytes.
//
// A vector is then eight or sixteen loads from shared memory, and banks are what they wait for:
// bytes of `156x8x976x8x12:20413` had 64 wavefronts for 512 bytes where 16 would do. How many
// neighbouring vectors of a row are side by side, and which word a thread loads first, is therefore
// chosen by counting the wavefronts of some loads.

#ifndef STRIDEWISE_TRANSPOSE_PERMUTE_LANES_H_
#define STRIDEWISE_TRANSPOSE_PERMUTE_LANES_H_

#include <cstdint>

#include "transpose/permute_plan.h"

namespace stridewise {

// Sets the plan's log2_neighbours, out_groups, rotation_mask and rotation_shift to those with which
// a warp's loads cost least. Takes about 25 us of the host. REQUIRES: all else of the plan is set,
// for elements of `element_bytes`, 1 or 2.
void ChooseLanes(int64_t element_bytes, PermutePlan* plan);

// Returns how long 512 bytes of `out` take the loads and stores of the plan's warps, in wavefronts
// of shared memory, of a sample.
// REQUIRES: as above.
double LaneCost(int64_t element_bytes, const PermutePlan& plan);

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_PERMUTE_LANES_H_
