"""The package's errors, references, stubs, help and command line, with a C library that works on the CPU's memory."""

import ast
import inspect
import pathlib
import subprocess
import sys
import unittest

from bindings.python.test import fake_arrays, unpacked

LIBRARY = unpacked.import_on_cpu()

import stridewise  # noqa: E402
from stridewise import _core  # noqa: E402


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
      (ValueError, "activation is 'tanh'; it can be None, 'relu', 'gelu' or 'gelu_erf'", lambda: stridewise.matmul(x, y, activation="tanh")),
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
    self.assertEqual(out.values(), [0, 3, 1, 4, 2, 5])


if __name__ == "__main__":
  unittest.main()
