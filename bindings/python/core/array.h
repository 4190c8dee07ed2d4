// An argument of a call that is an array of some framework in device memory.

#ifndef STRIDEWISE_BINDINGS_PYTHON_CORE_ARRAY_H_
#define STRIDEWISE_BINDINGS_PYTHON_CORE_ARRAY_H_

#include <cstdint>

#include "bindings/c/stridewise.h"
#include "bindings/python/core/dlpack.h"
#include "bindings/python/core/python.h"

namespace stridewise::python {

struct State;

inline constexpr int kMaxRank = 16;  // Of an array. What is permuted has fewer dimensions.

// How an array was read, and so how one like it is made.
enum class Protocol {
  kExchange,       // DLPack's table of functions: PyTorch.
  kCudaInterface,  // __cuda_array_interface__: CuPy, Numba.
  kDlpack,         // __dlpack__: JAX.
};

// Holds what keeps an array's memory alive until it is destroyed. The calling thread holds the GIL.
class Array {
 public:
  Array() = default;
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array();

  const char* name = "";       // Of the argument, for messages.
  PyObject* object = nullptr;  // Borrowed from the call.
  Protocol protocol = Protocol::kDlpack;
  const DlExchange* exchange = nullptr;  // Of Protocol::kExchange.

  void* data = nullptr;
  bool read_only = false;
  int device = STRIDEWISE_CURRENT_DEVICE;
  DlType type = {kDlOpaque, 0, 1};
  int rank = 0;
  int64_t shape[kMaxRank];
  int64_t strides[kMaxRank];  // Elements.

  // The stream that the array says it is used on, where it says so.
  bool has_stream = false;
  stridewise_stream stream = nullptr;

  int64_t element_bytes() const { return type.bits / 8; }
  int64_t elements() const;

 private:
  friend bool ReadArray(State& state, PyObject* object, const char* name, stridewise_stream stream,
                        Array* array);
  friend bool ReadDlpack(State& state, PyObject* object, stridewise_stream stream, Array* array);

  DlManaged* managed_ = nullptr;
  DlManagedVersioned* managed_versioned_ = nullptr;
};

// Reads the array `object` that was passed as the argument `name`. Producers of __dlpack__ make
// `stream` wait for their work. Returns false with a TypeError for what is no array or has a type
// of element that is not moved whole, and with a ValueError for memory that is not on a GPU.
bool ReadArray(State& state, PyObject* object, const char* name, stridewise_stream stream,
               Array* array);

// Returns the name of an element type, such as "float32".
Ref TypeName(DlType type);

// Returns extents or strides as a tuple.
Ref Tuple(const int64_t* values, int count);

// Sets a ValueError "NAME has the shape SHAPE, which should be EXPECTED" and returns false, unless
// the shapes are equal.
bool CheckShape(const Array& array, const int64_t* expected, int rank);

// Sets the number and the stride of the matrices that all dimensions but the last two make
// together. Returns false where one stride does not lead to all of them.
bool SetBatch(const Array& array, int64_t* batch, int64_t* stride);

// Sets strides of an array without gaps.
void SetGaplessStrides(const int64_t* shape, int rank, int64_t* strides);

}  // namespace stridewise::python

#endif  // STRIDEWISE_BINDINGS_PYTHON_CORE_ARRAY_H_
