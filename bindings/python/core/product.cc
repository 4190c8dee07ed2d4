#include "bindings/python/core/product.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "bindings/python/core/arguments.h"
#include "bindings/python/core/array.h"
#include "bindings/python/core/operands.h"

namespace stridewise::python {
namespace {

// A type of element, as DLPack and as the C library name it, and the type of a product of two.
struct ElementType {
  DlType type;
  stridewise_type c_type;
  DlType product;
};

constexpr DlType kFloat32 = {kDlFloat, 32, 1};
constexpr DlType kBfloat16 = {kDlBfloat, 16, 1};
constexpr DlType kFloat16 = {kDlFloat, 16, 1};
constexpr DlType kInt8 = {kDlInt, 8, 1};
constexpr DlType kInt32 = {kDlInt, 32, 1};
constexpr DlType kE4m3 = {kDlE4m3, 8, 1};
constexpr DlType kE5m2 = {kDlE5m2, 8, 1};

constexpr ElementType kElementTypes[] = {
    {kFloat32, STRIDEWISE_FLOAT32, kFloat32},  {kBfloat16, STRIDEWISE_BFLOAT16, kBfloat16},
    {kFloat16, STRIDEWISE_FLOAT16, kFloat16},  {kInt8, STRIDEWISE_INT8, kInt32},
    {kInt32, STRIDEWISE_INT32, kInt32},        {kE4m3, STRIDEWISE_FLOAT8_E4M3, kFloat32},
    {kE5m2, STRIDEWISE_FLOAT8_E5M2, kFloat32},
};

bool IsSame(DlType x, DlType y) { return x.code == y.code && x.bits == y.bits; }

// Returns the element type of the array, or null with a TypeError.
const ElementType* FindType(const Array& array) {
  for (const ElementType& element : kElementTypes) {
    if (IsSame(element.type, array.type)) return &element;
  }
  if (const Ref name = TypeName(array.type)) {
    PyErr_Format(PyExc_TypeError,
                 "%s has elements of type %S; they can be float32, bfloat16, float16, int8, "
                 "float8_e4m3fn or float8_e5m2",
                 array.name, name.get());
  }
  return nullptr;
}

// Returns the value of the name that the argument is, `otherwise` where it is not given, or -1 with
// a ValueError of this format, which shows the argument.
template <typename Value, size_t kCount>
int ReadName(PyObject* argument, const std::pair<const char*, Value> (&values)[kCount],
             Value otherwise, const char* format) {
  if (!IsGiven(argument)) return otherwise;
  for (const auto& [name, value] : values) {
    if (PyUnicode_Check(argument) && PyUnicode_CompareWithASCIIString(argument, name) == 0) {
      return value;
    }
  }
  PyErr_Format(PyExc_ValueError, format, argument);
  return -1;
}

int ReadPrecision(PyObject* argument) {
  static constexpr std::pair<const char*, stridewise_precision> kPrecisions[] = {
      {"fp32", STRIDEWISE_PRECISION_FP32},
      {"fp32_split", STRIDEWISE_PRECISION_FP32_SPLIT},
      {"tf32", STRIDEWISE_PRECISION_TF32},
      {"fp32_split_int8", STRIDEWISE_PRECISION_FP32_SPLIT_INT8},
      {"fp32_medium", STRIDEWISE_PRECISION_FP32_MEDIUM},
  };
  return ReadName(argument, kPrecisions, STRIDEWISE_PRECISION_FP32,
                  "precision is %R; it can be 'fp32', 'fp32_split', 'tf32', 'fp32_split_int8' or "
                  "'fp32_medium'");
}

int ReadActivation(PyObject* argument) {
  static constexpr std::pair<const char*, stridewise_activation> kActivations[] = {
      {"relu", STRIDEWISE_ACTIVATION_RELU},
      {"gelu", STRIDEWISE_ACTIVATION_GELU},
  };
  return ReadName(argument, kActivations, STRIDEWISE_ACTIVATION_NONE,
                  "activation is %R; it can be None, 'relu' or 'gelu'");
}

// Returns whether two arrays are on one device; a ValueError says that they must be.
bool CheckSameDevice(const Array& x, const Array& y) {
  if (x.device == y.device) return true;
  PyErr_Format(PyExc_ValueError, "%s is on device %d and %s on device %d; they must be on the same",
               x.name, x.device, y.name, y.device);
  return false;
}

// Reads `bias`, which must be of C's type and on its device, n elements without gaps. Sets `data`
// to null where it is not given.
bool ReadBias(Operands& operands, PyObject* argument, const Array& a, const Array& out, Array* bias,
              const void** data) {
  *data = nullptr;
  if (!IsGiven(argument)) return true;
  const int64_t n = out.shape[out.rank - 1];
  if (!operands.ReadInput(argument, "bias", bias) || !CheckShape(*bias, &n, 1)) return false;
  if (!CheckSameDevice(*bias, a)) return false;
  if (!IsSame(bias->type, out.type)) {
    const Ref found = TypeName(bias->type);
    const Ref wanted = TypeName(out.type);
    PyErr_Format(PyExc_TypeError, "bias has elements of type %S; they must be the result's, %S",
                 found.get(), wanted.get());
    return false;
  }
  if (n > 1 && bias->strides[0] != 1) {
    PyErr_Format(PyExc_ValueError, "bias has a stride of %lld elements; it must be contiguous",
                 static_cast<long long>(bias->strides[0]));
    return false;
  }
  *data = bias->data;
  return true;
}

bool ReadFactor(PyObject* argument, double* value) {
  if (argument == nullptr) return true;
  *value = PyFloat_AsDouble(argument);
  return !PyErr_Occurred();
}

// The last two dimensions of an array as a matrix.
struct Matrix {
  int64_t rows;
  int64_t cols;
  int64_t ld = 0;
  bool transposed = false;  // Columns are contiguous, and ld steps from one to the next.
  int64_t batch = 1;
  int64_t stride = 0;
};

// Reads it. Returns false with a ValueError where neither rows nor columns are contiguous, or where
// the matrices of the batch are not equally far from each other.
bool ReadMatrix(const Array& array, Matrix* matrix) {
  matrix->rows = array.shape[array.rank - 2];
  matrix->cols = array.shape[array.rank - 1];
  const int64_t row_stride = array.strides[array.rank - 2];
  const int64_t col_stride = array.strides[array.rank - 1];
  const bool one_row = matrix->rows <= 1;
  const bool one_col = matrix->cols <= 1;
  if ((one_col || col_stride == 1) && (one_row || row_stride >= matrix->cols)) {
    matrix->ld = one_row ? std::max<int64_t>(matrix->cols, 1) : row_stride;
  } else if ((one_row || row_stride == 1) && (one_col || col_stride >= matrix->rows)) {
    matrix->ld = one_col ? std::max<int64_t>(matrix->rows, 1) : col_stride;
    matrix->transposed = true;
  } else {
    const Ref strides = Tuple(array.strides, array.rank);
    PyErr_Format(PyExc_ValueError,
                 "%s has strides of %R elements; its rows or its columns must be contiguous",
                 array.name, strides.get());
    return false;
  }
  if (SetBatch(array, &matrix->batch, &matrix->stride)) return true;
  const Ref strides = Tuple(array.strides, array.rank);
  PyErr_Format(PyExc_ValueError,
               "%s has strides of %R elements; its matrices must be equally far from each other",
               array.name, strides.get());
  return false;
}

// Sets the shape of the product. Returns its rank, or -1 with a ValueError.
int SetProductShape(const Array& a, const Array& b, int64_t* shape) {
  for (const Array* array : {&a, &b}) {
    if (array->rank < 2) {
      PyErr_Format(PyExc_ValueError, "%s has %d dimensions; it must have 2 or more", array->name,
                   array->rank);
      return -1;
    }
  }
  const Ref a_shape = Tuple(a.shape, a.rank);
  const Ref b_shape = Tuple(b.shape, b.rank);
  if (!a_shape || !b_shape) return -1;
  if (a.shape[a.rank - 1] != b.shape[b.rank - 2]) {
    PyErr_Format(PyExc_ValueError,
                 "a has the shape %R and b %R; the columns of a must be the rows of b",
                 a_shape.get(), b_shape.get());
    return -1;
  }
  const Array& longer = a.rank >= b.rank ? a : b;
  const size_t batch_bytes = sizeof(int64_t) * static_cast<size_t>(longer.rank - 2);
  const bool same = a.rank == b.rank && std::memcmp(a.shape, b.shape, batch_bytes) == 0;
  if (!same && a.rank != 2 && b.rank != 2) {
    PyErr_Format(PyExc_ValueError,
                 "a has the shape %R and b %R; their batches must be the same, or one of them must "
                 "be a single matrix",
                 a_shape.get(), b_shape.get());
    return -1;
  }
  std::memcpy(shape, longer.shape, batch_bytes);
  shape[longer.rank - 2] = a.shape[a.rank - 2];
  shape[longer.rank - 1] = b.shape[b.rank - 1];
  return longer.rank;
}

stridewise_input Input(const Array& array, const Matrix& matrix, stridewise_type type) {
  return {array.data, matrix.ld, matrix.stride, type, matrix.transposed ? 1 : 0};
}

// Makes a column-major C the row-major product of the transposed operands.
void TransposeProduct(stridewise_matmul_args* args) {
  std::swap(args->m, args->n);
  std::swap(args->a, args->b);
  args->a.transposed = args->a.transposed == 0 ? 1 : 0;
  args->b.transposed = args->b.transposed == 0 ? 1 : 0;
}

bool Multiply(Operands& operands, const Array& a, const Array& b, const Array& out,
              stridewise_matmul_args* args) {
  const ElementType* const a_type = FindType(a);
  const ElementType* const b_type = FindType(b);
  const ElementType* const out_type = FindType(out);
  Matrix in_a;
  Matrix in_b;
  Matrix c;
  if (a_type == nullptr || b_type == nullptr || out_type == nullptr || !ReadMatrix(a, &in_a) ||
      !ReadMatrix(b, &in_b) || !ReadMatrix(out, &c)) {
    return false;
  }
  args->m = in_a.rows;
  args->n = in_b.cols;
  args->k = in_a.cols;
  args->a = Input(a, in_a, a_type->c_type);
  args->b = Input(b, in_b, b_type->c_type);
  args->c = {out.data, c.ld, c.stride, out_type->c_type, 0};
  args->batch = c.batch;
  if (c.transposed && args->bias != nullptr) {
    PyErr_SetString(PyExc_ValueError,
                    "out has contiguous columns; with a bias its rows must be contiguous");
    return false;
  }
  if (c.transposed) TransposeProduct(args);
  return operands.Run(
      a.device, [args](stridewise_context* context) { return stridewise_matmul(context, args); });
}

}  // namespace

PyObject* MatMul(State& state, Gradient gradient, PyObject* const* args, Py_ssize_t positional,
                 PyObject* keywords) {
  static const char* const kNames[] = {"a",         "b",    "out",        "alpha", "beta",
                                       "precision", "bias", "activation", "stream"};
  static const Signature kSignature = {"matmul", 2, 3, 9, kNames};
  PyObject* values[9];
  Operands operands(state);
  Array a;
  Array b;
  stridewise_matmul_args product = stridewise_matmul_defaults();
  if (!ReadArguments(kSignature, args, positional, keywords, values) ||
      !operands.ReadStreamArgument(values[8]) || !operands.ReadInput(values[0], "a", &a) ||
      !operands.ReadInput(values[1], "b", &b) || !ReadFactor(values[3], &product.alpha) ||
      !ReadFactor(values[4], &product.beta)) {
    return nullptr;
  }
  product.precision = ReadPrecision(values[5]);
  product.activation = ReadActivation(values[7]);
  if (product.precision < 0 || product.activation < 0) return nullptr;
  if (!CheckSameDevice(a, b)) return nullptr;
  if (!IsSame(a.type, b.type) && a.type.bits != 8) {
    const Ref a_name = TypeName(a.type);
    const Ref b_name = TypeName(b.type);
    PyErr_Format(PyExc_TypeError, "a has elements of type %S and b of %S; they must be the same",
                 a_name.get(), b_name.get());
    return nullptr;
  }
  if (product.beta != 0 && !IsGiven(values[2])) {
    PyErr_Format(PyExc_ValueError, "beta is %S, which needs out", values[4]);
    return nullptr;
  }
  int64_t shape[kMaxRank];
  const int rank = SetProductShape(a, b, shape);
  if (rank < 0) return nullptr;
  for (const Array* array : {&a, &b}) {
    const int wanted = gradient == Gradient::kRecord ? WantsGradient(state, *array) : 0;
    if (wanted < 0) return nullptr;
    if (wanted > 0) {
      if (IsGiven(values[6]) || product.activation != STRIDEWISE_ACTIVATION_NONE) {
        PyErr_SetString(PyExc_ValueError,
                        "bias and activation cannot be given where an input requires a gradient; "
                        "leave them out, or call under torch.no_grad()");
        return nullptr;
      }
      return CallRecorded("matmul", values[2],
                          Py_BuildValue("(OOdO)", values[0], values[1], product.alpha,
                                        IsGiven(values[5]) ? values[5] : Py_None));
    }
  }
  const ElementType* const type = FindType(a);
  Array out;
  if (type == nullptr || !operands.TakeOrMakeOut(values[2], a, shape, rank, type->product, &out)) {
    return nullptr;
  }
  Array bias;
  if (!ReadBias(operands, values[6], a, out, &bias, &product.bias)) return nullptr;
  const bool done = out.elements() == 0 || Multiply(operands, a, b, out, &product);
  return done ? operands.Finish(out) : nullptr;
}

}  // namespace stridewise::python
