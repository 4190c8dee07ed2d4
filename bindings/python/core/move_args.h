// What a move of an array's elements is to the C library: the arguments of a permutation or of a
// transpose.

#ifndef STRIDEWISE_BINDINGS_PYTHON_CORE_MOVE_ARGS_H_
#define STRIDEWISE_BINDINGS_PYTHON_CORE_MOVE_ARGS_H_

#include <cstdint>

#include "bindings/c/stridewise.h"
#include "bindings/python/core/array.h"
#include "bindings/python/core/python.h"

namespace stridewise::python {

// The dimensions of a result, with the strides on either side.
struct Move {
  int rank = 0;
  int64_t extents[kMaxRank];
  int64_t strides_in[kMaxRank];
  int64_t strides_out[kMaxRank];
};

// Sets the arguments of the permutation that writes out[i...] = in[i[order]...]. `move` must
// outlive them. Returns false with a ValueError for too many dimensions.
bool SetPermuteArgs(const Array& in, const int* order, const Array& out, Move* move,
                    stridewise_permute_args* args);

// Returns whether the order exchanges the last two dimensions and nothing else.
bool IsTranspose(int rank, const int* order);

// Sets the arguments of the transpose that writes the last two dimensions of `out`, where that is
// what the permutation does, with other dimensions as they are. Returns false where `in` or `out`
// has strides that a transpose does not take, and a permutation does.
bool SetTransposeArgs(const Array& in, const int* order, const Array& out,
                      stridewise_transpose_args* args);

// Reads `dims`, each dimension of x once; negative ones count from the end.
bool ReadDims(PyObject* dims, const Array& x, int* order);

}  // namespace stridewise::python

#endif  // STRIDEWISE_BINDINGS_PYTHON_CORE_MOVE_ARGS_H_
