// The structures of DLPack, by which frameworks hand each other their arrays: version 1 of its ABI,
// the structure without a version before it, and the table of functions that PyTorch 2.10 and newer
// publish as Tensor.__dlpack_c_exchange_api__ (dmlc.github.io/dlpack).

#ifndef STRIDEWISE_BINDINGS_PYTHON_CORE_DLPACK_H_
#define STRIDEWISE_BINDINGS_PYTHON_CORE_DLPACK_H_

#include <cstdint>

namespace stridewise::python {

inline constexpr uint32_t kDlMajorVersion = 1;

// Kinds of devices. Others are none of ours.
inline constexpr int32_t kDlCpu = 1;
inline constexpr int32_t kDlCuda = 2;
inline constexpr int32_t kDlCudaManaged = 13;

inline constexpr uint64_t kDlReadOnly = 1;  // A flag of DlManagedVersioned.

struct DlDevice {
  int32_t type;
  int32_t id;
};

enum DlTypeCode : uint8_t {
  kDlInt = 0,
  kDlUInt = 1,
  kDlFloat = 2,
  kDlOpaque = 3,
  kDlBfloat = 4,
  kDlComplex = 5,
  kDlBool = 6,
  kDlE4m3 = 10,  // float8_e4m3fn
  kDlE5m2 = 12,
};

struct DlType {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
};

struct DlTensor {
  void* data;
  DlDevice device;
  int32_t rank;
  DlType type;
  int64_t* shape;
  int64_t* strides;  // Elements; null: without gaps.
  uint64_t byte_offset;
};

struct DlVersion {
  uint32_t major;
  uint32_t minor;
};

struct DlManaged {
  DlTensor tensor;
  void* manager;
  void (*deleter)(DlManaged*);
};

struct DlManagedVersioned {
  DlVersion version;
  void* manager;
  void (*deleter)(DlManagedVersioned*);
  uint64_t flags;
  DlTensor tensor;
};

struct DlExchangeHeader {
  DlVersion version;
  DlExchangeHeader* previous;  // An older version of the table, or null.
};

// Functions return 0, or -1 with a Python exception set.
struct DlExchange {
  DlExchangeHeader header;
  int (*allocate)(DlTensor* prototype, DlManagedVersioned** out, void* error_context,
                  void (*set_error)(void* error_context, const char* kind, const char* message));
  int (*managed_from_object)(void* object, DlManagedVersioned** out);
  int (*object_from_managed)(DlManagedVersioned* tensor, void** out_object);  // Takes the tensor.
  int (*borrow_from_object)(void* object, DlTensor* out);                     // May be null.
  int (*current_stream)(int32_t device_type, int32_t device_id, void** out);
};

}  // namespace stridewise::python

#endif  // STRIDEWISE_BINDINGS_PYTHON_CORE_DLPACK_H_
