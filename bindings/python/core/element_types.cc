#include "bindings/python/core/element_types.h"

#include "bindings/python/core/python.h"

namespace stridewise::python {
namespace {

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

}  // namespace

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

}  // namespace stridewise::python
