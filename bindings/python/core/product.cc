#include "bindings/python/core/product.h"

#include <cstddef>
#include <utility>

#include "bindings/python/core/arguments.h"
#include "bindings/python/core/array.h"
#include "bindings/python/core/element_types.h"
#include "bindings/python/core/matrix.h"
#include "bindings/python/core/operands.h"

namespace stridewise::python {
namespace {

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
      {"bf16", STRIDEWISE_PRECISION_BF16},
      {"fp16", STRIDEWISE_PRECISION_FP16},
      {"fp16_sums", STRIDEWISE_PRECISION_FP16_SUMS},
      {"fast_sums", STRIDEWISE_PRECISION_FAST_SUMS},
  };
  return ReadName(argument, kPrecisions, STRIDEWISE_PRECISION_FP32,
                  "precision is %R; it can be 'fp32', 'fp32_split', 'tf32', 'fp32_split_int8', "
                  "'fp32_medium', 'bf16' or 'fp16'; of float16 'fp16_sums', of float8 'fast_sums'");
}

int ReadActivation(PyObject* argument) {
  static constexpr std::pair<const char*, stridewise_activation> kActivations[] = {
      {"relu", STRIDEWISE_ACTIVATION_RELU},
      {"gelu", STRIDEWISE_ACTIVATION_GELU},
      {"gelu_erf", STRIDEWISE_ACTIVATION_GELU_ERF},
  };
  return ReadName(argument, kActivations, STRIDEWISE_ACTIVATION_NONE,
                  "activation is %R; it can be None, 'relu', 'gelu' or 'gelu_erf'");
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
