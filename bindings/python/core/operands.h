// What transposes, permutations and products do alike with their arrays: read the inputs, find the
// stream, take or make the result, and return it.

#ifndef STRIDEWISE_BINDINGS_PYTHON_CORE_OPERANDS_H_
#define STRIDEWISE_BINDINGS_PYTHON_CORE_OPERANDS_H_

#include "bindings/python/core/array.h"
#include "bindings/python/core/state.h"

namespace stridewise::python {

// The inputs of a call and its stream.
class Operands {
 public:
  explicit Operands(State& state) : state_(state) {}

  // Reads the argument `stream`. First of all, since __dlpack__ wants to know it.
  bool ReadStreamArgument(PyObject* argument);

  // Reads an input. The first one decides about the stream, where the argument did not.
  bool ReadInput(PyObject* object, const char* name, Array* array);

  // Reads `out`, which must have the shape, must be on the device of `like`, and must be writable;
  // or makes it, of this type, where it is null or None.
  bool TakeOrMakeOut(PyObject* object, const Array& like, const int64_t* shape, int rank,
                     DlType type, Array* out);

  // Makes the call with the context of the stream of `device`.
  template <typename Fn>
  bool Run(int device, Fn call) {
    Context* const context = state_.contexts.Get(device, stream_);
    return context != nullptr && Call(context, call);
  }

  // Returns `out`, whose work is queued. If one of the arrays comes from a producer that does not
  // know the stream (JAX), waits for the work first.
  PyObject* Finish(const Array& out);

 private:
  State& state_;
  bool stream_given_ = false;
  bool stream_known_ = false;
  bool must_wait_ = false;
  stridewise_stream stream_ = nullptr;
  Ref made_;
};

// Returns whether `out` has elements of this type; a ValueError says that it must.
bool CheckOutType(const Array& out, DlType type);

// Returns whether PyTorch would record a gradient for the array: 1, 0, or -1 with an exception.
int WantsGradient(const State& state, const Array& array);

// Calls stridewise.torch's function of this name, which records gradients. `out` must not be given.
PyObject* CallRecorded(const char* function, PyObject* out, PyObject* arguments);

}  // namespace stridewise::python

#endif  // STRIDEWISE_BINDINGS_PYTHON_CORE_OPERANDS_H_
