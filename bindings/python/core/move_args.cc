#include "bindings/python/core/move_args.h"

namespace stridewise::python {
namespace {

constexpr int64_t kIdentity[STRIDEWISE_MAX_RANK] = {0, 1, 2, 3, 4, 5};

// Drops dimensions of extent 1 and fuses neighbours that are one dimension on both sides.
Move Simplified(const Move& move) {
  Move simple;
  for (int d = 0; d < move.rank; ++d) {
    if (move.extents[d] == 1) continue;
    const int last = simple.rank - 1;
    if (last >= 0 && simple.strides_in[last] == move.extents[d] * move.strides_in[d] &&
        simple.strides_out[last] == move.extents[d] * move.strides_out[d]) {
      simple.extents[last] *= move.extents[d];
      simple.strides_in[last] = move.strides_in[d];
      simple.strides_out[last] = move.strides_out[d];
      continue;
    }
    simple.extents[simple.rank] = move.extents[d];
    simple.strides_in[simple.rank] = move.strides_in[d];
    simple.strides_out[simple.rank++] = move.strides_out[d];
  }
  return simple;
}

}  // namespace

bool SetPermuteArgs(const Array& in, const int* order, const Array& out, Move* move,
                    stridewise_permute_args* args) {
  move->rank = in.rank;
  for (int d = 0; d < in.rank; ++d) {
    move->extents[d] = out.shape[d];
    move->strides_in[d] = in.strides[order[d]];
    move->strides_out[d] = out.strides[d];
  }
  if (move->rank > STRIDEWISE_MAX_RANK) *move = Simplified(*move);
  if (move->rank > STRIDEWISE_MAX_RANK) {
    PyErr_Format(PyExc_ValueError,
                 "x has %d dimensions that neither have one element nor move together; it can have "
                 "%d",
                 move->rank, STRIDEWISE_MAX_RANK);
    return false;
  }
  *args = stridewise_permute_defaults();
  args->in = in.data;
  args->out = out.data;
  args->rank = move->rank;
  args->extents = move->extents;
  args->order = kIdentity;
  args->strides_in = move->strides_in;
  args->strides_out = move->strides_out;
  args->element_bytes = in.element_bytes();
  return true;
}

bool IsTranspose(int rank, const int* order) {
  if (rank < 2 || order[rank - 1] != rank - 2 || order[rank - 2] != rank - 1) return false;
  for (int d = 0; d < rank - 2; ++d) {
    if (order[d] != d) return false;
  }
  return true;
}

bool SetTransposeArgs(const Array& in, const int* order, const Array& out,
                      stridewise_transpose_args* args) {
  const int row = out.rank - 2;  // Of `out`: a column of `in`.
  const int col = out.rank - 1;
  *args = stridewise_transpose_defaults();
  args->in = in.data;
  args->out = out.data;
  args->rows = out.shape[col];
  args->cols = out.shape[row];
  args->element_bytes = in.element_bytes();
  args->ld_in = in.strides[order[col]];
  args->ld_out = out.strides[row];
  int64_t batch_out = 0;
  return in.strides[order[row]] == 1 && args->ld_in >= args->cols && out.strides[col] == 1 &&
         args->ld_out >= args->rows && SetBatch(in, &args->batch, &args->stride_in) &&
         SetBatch(out, &batch_out, &args->stride_out);
}

bool ReadDims(PyObject* dims, const Array& x, int* order) {
  const Ref tuple(PySequence_Tuple(dims));
  if (!tuple) return false;
  bool right = PyTuple_Size(tuple.get()) == x.rank;
  bool seen[kMaxRank] = {};
  for (int i = 0; right && i < x.rank; ++i) {
    Py_ssize_t d = PyNumber_AsSsize_t(PyTuple_GetItem(tuple.get(), i), PyExc_OverflowError);
    if (d == -1 && PyErr_Occurred()) return false;
    if (d < 0) d += x.rank;
    right = d >= 0 && d < x.rank && !seen[d];
    if (!right) break;
    seen[d] = true;
    order[i] = static_cast<int>(d);
  }
  if (!right) {
    PyErr_Format(PyExc_ValueError, "dims is %R; it must name each of the %d dimensions of x once",
                 tuple.get(), x.rank);
  }
  return right;
}

}  // namespace stridewise::python
