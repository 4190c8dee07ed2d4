// The types of elements of products, as DLPack and as the C library name them.

#ifndef STRIDEWISE_BINDINGS_PYTHON_CORE_ELEMENT_TYPES_H_
#define STRIDEWISE_BINDINGS_PYTHON_CORE_ELEMENT_TYPES_H_

#include "bindings/c/stridewise.h"
#include "bindings/python/core/array.h"
#include "bindings/python/core/dlpack.h"

namespace stridewise::python {

// A type, and that of a product of two such elements.
struct ElementType {
  DlType type;
  stridewise_type c_type;
  DlType product;
};

inline bool IsSame(DlType x, DlType y) { return x.code == y.code && x.bits == y.bits; }

// Returns the element type of the array, or null with a TypeError.
const ElementType* FindType(const Array& array);

}  // namespace stridewise::python

#endif  // STRIDEWISE_BINDINGS_PYTHON_CORE_ELEMENT_TYPES_H_
