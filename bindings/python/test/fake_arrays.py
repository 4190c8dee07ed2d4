"""Arrays that say that they are in device memory, one kind for each protocol. They are in the CPU's."""

import ctypes
import itertools
import math
import struct

CPU, CUDA = 1, 2
_CODES = {"i": 0, "u": 1, "f": 2}


class _Tensor(ctypes.Structure):
  _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
              ("rank", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
              ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
              ("byte_offset", ctypes.c_uint64)]


class _Managed(ctypes.Structure):
  _fields_ = [("tensor", _Tensor), ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class _ManagedVersioned(ctypes.Structure):
  _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager", ctypes.c_void_p),
              ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", _Tensor)]


# A capsule does not keep its name.
_VERSIONED, _UNVERSIONED, _EXCHANGE = b"dltensor_versioned", b"dltensor", b"dlpack_exchange_api"

_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def gapless(shape):
  strides, stride = [], 1
  for extent in reversed(shape):
    strides.insert(0, stride)
    stride *= extent
  return strides


class Array:
  """Memory, a shape, strides in elements, and a type as NumPy writes it; no protocol yet."""

  def __init__(self, values, shape, typestr="<f4", strides=None, device=0):
    self.shape = tuple(shape)
    self.typestr = typestr
    self.strides = tuple(strides or gapless(shape))
    self.format = typestr[0] + {"<f4": "f", "<f8": "d", "|u1": "B", "<i2": "h"}[typestr]
    values = list(values)
    self.memory = ctypes.create_string_buffer(struct.pack(self.format[0].replace("|", "=") + f"{len(values)}" + self.format[1],
                                                          *values), max(1, len(values) * int(typestr[2:])))
    self.device = device
    self.read_only = False

  @classmethod
  def arange(cls, shape, **kwargs):
    return cls(range(math.prod(shape)), shape, **kwargs)

  @classmethod
  def zeros(cls, shape, **kwargs):
    return cls([0] * math.prod(shape), shape, **kwargs)

  def values(self):
    """Returns the elements in the order of their indices."""
    size = int(self.typestr[2:])
    offsets = (sum(i * stride for i, stride in zip(index, self.strides)) * size
               for index in itertools.product(*map(range, self.shape)))
    return [struct.unpack_from(self.format.replace("|", "="), self.memory, offset)[0] for offset in offsets]

  def tensor(self):
    """Returns a DLPack tensor. The array keeps what it points to."""
    count = len(self.shape)
    self.extents = (ctypes.c_int64 * count)(*self.shape)
    self.steps = (ctypes.c_int64 * count)(*self.strides)
    return _Tensor(ctypes.addressof(self.memory), CUDA, self.device, count, _CODES[self.typestr[1]], 8 * int(self.typestr[2:]),
                   1, self.extents, self.steps, 0)


class CudaInterface(Array):
  """Speaks __cuda_array_interface__."""

  stream = None
  changed = {}  # Of the interface, for tests of what it must be.

  @property
  def __cuda_array_interface__(self):
    size = int(self.typestr[2:])
    return {"shape": self.shape, "typestr": self.typestr, "data": (ctypes.addressof(self.memory), self.read_only), "version": 3,
            "strides": tuple(stride * size for stride in self.strides), "stream": self.stream, **self.changed}


class Dlpack(Array):
  """Speaks __dlpack__ of version 1."""

  asked = None  # What __dlpack__ was called with last.
  deleted = 0
  place = CUDA

  def __dlpack_device__(self):
    return (self.place, self.device)

  def _managed(self):
    return _ManagedVersioned(1, 0, None, None, int(self.read_only), self.tensor()), _VERSIONED

  def __dlpack__(self, *, stream=None, max_version=None):
    self.asked = (stream, max_version)
    self.managed, name = self._managed()

    def delete(pointer):
      self.deleted += 1

    self.deleter = _Deleter(delete)
    self.managed.deleter = ctypes.cast(self.deleter, ctypes.c_void_p)
    return _new_capsule(ctypes.addressof(self.managed), name, None)


class OldDlpack(Dlpack):
  """Speaks __dlpack__ as it was before versions."""

  def _managed(self):
    return _Managed(self.tensor(), None, None), _UNVERSIONED

  def __dlpack__(self, *, stream=None):
    return super().__dlpack__(stream=stream)


# ---- DLPack's table of functions ----

_Allocate = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Tensor), ctypes.POINTER(ctypes.c_void_p), ctypes.c_void_p,
                             ctypes.c_void_p)
_ToObject = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
_Borrow = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(_Tensor))
_Stream = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))


class _Table(ctypes.Structure):
  _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("previous", ctypes.c_void_p), ("allocate", _Allocate),
              ("managed_from_object", ctypes.c_void_p), ("object_from_managed", _ToObject), ("borrow", _Borrow),
              ("stream", _Stream)]


class Exchange(Array):
  """Speaks the table, as PyTorch does. Results are Exchange arrays of float."""

  current_stream = 0x1234
  made = {}  # Arrays on their way from `allocate` to `object_from_managed`, by their number.

  @staticmethod
  def _allocate(prototype, out, context, set_error):
    prototype = prototype.contents
    number = len(Exchange.made) + 1
    Exchange.made[number] = Exchange.zeros(prototype.shape[:prototype.rank])
    out[0] = number
    return 0

  @staticmethod
  def _to_object(number, out):
    array = Exchange.made[number]
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(array))
    out[0] = id(array)
    return 0

  @staticmethod
  def _borrow(array, out):
    out[0] = array.tensor()
    return 0

  @staticmethod
  def _current_stream(device_type, device, out):
    out[0] = Exchange.current_stream
    return 0


_table = _Table(1, 3, None, _Allocate(Exchange._allocate), None, _ToObject(Exchange._to_object), _Borrow(Exchange._borrow),
                _Stream(Exchange._current_stream))
Exchange.__dlpack_c_exchange_api__ = _new_capsule(ctypes.addressof(_table), _EXCHANGE, None)
