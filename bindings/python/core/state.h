// What the module keeps between calls. The GIL guards all of it.

#ifndef STRIDEWISE_BINDINGS_PYTHON_CORE_STATE_H_
#define STRIDEWISE_BINDINGS_PYTHON_CORE_STATE_H_

#include <vector>

#include "bindings/python/core/contexts.h"
#include "bindings/python/core/dlpack.h"
#include "bindings/python/core/driver.h"
#include "bindings/python/core/python.h"

namespace stridewise::python {

// A type of array that was seen before, and its exchange table, or null.
struct KnownType {
  Ref type;
  const DlExchange* exchange;
};

// Names of attributes, made once: looking one up then costs some 30 ns.
struct Names {
  Ref exchange, cuda_interface, dlpack, dlpack_device, requires_grad, new_empty, is_conj, is_neg,
      cuda_stream, stream_ptr, stream_handle, stream_protocol;

  // Returns false with an exception if there is no memory.
  bool Make();
};

struct State {
  Names names;
  std::vector<KnownType> known_types;
  Contexts contexts;
  Driver driver;
};

}  // namespace stridewise::python

#endif  // STRIDEWISE_BINDINGS_PYTHON_CORE_STATE_H_
