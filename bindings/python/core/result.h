// New arrays for results.

#ifndef STRIDEWISE_BINDINGS_PYTHON_CORE_RESULT_H_
#define STRIDEWISE_BINDINGS_PYTHON_CORE_RESULT_H_

#include "bindings/python/core/array.h"
#include "bindings/python/core/state.h"

namespace stridewise::python {

// Makes an array without gaps of the framework, and on the device, of `like`. Its memory is not
// initialised. Returns null with an exception: a TypeError for a framework that is not known, whose
// caller has to pass an array.
Ref NewArray(const State& state, const Array& like, const int64_t* shape, int rank, DlType type);

}  // namespace stridewise::python

#endif  // STRIDEWISE_BINDINGS_PYTHON_CORE_RESULT_H_
