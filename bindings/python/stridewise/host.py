"""Products, transposes and permutations of NumPy's arrays on the processor, without a GPU.

  import stridewise.host
  c = stridewise.host.matmul(a, b)      # float32, float64 or bfloat16, two dimensions, or three: a batch
  y = stridewise.host.transpose(x)      # elements of 1, 2, 4, 8 or 16 bytes
  z = stridewise.host.permute(x, (2, 0, 1))  # up to six dimensions

bfloat16 is ml_dtypes' type, which JAX has too. Products of it are summed in float32; the result is bfloat16, or float32 where
`out` is. Without that package, bits_of="bfloat16" has arrays of uint16 hold the bits of such numbers.

OMP_NUM_THREADS says how many threads are used, otherwise one for each processor. Views that NumPy's .T made, and rows with
gaps, are read where they lie; other arrays are copied first. Wrong arguments raise TypeError or ValueError.
"""

import ctypes
import os

import numpy

_FLOAT32, _BFLOAT16, _FLOAT64 = 0, 1, 7
_TYPES = {numpy.dtype(numpy.float32): _FLOAT32, numpy.dtype(numpy.float64): _FLOAT64}
_BITS = numpy.dtype(numpy.uint16)


def _type_of(dtype, bits_of):
  """Returns the library's number of an array's type, or None where it has none."""
  if bits_of is not None and dtype == _BITS:
    return _BFLOAT16
  # NumPy itself has no such type: one of that name and size is ml_dtypes', which need not be imported here.
  if dtype.name == "bfloat16" and dtype.itemsize == 2:
    return _BFLOAT16
  return _TYPES.get(dtype)


class _Input(ctypes.Structure):
  _fields_ = [("data", ctypes.c_void_p), ("ld", ctypes.c_int64), ("stride", ctypes.c_int64), ("type", ctypes.c_int32),
              ("transposed", ctypes.c_int32)]


class _MatMul(ctypes.Structure):
  _fields_ = [("struct_size", ctypes.c_size_t), ("m", ctypes.c_int64), ("n", ctypes.c_int64), ("k", ctypes.c_int64),
              ("a", _Input), ("b", _Input), ("c", _Input), ("alpha", ctypes.c_double), ("beta", ctypes.c_double),
              ("batch", ctypes.c_int64), ("layout", ctypes.c_int32), ("precision", ctypes.c_int32),
              ("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_int64)]


class _Transpose(ctypes.Structure):
  _fields_ = [("struct_size", ctypes.c_size_t), ("data_in", ctypes.c_void_p), ("data_out", ctypes.c_void_p),
              *((name, ctypes.c_int64) for name in ("rows", "cols", "element_bytes", "ld_in", "ld_out", "batch", "stride_in",
                                                    "stride_out"))]


class _Permute(ctypes.Structure):
  _fields_ = [("struct_size", ctypes.c_size_t), ("data_in", ctypes.c_void_p), ("data_out", ctypes.c_void_p),
              ("rank", ctypes.c_int64),
              *((name, ctypes.POINTER(ctypes.c_int64)) for name in ("extents", "order", "strides_in", "strides_out")),
              ("element_bytes", ctypes.c_int64)]


def _load():
  path = os.environ.get("STRIDEWISE_HOST_LIBRARY",
                        os.path.join(os.path.dirname(os.path.abspath(__file__)), "libstridewise_host.so"))
  library = ctypes.CDLL(path)
  library.stridewise_host_message.restype = ctypes.c_char_p
  return library


_library = _load()


def _call(function, args):
  if function(ctypes.byref(args)) != 0:
    raise ValueError(_library.stridewise_host_message().decode())


def _as_rows(array):
  """Returns the array with rows whose elements are neighbours, or None if it would have to be copied."""
  size = array.itemsize
  rows, cols = array.shape[-2:]
  row_step, col_step = array.strides[-2:]
  if cols > 1 and col_step != size or rows > 1 and (row_step < cols * size or row_step % size != 0):
    return None
  if array.ndim == 3 and array.shape[0] > 1 and (array.strides[0] < 0 or array.strides[0] % size != 0):
    return None
  return array


def _step(array, dimension, gapless):
  return array.strides[dimension] // array.itemsize if array.shape[dimension] > 1 else gapless


def _operand(name, array, batch, bits_of):
  if not isinstance(array, numpy.ndarray) or _type_of(array.dtype, bits_of) is None:
    raise TypeError(f"{name} is {getattr(array, 'dtype', type(array).__name__)}; allowed are arrays of float32, float64 and "
                    "bfloat16, and of uint16 with bits_of=\"bfloat16\"")
  if array.ndim not in (2, 3) or array.ndim == 3 and array.shape[0] != batch:
    raise ValueError(f"{name} has the shape {array.shape}; allowed are two dimensions, or three and the batch of the other")
  stored = _as_rows(array)
  transposed = stored is None and _as_rows(array.swapaxes(-1, -2)) is not None
  if transposed:
    stored = array.swapaxes(-1, -2)
  elif stored is None:
    stored = numpy.ascontiguousarray(array)
  stride = _step(stored, 0, 0) if array.ndim == 3 else 0
  ld = max(_step(stored, -2, stored.shape[-1]), 1)
  return stored, _Input(stored.ctypes.data, ld, stride, _type_of(array.dtype, bits_of), int(transposed))


def matmul(a, b, *, out=None, alpha=1.0, beta=0.0, bits_of=None):
  """Returns alpha * a @ b + beta * out, in `out` where one is given, an array of C's shape whose rows have no gaps.

  Of bfloat16 `out` may be float32, and where bits_of is "bfloat16", arrays of uint16 are the bits of bfloat16.
  """
  if bits_of not in (None, "bfloat16"):
    raise ValueError(f"bits_of is {bits_of!r}; allowed is \"bfloat16\"")
  batch = next((array.shape[0] for array in (a, b) if getattr(array, "ndim", 0) == 3), 1)
  kept_a, given_a = _operand("a", a, batch, bits_of)
  kept_b, given_b = _operand("b", b, batch, bits_of)
  if a.dtype != b.dtype:
    raise TypeError(f"b is {b.dtype}; allowed is a's, {a.dtype}")
  if a.shape[-1] != b.shape[-2]:
    raise ValueError(f"b has {b.shape[-2]} rows; allowed is the number of a's columns, {a.shape[-1]}")
  m, k = a.shape[-2:]
  n = b.shape[-1]
  shape = (m, n) if a.ndim == b.ndim == 2 else (batch, m, n)
  if out is None:
    if beta != 0:
      raise ValueError(f"beta is {beta}; allowed without out is 0")
    out = numpy.empty(shape, a.dtype)
  allowed = (a.dtype, numpy.dtype(numpy.float32)) if given_a.type == _BFLOAT16 else (a.dtype,)
  if out.shape != shape or out.dtype not in allowed or not out.flags.c_contiguous or not out.flags.writeable:
    names = " or ".join(str(dtype) for dtype in allowed)
    raise ValueError(f"out is {out.dtype} of the shape {out.shape}; allowed is writable {names} of {shape} without gaps")
  if numpy.may_share_memory(out, a) or numpy.may_share_memory(out, b):
    raise ValueError("out overlaps a or b")
  given_c = _Input(out.ctypes.data, max(n, 1), m * n, _type_of(out.dtype, bits_of), 0)
  _call(_library.stridewise_host_matmul,
        _MatMul(ctypes.sizeof(_MatMul), m, n, k, given_a, given_b, given_c, alpha, beta, batch, 0, 0, None, 0))
  del kept_a, kept_b
  return out


def transpose(x, *, out=None):
  """Returns x with its last two dimensions exchanged, without gaps. `out` may be x, if its matrices are square."""
  if not isinstance(x, numpy.ndarray) or x.itemsize not in (1, 2, 4, 8, 16) or x.dtype.hasobject:
    raise TypeError(f"x is {getattr(x, 'dtype', type(x).__name__)}; allowed are arrays of elements of 1, 2, 4, 8 or 16 bytes")
  if x.ndim not in (2, 3):
    raise ValueError(f"x has {x.ndim} dimensions; allowed are 2 and 3")
  rows, cols = x.shape[-2:]
  shape = (*x.shape[:-2], cols, rows)
  if out is None:
    out = numpy.empty(shape, x.dtype)
  elif out.shape != shape or out.dtype != x.dtype or not out.flags.c_contiguous or not out.flags.writeable:
    raise ValueError(f"out is {out.dtype} of the shape {out.shape}; allowed is writable {x.dtype} of {shape} without gaps")
  stored = _as_rows(x)
  if stored is None:
    stored = numpy.ascontiguousarray(x)
  if stored.ctypes.data != out.ctypes.data and numpy.may_share_memory(stored, out):
    raise ValueError("out overlaps x")
  batch = x.shape[0] if x.ndim == 3 else 1
  stride = _step(stored, 0, rows * cols) if x.ndim == 3 else rows * cols
  _call(_library.stridewise_host_transpose,
        _Transpose(ctypes.sizeof(_Transpose), stored.ctypes.data, out.ctypes.data, rows, cols, x.itemsize,
                   max(_step(stored, -2, cols), 1), max(rows, 1), batch, stride, rows * cols))
  return out


def permute(x, order, *, out=None):
  """Returns what numpy.transpose(x, order) views, as an array without gaps."""
  if not isinstance(x, numpy.ndarray) or x.itemsize not in (1, 2, 4, 8, 16) or x.dtype.hasobject:
    raise TypeError(f"x is {getattr(x, 'dtype', type(x).__name__)}; allowed are arrays of elements of 1, 2, 4, 8 or 16 bytes")
  order = tuple(order)
  if x.ndim > 6 or sorted(order) != list(range(x.ndim)):
    raise ValueError(f"order is {order} for {x.ndim} dimensions; allowed is each of up to 6 dimensions once")
  shape = tuple(x.shape[i] for i in order)
  if out is None:
    out = numpy.empty(shape, x.dtype)
  elif out.shape != shape or out.dtype != x.dtype or not out.flags.c_contiguous or not out.flags.writeable:
    raise ValueError(f"out is {out.dtype} of the shape {out.shape}; allowed is writable {x.dtype} of {shape} without gaps")
  if numpy.may_share_memory(x, out):
    raise ValueError("out overlaps x")
  if any(step < 0 or step % x.itemsize != 0 for step in x.strides) or not x.flags.aligned:
    x = numpy.ascontiguousarray(x)
  array = lambda values: (ctypes.c_int64 * max(x.ndim, 1))(*values)
  _call(_library.stridewise_host_permute,
        _Permute(ctypes.sizeof(_Permute), x.ctypes.data, out.ctypes.data, x.ndim, array(x.shape), array(order),
                 array(step // x.itemsize for step in x.strides), None, x.itemsize))
  return out
