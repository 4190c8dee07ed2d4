"""What the package makes of arrays and arguments, with a C library that works on the CPU's memory."""

import ctypes
import itertools
import unittest

from bindings.python.test import fake_arrays, unpacked

LIBRARY = unpacked.import_on_cpu()

import stridewise  # noqa: E402
from stridewise import _frameworks  # noqa: E402

KINDS = (fake_arrays.CudaInterface, fake_arrays.Dlpack, fake_arrays.OldDlpack, fake_arrays.Exchange)


def permuted(x, dims):
  """Returns the values of x with its dimensions in another order."""
  values = dict(zip(itertools.product(*map(range, x.shape)), x.values()))
  shape = [x.shape[d] for d in dims]
  return [values[tuple(index[dims.index(d)] for d in range(len(dims)))] for index in itertools.product(*map(range, shape))]


def last_stream():
  function = ctypes.CDLL(str(LIBRARY)).test_last_stream
  function.restype = ctypes.c_uint64
  return function()


class MoveTest(unittest.TestCase):

  # Arrays of DLPack without a stream are waited for, which needs the driver: these tests replace the wait by its error.
  def call(self, function, *args, **kwargs):
    try:
      return function(*args, **kwargs)
    except RuntimeError as error:
      self.assertEqual(str(error), "the work on the stream failed")

  def test_every_protocol(self):
    for kind in KINDS:
      with self.subTest(kind=kind.__name__):
        x, out = kind.arange((2, 3, 4)), kind.zeros((2, 4, 3))
        self.call(stridewise.transpose, x, out)
        self.assertEqual(out.values(), permuted(x, [0, 2, 1]))
        out = kind.zeros((4, 2, 3))
        self.call(stridewise.permute, x, (2, 0, -2), out)
        self.assertEqual(out.values(), permuted(x, [2, 0, 1]))

  def test_returns_out(self):
    x, out = fake_arrays.Exchange.arange((2, 3)), fake_arrays.Exchange.zeros((3, 2))
    self.assertIs(stridewise.transpose(x, out), out)
    self.assertIs(stridewise.transpose(x, out=out), out)

  def test_makes_a_result(self):
    x = fake_arrays.Exchange.arange((2, 3))
    y = stridewise.transpose(x)
    self.assertIsInstance(y, fake_arrays.Exchange)
    self.assertEqual((y.shape, y.values()), ((3, 2), permuted(x, [1, 0])))
    self.addCleanup(setattr, _frameworks, "_MAKERS", dict(_frameworks._MAKERS))
    root = fake_arrays.CudaInterface.__module__.partition(".")[0]
    _frameworks._MAKERS[root] = lambda x, shape, name: fake_arrays.CudaInterface.zeros(shape)
    y = stridewise.permute(fake_arrays.CudaInterface.arange((2, 3, 4)), (2, 1, 0))
    self.assertEqual(y.shape, (4, 3, 2))
    with self.subTest("of an unknown framework"):
      _frameworks._MAKERS.clear()
      with self.assertRaisesRegex(TypeError, "no result can be made like .*CudaInterface: pass out="):
        stridewise.transpose(fake_arrays.CudaInterface.arange((2, 3)))

  def test_types(self):
    for typestr in ("|u1", "<i2", "<f4", "<f8"):
      x, out = (fake_arrays.CudaInterface.arange(shape, typestr=typestr) for shape in ((2, 3), (3, 2)))
      stridewise.transpose(x, out)
      self.assertEqual(out.values(), permuted(x, [1, 0]))

  def test_strides(self):
    kind = fake_arrays.CudaInterface
    x = kind(range(40), (3, 4), strides=(10, 2))
    out = kind([0] * 20, (4, 3), strides=(5, 1))
    stridewise.transpose(x, out)
    self.assertEqual(out.values(), permuted(x, [1, 0]))
    for view in (x, kind(range(40), (3, 4), strides=(1, 5)), kind(range(40), (3, 4), strides=(1, 2)),
                 kind(range(40), (3, 4), strides=(0, 1)), kind.arange((3, 4)), kind(range(40), (3, 4), strides=(1, 0))):
      self.assertEqual(stridewise.contiguous(view, kind.zeros((3, 4))).values(), view.values())
      self.assertEqual(stridewise.transpose(view, kind.zeros((4, 3))).values(), permuted(view, [1, 0]))
      columns = kind([0] * 12, (3, 4), strides=(1, 3))
      self.assertEqual(stridewise.contiguous(view, columns).values(), view.values())

  def test_in_place(self):
    x = fake_arrays.CudaInterface.arange((2, 3, 5))
    expected = permuted(x, [0, 2, 1])
    out = fake_arrays.CudaInterface.zeros((2, 5, 3))
    out.memory = x.memory
    stridewise.transpose(x, out)
    self.assertEqual(out.values(), expected)
    with self.assertRaisesRegex(ValueError, "same memory"):
      y = fake_arrays.CudaInterface(range(40), (3, 4), strides=(10, 2))
      out = fake_arrays.CudaInterface.zeros((4, 3))
      out.memory = y.memory
      stridewise.transpose(y, out)

  def test_many_dimensions(self):
    x = fake_arrays.CudaInterface.arange((2, 1, 2, 2, 1, 2, 2, 2, 3))
    out = fake_arrays.CudaInterface.zeros((2, 1, 2, 2, 1, 2, 2, 3, 2))
    stridewise.transpose(x, out)
    self.assertEqual(out.values(), permuted(x, [*range(7), 8, 7]))
    x = fake_arrays.CudaInterface.arange((2,) * 7)
    with self.assertRaisesRegex(ValueError, "x has 7 dimensions that neither"):
      stridewise.permute(x, range(6, -1, -1), fake_arrays.CudaInterface.zeros((2,) * 7))

  def test_nothing_to_move(self):
    x, out = fake_arrays.CudaInterface.arange((0, 3)), fake_arrays.CudaInterface.zeros((3, 0))
    self.assertIs(stridewise.transpose(x, out), out)

  def test_gives_dlpack_tensors_back(self):
    x, out = fake_arrays.Dlpack.arange((2, 3)), fake_arrays.Dlpack.zeros((3, 2))
    self.call(stridewise.transpose, x, out, stream=7)
    self.assertEqual((x.deleted, out.deleted), (1, 1))
    self.assertEqual(x.asked, (7, (1, 0)))
    with self.assertRaises(ValueError):
      stridewise.permute(x, (0, 0), out)
    self.assertEqual(x.deleted, 2)


class StreamTest(unittest.TestCase):

  def transposed_on(self, kind, **kwargs):
    stridewise.transpose(kind.arange((2, 3)), kind.zeros((3, 2)), **kwargs)
    return last_stream()

  def test_the_current_one(self):
    self.assertEqual(self.transposed_on(fake_arrays.Exchange), fake_arrays.Exchange.current_stream)
    self.assertEqual(self.transposed_on(fake_arrays.CudaInterface), 0)
    self.addCleanup(setattr, fake_arrays.CudaInterface, "stream", None)
    fake_arrays.CudaInterface.stream = 77
    self.assertEqual(self.transposed_on(fake_arrays.CudaInterface), 77)

  def test_a_given_one(self):

    class Torch:
      cuda_stream = 11

    class Cupy:
      ptr = 12

    class Numba:
      handle = ctypes.c_void_p(13)

    class Protocol:
      cuda_stream = 1

      def __cuda_stream__(self):
        return (0, 14)

    for stream, handle in ((10, 10), (0, 0), (Torch(), 11), (Cupy(), 12), (Numba(), 13), (Protocol(), 14)):
      self.assertEqual(self.transposed_on(fake_arrays.Exchange, stream=stream), handle)
    for stream in ("x", 1.5, -1, object()):
      with self.assertRaisesRegex(TypeError, "stream is .*; it must be None, a handle"):
        self.transposed_on(fake_arrays.Exchange, stream=stream)


class ProductTest(unittest.TestCase):
  kind = fake_arrays.Exchange

  def check(self, a, b, out, **kwargs):
    stridewise.matmul(a, b, out, **kwargs)
    return out.values()

  def test_layouts(self):
    expected = [20, 23, 26, 29, 56, 68, 80, 92]  # (2, 3) @ (3, 4)
    by_columns = {"a": self.kind([0, 3, 1, 4, 2, 5], (2, 3), strides=(1, 2)),
                  "b": self.kind([0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11], (3, 4), strides=(1, 3))}
    for a in (self.kind.arange((2, 3)), by_columns["a"]):
      for b in (self.kind.arange((3, 4)), by_columns["b"]):
        self.assertEqual(self.check(a, b, self.kind.zeros((2, 4))), expected)
        self.assertEqual(self.check(a, b, self.kind([0] * 8, (2, 4), strides=(1, 2))), expected)
        self.assertEqual(self.check(a, b, self.kind([1] * 8, (2, 4)), alpha=2, beta=-1), [2 * x - 1 for x in expected])

  def test_batches(self):
    a, b = self.kind.arange((2, 2, 3)), self.kind.arange((3, 1))
    self.assertEqual(stridewise.matmul(a, b).values(), [5, 14, 23, 32])
    self.assertEqual(stridewise.matmul(b, self.kind.arange((2, 1, 1))).shape, (2, 3, 1))
    self.assertEqual(stridewise.matmul(a, self.kind.arange((2, 3, 1))).values(), [5, 14, 86, 122])

  def test_bias_and_activation(self):
    a, b = self.kind.arange((2, 3)), self.kind.arange((3, 4))
    bias = self.kind([-30, 1, -100, 2], (4,))
    self.assertEqual(stridewise.matmul(a, b, bias=bias).values(), [-10, 24, -74, 31, 26, 69, -20, 94])
    self.assertEqual(stridewise.matmul(a, b, bias=bias, activation="relu").values(), [0, 24, 0, 31, 26, 69, 0, 94])
    out = self.kind([1] * 8, (2, 4))
    stridewise.matmul(a, b, out, alpha=0, beta=-1, activation="relu")
    self.assertEqual(out.values(), [0] * 8)

  def test_the_librarys_messages(self):
    half = fake_arrays.CudaInterface.zeros((2, 2), typestr="<i2")
    half.typestr = "<f2"
    with self.assertRaisesRegex(NotImplementedError, "the test's library multiplies float32"):
      stridewise.matmul(half, half, half)


if __name__ == "__main__":
  unittest.main()
