"""What the package makes of arrays and arguments, with a C library that works on the CPU's memory."""

import ast
import ctypes
import inspect
import itertools
import pathlib
import subprocess
import sys
import unittest

from bindings.python.test import fake_arrays, unpacked

LIBRARY = unpacked.import_on_cpu()

import stridewise  # noqa: E402
from stridewise import _core, _frameworks  # noqa: E402

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


class ErrorTest(unittest.TestCase):

  def test_names_the_argument(self):
    kind = fake_arrays.Exchange
    x, y = kind.arange((2, 3)), kind.arange((3, 2))
    elsewhere = kind.arange((3, 2), device=1)
    nowhere = kind.arange((2, 3), device=9)
    on_cpu = fake_arrays.Dlpack.arange((2, 3))
    on_cpu.place = fake_arrays.CPU
    read_only = fake_arrays.CudaInterface.zeros((3, 2))
    read_only.read_only = True
    odd = kind(range(60), (3, 4), strides=(20, 2))
    cases = (
      (TypeError, "transpose() needs the argument 'x'", lambda: stridewise.transpose()),
      (TypeError, "transpose() takes 2 arguments by position, and 3 were given", lambda: stridewise.transpose(x, y, 0)),
      (TypeError, "transpose() has no argument 'axes'", lambda: stridewise.transpose(x, axes=1)),
      (TypeError, "transpose() was given the argument 'x' twice", lambda: stridewise.transpose(x, x=x)),
      (TypeError, "x is a <class 'list'>; it must be an array in device memory", lambda: stridewise.transpose([[1]])),
      (ValueError, "x is in the memory of the CPU; it must be in the memory of an NVIDIA GPU", lambda: stridewise.transpose(on_cpu)),
      (ValueError, "x has 1 dimensions; it must have 2 or more", lambda: stridewise.transpose(kind.arange((3,)))),
      (ValueError, "out has the shape (2, 3); it must have (3, 2)", lambda: stridewise.transpose(x, x)),
      (ValueError, "out has elements of type float64; they must be float32",
       lambda: stridewise.transpose(x, kind.zeros((3, 2), typestr="<f8"))),
      (ValueError, "out is on device 1; it must be on that of x, 0", lambda: stridewise.transpose(x, elsewhere)),
      (ValueError, "out is read-only", lambda: stridewise.transpose(x, read_only)),
      (ValueError, "dims is (0, 0); it must name each of the 2 dimensions of x once", lambda: stridewise.permute(x, (0, 0))),
      (ValueError, "dims is (0, 1, 2); it must", lambda: stridewise.permute(x, (0, 1, 2))),
      (ValueError, "dims is (-3, 1); it must", lambda: stridewise.permute(x, (-3, 1))),
      (TypeError, "not iterable", lambda: stridewise.permute(x, 1)),
      (ValueError, "a has the shape (2, 3) and b (2, 3); the columns of a must be the rows of b", lambda: stridewise.matmul(x, x)),
      (ValueError, "their batches must be the same", lambda: stridewise.matmul(kind.arange((2, 2, 3)), kind.arange((4, 3, 2)))),
      (ValueError, "b has strides of (20, 2) elements; its rows or its columns must be contiguous", lambda: stridewise.matmul(x, odd)),
      (TypeError, "a has elements of type float64; they can be float32",
       lambda: stridewise.matmul(*(kind.zeros((2, 2), typestr="<f8") for _ in range(2)))),
      (TypeError, "a has elements of type float32 and b of float64", lambda: stridewise.matmul(x, kind.zeros((3, 2), typestr="<f8"))),
      (ValueError, "a is on device 0 and b on device 1", lambda: stridewise.matmul(x, elsewhere)),
      (ValueError, "beta is 1, which needs out", lambda: stridewise.matmul(x, y, beta=1)),
      (ValueError, "precision is 'double'; it can be 'fp32'", lambda: stridewise.matmul(x, y, precision="double")),
      (ValueError, "activation is 'tanh'; it can be None, 'relu' or 'gelu'", lambda: stridewise.matmul(x, y, activation="tanh")),
      (ValueError, "bias has the shape (3,)", lambda: stridewise.matmul(x, y, bias=kind.arange((3,)))),
      (TypeError, "bias has elements of type float64; they must be the result's, float32",
       lambda: stridewise.matmul(x, y, bias=kind.zeros((2,), typestr="<f8"))),
      (ValueError, "bias is on device 1 and a on device 0", lambda: stridewise.matmul(x, y, bias=kind.arange((2,), device=1))),
      (ValueError, "bias has a stride of 2 elements; it must be contiguous",
       lambda: stridewise.matmul(x, y, bias=kind([1, 2, 3], (2,), strides=(2,)))),
      (ValueError, "out has contiguous columns; with a bias its rows must be contiguous",
       lambda: stridewise.matmul(x, y, kind([0] * 4, (2, 2), strides=(1, 2)), bias=kind.arange((2,)))),
      (RuntimeError, "device 9 is not there", lambda: stridewise.transpose(nowhere)),
    )
    for error, message, call in cases:
      with self.subTest(message=message), self.assertRaises(error) as raised:
        call()
      self.assertIn(message, str(raised.exception))

  def test_refuses_a_pytorch_that_does_not_say_its_stream(self):
    kind = type("Tensor", (fake_arrays.CudaInterface,), {"__module__": "torch"})
    with self.assertRaisesRegex(TypeError, "x is a <class 'torch.Tensor'> of a PyTorch before 2.10"):
      stridewise.transpose(kind.arange((2, 3)))

  def test_names_the_interfaces_key(self):
    self.addCleanup(setattr, fake_arrays.CudaInterface, "changed", {})
    for key, value in (("shape", [2, 3]), ("shape", (2, "x")), ("typestr", ">f4"), ("typestr", None), ("typestr", ""), ("data", None),
                       ("data", ("x", False)), ("strides", (1,)), ("strides", (5, 4)), ("mask", 1), ("stream", 0)):
      fake_arrays.CudaInterface.changed = {key: value}
      with self.subTest(key=key, value=value), self.assertRaisesRegex(TypeError, f'x.__cuda_array_interface__."{key}". must be'):
        stridewise.transpose(fake_arrays.CudaInterface.arange((2, 3)))


class ReferencesTest(unittest.TestCase):

  def test_calls_keep_none(self):
    x, out = fake_arrays.Exchange.arange((2, 3)), fake_arrays.Exchange.zeros((3, 2))

    def counts():
      return [sys.getrefcount(thing) for thing in (x, out, fake_arrays.Exchange, None)]

    def calls(count):
      for _ in range(count):
        stridewise.transpose(x, out)
        stridewise.permute(x, [1, 0], out=out, stream=None)
        for bad in (lambda: stridewise.transpose(x, x), lambda: stridewise.permute(x, (5, 5))):
          try:
            bad()
          except ValueError:
            pass

    calls(10)
    before = counts()
    calls(100)
    for old, new in zip(before, counts()):
      self.assertLess(abs(new - old), 20)


class InterfaceTest(unittest.TestCase):

  def test_stubs_are_the_functions(self):
    stubs = ast.parse((pathlib.Path(stridewise.__file__).parent / "__init__.pyi").read_text())
    functions = {node.name: node for node in stubs.body if isinstance(node, ast.FunctionDef)}
    self.assertEqual(sorted(functions), sorted(name for name in stridewise.__all__ if not name.startswith("__")))
    for name, node in functions.items():
      for argument in (*node.args.args, *node.args.kwonlyargs):
        argument.annotation = None
      expected = str(inspect.signature(getattr(stridewise, name)))
      self.assertEqual(f"({ast.unparse(node.args)})".replace("=", " = "), expected.replace("=", " = "), name)

  def test_everything_is_documented(self):
    for name in stridewise.__all__:
      if not name.startswith("__"):
        self.assertGreater(len(getattr(stridewise, name).__doc__), 100)

  def test_info(self):
    run = subprocess.run([sys.executable, "-m", "stridewise", "info"], env={"PYTHONPATH": str(LIBRARY.parent.parent)}, text=True,
                         capture_output=True, check=True)
    self.assertIn(f"stridewise   {stridewise.__version__}", run.stdout)
    self.assertIn("0.1.0-test", run.stdout)
    run = subprocess.run([sys.executable, "-m", "stridewise"], env={"PYTHONPATH": str(LIBRARY.parent.parent)}, text=True,
                         capture_output=True, check=False)
    self.assertEqual((run.returncode, run.stderr), (2, "usage: python -m stridewise info\n"))

  def test_time_c_call(self):
    x, out = fake_arrays.Exchange.arange((2, 3)), fake_arrays.Exchange.zeros((3, 2))
    self.assertGreater(_core.time_c_call(x, (1, 0), out, 10), 0)
    self.assertEqual(out.values(), permuted(x, [1, 0]))


if __name__ == "__main__":
  unittest.main()
