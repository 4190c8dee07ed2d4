#include "bindings/python/core/read_dlpack.h"

#include <cstdint>

namespace stridewise::python {
namespace {

constexpr char kExchangeCapsule[] = "dlpack_exchange_api";
constexpr char kCapsule[] = "dltensor";
constexpr char kCapsuleVersioned[] = "dltensor_versioned";

// Returns the exchange table in a capsule, of a version that is understood here, or null.
const DlExchange* UsableExchange(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, kExchangeCapsule)) return nullptr;
  auto* header = static_cast<DlExchangeHeader*>(PyCapsule_GetPointer(capsule, kExchangeCapsule));
  while (header != nullptr && header->version.major != kDlMajorVersion) header = header->previous;
  const auto* exchange = reinterpret_cast<const DlExchange*>(header);
  return exchange != nullptr && exchange->borrow_from_object != nullptr ? exchange : nullptr;
}

// Calls object.__dlpack__(stream=..., max_version=(1, 0)), or without the version for producers
// that are older.
Ref DlpackCapsule(State& state, PyObject* object, stridewise_stream stream) {
  Ref method(PyObject_GetAttr(object, state.names.dlpack.get()));
  if (!method) return {};
  // For DLPack, 1 is CUDA's default stream.
  const auto handle = stream == nullptr ? 1 : reinterpret_cast<uintptr_t>(stream);
  const Ref empty(PyTuple_New(0));
  Ref keywords(Py_BuildValue("{s:K,s:(ii)}", "stream", static_cast<unsigned long long>(handle),
                             "max_version", 1, 0));
  if (!empty || !keywords) return {};
  Ref capsule(PyObject_Call(method.get(), empty.get(), keywords.get()));
  if (capsule || !PyErr_ExceptionMatches(PyExc_TypeError)) return capsule;
  PyErr_Clear();
  if (PyDict_DelItemString(keywords.get(), "max_version") != 0) return {};
  return Ref(PyObject_Call(method.get(), empty.get(), keywords.get()));
}

}  // namespace

const DlExchange* FindExchange(State& state, PyObject* object) {
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  for (const KnownType& known : state.known_types) {
    if (known.type.get() == type) return known.exchange;
  }
  const DlExchange* exchange = nullptr;
  if (const Ref capsule = OptionalAttribute(type, state.names.exchange.get())) {
    exchange = UsableExchange(capsule.get());
  }
  PyErr_Clear();
  state.known_types.push_back({Ref::To(type), exchange});
  return exchange;
}

bool CopyTensor(const DlTensor& tensor, Array* array) {
  if (tensor.device.type != kDlCuda && tensor.device.type != kDlCudaManaged) {
    PyErr_Format(PyExc_ValueError, "%s is %s; it must be in the memory of an NVIDIA GPU",
                 array->name,
                 tensor.device.type == kDlCpu ? "in the memory of the CPU" : "on another device");
    return false;
  }
  if (tensor.rank > kMaxRank) {
    PyErr_Format(PyExc_ValueError, "%s has %d dimensions; it can have %d", array->name,
                 static_cast<int>(tensor.rank), kMaxRank);
    return false;
  }
  array->data = static_cast<char*>(tensor.data) + tensor.byte_offset;
  array->device = tensor.device.id;
  array->type = tensor.type;
  array->rank = tensor.rank;
  for (int d = 0; d < tensor.rank; ++d) array->shape[d] = tensor.shape[d];
  if (tensor.strides != nullptr) {
    for (int d = 0; d < tensor.rank; ++d) array->strides[d] = tensor.strides[d];
  } else {
    SetGaplessStrides(array->shape, array->rank, array->strides);
  }
  return true;
}

bool ReadDlpack(State& state, PyObject* object, stridewise_stream stream, Array* array) {
  array->protocol = Protocol::kDlpack;
  const Ref capsule = DlpackCapsule(state, object, stream);
  if (!capsule) return false;
  if (PyCapsule_IsValid(capsule.get(), kCapsuleVersioned)) {
    auto* managed =
        static_cast<DlManagedVersioned*>(PyCapsule_GetPointer(capsule.get(), kCapsuleVersioned));
    PyCapsule_SetName(capsule.get(), "used_dltensor_versioned");
    array->managed_versioned_ = managed;
    if (managed->version.major != kDlMajorVersion) {
      PyErr_Format(PyExc_TypeError, "%s speaks version %u of DLPack; 1 is understood here",
                   array->name, managed->version.major);
      return false;
    }
    array->read_only = (managed->flags & kDlReadOnly) != 0;
    return CopyTensor(managed->tensor, array);
  }
  if (PyCapsule_IsValid(capsule.get(), kCapsule)) {
    auto* managed = static_cast<DlManaged*>(PyCapsule_GetPointer(capsule.get(), kCapsule));
    PyCapsule_SetName(capsule.get(), "used_dltensor");
    array->managed_ = managed;
    return CopyTensor(managed->tensor, array);
  }
  PyErr_Format(PyExc_TypeError, "%s.__dlpack__() returned no DLPack capsule", array->name);
  return false;
}

}  // namespace stridewise::python
