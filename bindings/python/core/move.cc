#include "bindings/python/core/move.h"

#include <chrono>
#include <utility>

#include "bindings/python/core/arguments.h"
#include "bindings/python/core/array.h"
#include "bindings/python/core/operands.h"

namespace stridewise::python {
namespace {

constexpr int64_t kIdentity[STRIDEWISE_MAX_RANK] = {0, 1, 2, 3, 4, 5};

// The dimensions of a result, with the strides on either side.
struct Move {
  int rank = 0;
  int64_t extents[kMaxRank];
  int64_t strides_in[kMaxRank];
  int64_t strides_out[kMaxRank];
};

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

// Sets the arguments of the permutation that writes out[i...] = in[i[order]...]. `move` must
// outlive them. Returns false with a ValueError for too many dimensions.
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

// Returns whether the order exchanges the last two dimensions and nothing else.
bool IsTranspose(int rank, const int* order) {
  if (rank < 2 || order[rank - 1] != rank - 2 || order[rank - 2] != rank - 1) return false;
  for (int d = 0; d < rank - 2; ++d) {
    if (order[d] != d) return false;
  }
  return true;
}

// Sets the arguments of the transpose that writes the last two dimensions of `out`, where that is
// what the permutation does, with other dimensions as they are. Returns false where `in` or `out`
// has strides that a transpose does not take, and a permutation does.
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

bool PermuteInto(Operands& operands, const Array& in, const int* order, const Array& out) {
  Move move;
  stridewise_permute_args args;
  if (!SetPermuteArgs(in, order, out, &move, &args)) return false;
  return operands.Run(in.device, [&args](stridewise_context* context) {
    return stridewise_permute(context, &args);
  });
}

PyObject* MoveInto(Operands& operands, const Array& in, const int* order, PyObject* out_argument) {
  int64_t shape[kMaxRank];
  for (int d = 0; d < in.rank; ++d) shape[d] = in.shape[order[d]];
  Array out;
  if (!operands.TakeOrMakeOut(out_argument, in, shape, in.rank, in.type, &out) ||
      !CheckOutType(out, in.type)) {
    return nullptr;
  }
  if (in.elements() == 0) return operands.Finish(out);
  // One matrix has more kernels than a permutation; for a batch, that chooses among both.
  stridewise_transpose_args args;
  const bool in_place = in.data == out.data && IsTranspose(in.rank, order);
  if ((in_place || in.rank == 2) && SetTransposeArgs(in, order, out, &args)) {
    const bool done = operands.Run(in.device, [&args](stridewise_context* context) {
      return stridewise_transpose(context, &args);
    });
    return done ? operands.Finish(out) : nullptr;
  }
  if (in_place) {
    PyErr_SetString(PyExc_ValueError,
                    "x and out are the same memory, where rows must be contiguous and matrices of "
                    "a batch equally far from each other; pass another out");
    return nullptr;
  }
  return PermuteInto(operands, in, order, out) ? operands.Finish(out) : nullptr;
}

// Reads `dims`, each dimension of x once; negative ones count from the end.
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

void SetOrder(int rank, int* order) {
  for (int d = 0; d < rank; ++d) order[d] = d;
}

}  // namespace

PyObject* Transpose(State& state, Gradient gradient, PyObject* const* args, Py_ssize_t positional,
                    PyObject* keywords) {
  static const char* const kNames[] = {"x", "out", "stream"};
  static const Signature kSignature = {"transpose", 1, 2, 3, kNames};
  PyObject* values[3];
  Operands operands(state);
  Array x;
  if (!ReadArguments(kSignature, args, positional, keywords, values) ||
      !operands.ReadStreamArgument(values[2]) || !operands.ReadInput(values[0], "x", &x)) {
    return nullptr;
  }
  if (x.rank < 2) {
    PyErr_Format(PyExc_ValueError, "x has %d dimensions; it must have 2 or more", x.rank);
    return nullptr;
  }
  const int wanted = gradient == Gradient::kRecord ? WantsGradient(state, x) : 0;
  if (wanted < 0) return nullptr;
  if (wanted > 0) return CallRecorded("transpose", values[1], Py_BuildValue("(O)", values[0]));
  int order[kMaxRank];
  SetOrder(x.rank, order);
  std::swap(order[x.rank - 2], order[x.rank - 1]);
  return MoveInto(operands, x, order, values[1]);
}

PyObject* Permute(State& state, Gradient gradient, PyObject* const* args, Py_ssize_t positional,
                  PyObject* keywords) {
  static const char* const kNames[] = {"x", "dims", "out", "stream"};
  static const Signature kSignature = {"permute", 2, 3, 4, kNames};
  PyObject* values[4];
  Operands operands(state);
  Array x;
  int order[kMaxRank];
  if (!ReadArguments(kSignature, args, positional, keywords, values) ||
      !operands.ReadStreamArgument(values[3]) || !operands.ReadInput(values[0], "x", &x) ||
      !ReadDims(values[1], x, order)) {
    return nullptr;
  }
  const int wanted = gradient == Gradient::kRecord ? WantsGradient(state, x) : 0;
  if (wanted < 0) return nullptr;
  if (wanted > 0) {
    return CallRecorded("permute", values[2], Py_BuildValue("(OO)", values[0], values[1]));
  }
  return MoveInto(operands, x, order, values[2]);
}

PyObject* Contiguous(State& state, Gradient gradient, PyObject* const* args, Py_ssize_t positional,
                     PyObject* keywords) {
  static const char* const kNames[] = {"x", "out", "stream"};
  static const Signature kSignature = {"contiguous", 1, 2, 3, kNames};
  PyObject* values[3];
  Operands operands(state);
  Array x;
  if (!ReadArguments(kSignature, args, positional, keywords, values) ||
      !operands.ReadStreamArgument(values[2]) || !operands.ReadInput(values[0], "x", &x)) {
    return nullptr;
  }
  const int wanted = gradient == Gradient::kRecord ? WantsGradient(state, x) : 0;
  if (wanted < 0) return nullptr;
  if (wanted > 0) return CallRecorded("contiguous", values[1], Py_BuildValue("(O)", values[0]));
  int order[kMaxRank];
  SetOrder(x.rank, order);
  return MoveInto(operands, x, order, values[1]);
}

PyObject* TimeCCall(State& state, PyObject* const* args, Py_ssize_t positional,
                    PyObject* keywords) {
  static const char* const kNames[] = {"x", "dims", "out", "calls"};
  static const Signature kSignature = {"time_c_call", 4, 4, 4, kNames};
  PyObject* values[4];
  Operands operands(state);
  Array x;
  Array out;
  int order[kMaxRank];
  int64_t shape[kMaxRank];
  if (!ReadArguments(kSignature, args, positional, keywords, values) ||
      !operands.ReadInput(values[0], "x", &x) || !ReadDims(values[1], x, order)) {
    return nullptr;
  }
  const long long calls = PyLong_AsLongLong(values[3]);
  if (PyErr_Occurred()) return nullptr;
  for (int d = 0; d < x.rank; ++d) shape[d] = x.shape[order[d]];
  Move move;
  stridewise_permute_args permute;
  if (!operands.TakeOrMakeOut(values[2], x, shape, x.rank, x.type, &out) ||
      !CheckOutType(out, x.type) || !SetPermuteArgs(x, order, out, &move, &permute)) {
    return nullptr;
  }
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  const bool done = operands.Run(x.device, [&permute, calls](stridewise_context* context) {
    stridewise_status status = STRIDEWISE_OK;
    for (long long i = 0; i < calls && status == STRIDEWISE_OK; ++i) {
      status = stridewise_permute(context, &permute);
    }
    return status;
  });
  const std::chrono::duration<double> seconds = Clock::now() - begin;
  return done ? PyFloat_FromDouble(seconds.count() / static_cast<double>(calls)) : nullptr;
}

}  // namespace stridewise::python
