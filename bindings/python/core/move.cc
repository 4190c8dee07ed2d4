#include "bindings/python/core/move.h"

#include <chrono>
#include <utility>

#include "bindings/python/core/arguments.h"
#include "bindings/python/core/array.h"
#include "bindings/python/core/move_args.h"
#include "bindings/python/core/operands.h"

namespace stridewise::python {
namespace {

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

void SetOrder(int rank, int* order) {
  for (int d = 0; d < rank; ++d) order[d] = d;
}

// A call of a function whose first argument is the array that it moves, and whose last two are
// `out` and `stream`.
class MoveCall {
 public:
  MoveCall(State& state, const Signature& signature)
      : state_(state), signature_(signature), operands_(state) {}

  // Returns false with an exception.
  bool Read(PyObject* const* args, Py_ssize_t positional, PyObject* keywords) {
    return ReadArguments(signature_, args, positional, keywords, values_) &&
           operands_.ReadStreamArgument(values_[signature_.count - 1]) &&
           operands_.ReadInput(values_[0], "x", &x_);
  }

  const Array& x() const { return x_; }
  PyObject* dims() const { return values_[1]; }

  // Moves x in this order, or has the call recorded where a gradient is wanted.
  PyObject* MoveOrRecord(Gradient gradient, const int* order) {
    PyObject* const out = values_[signature_.count - 2];
    const int wanted = gradient == Gradient::kRecord ? WantsGradient(state_, x_) : 0;
    if (wanted < 0) return nullptr;
    if (wanted == 0) return MoveInto(operands_, x_, order, out);
    return CallRecorded(signature_.function, out,
                        signature_.count == 3 ? Py_BuildValue("(O)", values_[0])
                                              : Py_BuildValue("(OO)", values_[0], values_[1]));
  }

 private:
  State& state_;
  const Signature& signature_;
  PyObject* values_[4] = {};
  Operands operands_;
  Array x_;
};

}  // namespace

PyObject* Transpose(State& state, Gradient gradient, PyObject* const* args, Py_ssize_t positional,
                    PyObject* keywords) {
  static const char* const kNames[] = {"x", "out", "stream"};
  static const Signature kSignature = {"transpose", 1, 2, 3, kNames};
  MoveCall call(state, kSignature);
  if (!call.Read(args, positional, keywords)) return nullptr;
  const int rank = call.x().rank;
  if (rank < 2) {
    PyErr_Format(PyExc_ValueError, "x has %d dimensions; it must have 2 or more", rank);
    return nullptr;
  }
  int order[kMaxRank];
  SetOrder(rank, order);
  std::swap(order[rank - 2], order[rank - 1]);
  return call.MoveOrRecord(gradient, order);
}

PyObject* Permute(State& state, Gradient gradient, PyObject* const* args, Py_ssize_t positional,
                  PyObject* keywords) {
  static const char* const kNames[] = {"x", "dims", "out", "stream"};
  static const Signature kSignature = {"permute", 2, 3, 4, kNames};
  MoveCall call(state, kSignature);
  int order[kMaxRank];
  if (!call.Read(args, positional, keywords) || !ReadDims(call.dims(), call.x(), order)) {
    return nullptr;
  }
  return call.MoveOrRecord(gradient, order);
}

PyObject* Contiguous(State& state, Gradient gradient, PyObject* const* args, Py_ssize_t positional,
                     PyObject* keywords) {
  static const char* const kNames[] = {"x", "out", "stream"};
  static const Signature kSignature = {"contiguous", 1, 2, 3, kNames};
  MoveCall call(state, kSignature);
  if (!call.Read(args, positional, keywords)) return nullptr;
  int order[kMaxRank];
  SetOrder(call.x().rank, order);
  return call.MoveOrRecord(gradient, order);
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
