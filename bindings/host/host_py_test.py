"""stridewise.host beside NumPy. Skipped with a line where there is no NumPy.

With `installed` as its argument, that of the package which Python finds, such as the installed wheel's, and else the
module of this workspace with the library beside this file.
"""

import importlib.util
import itertools
import os
import sys
import unittest

try:
  import numpy
except ImportError:
  print("skipped: NumPy is not there; Debian's python3-numpy has it")
  sys.exit(0)

try:
  import ml_dtypes
except ImportError:
  ml_dtypes = None

if sys.argv[1:] == ["installed"]:
  sys.argv.pop()
  from stridewise import host
else:
  _FOLDER = os.path.dirname(os.path.abspath(__file__))
  os.environ["STRIDEWISE_HOST_LIBRARY"] = os.path.join(_FOLDER, "libstridewise_host.so")
  _SPEC = importlib.util.spec_from_file_location("host", os.path.join(_FOLDER, "../python/stridewise/host.py"))
  host = importlib.util.module_from_spec(_SPEC)
  _SPEC.loader.exec_module(host)


def _numbers(shape, dtype):
  """Whole numbers, whose sums are exact."""
  count = int(numpy.prod(shape))
  return ((numpy.arange(count) * 7) % 11 - 5).astype(dtype).reshape(shape)


def _bits(array):
  """The bits of bfloat16 that are nearest to float32; ties to even."""
  wide = numpy.ascontiguousarray(array).view(numpy.uint32)
  return ((wide + 0x7fff + ((wide >> 16) & 1)) >> 16).astype(numpy.uint16)


class HostTest(unittest.TestCase):

  def test_products(self):
    for dtype in (numpy.float32, numpy.float64):
      for m, n, k in ((1, 1, 1), (3, 5, 7), (64, 64, 64), (130, 33, 200), (8, 300, 100), (5, 4, 0), (0, 4, 3)):
        a, b = _numbers((m, k), dtype), _numbers((k, n), dtype)
        wide = _numbers((k, n + 5), dtype)
        for left, right in ((a, b), (_numbers((k, m), dtype).T, b), (a, _numbers((n, k), dtype).T), (a, wide[:, 2:n + 2]),
                            (a, numpy.repeat(b, 2, axis=1)[:, ::2])):
          numpy.testing.assert_array_equal(host.matmul(left, right), left @ right, str((dtype, m, n, k)))

  def test_alpha_beta_and_batches(self):
    a, b = _numbers((4, 9, 20), numpy.float32), _numbers((4, 20, 6), numpy.float32)
    out = numpy.ones((4, 9, 6), numpy.float32)
    result = host.matmul(a, b, out=out, alpha=2, beta=-3)
    self.assertIs(result, out)
    numpy.testing.assert_array_equal(out, 2 * (a @ b) - 3)
    numpy.testing.assert_array_equal(host.matmul(a, b[1]), a @ b[1])

  def test_transposes(self):
    for dtype in (numpy.uint8, numpy.int16, numpy.float32, numpy.float64, numpy.complex128):
      for shape in ((1, 1), (3, 5), (100, 257), (2, 65, 33), (0, 4)):
        x = _numbers(shape, dtype)
        numpy.testing.assert_array_equal(host.transpose(x), x.swapaxes(-1, -2))
      square = _numbers((3, 70, 70), dtype)
      expected = square.swapaxes(-1, -2).copy()
      host.transpose(square, out=square)
      numpy.testing.assert_array_equal(square, expected)

  def test_bits_of_bfloat16(self):
    for m, n, k in ((1, 1, 1), (3, 5, 7), (8, 300, 100), (130, 33, 200), (300, 8, 65)):
      a, b = _numbers((m, k), numpy.float32), _numbers((k, n), numpy.float32)
      bits_a, bits_b = _bits(a), _bits(b)
      for left, right in ((bits_a, bits_b), (_bits(a.T).T, bits_b), (bits_a, _bits(b.T).T)):
        exact = host.matmul(left, right, out=numpy.empty((m, n), numpy.float32), bits_of="bfloat16")
        numpy.testing.assert_array_equal(exact, a @ b, str((m, n, k)))
        rounded = host.matmul(left, right, bits_of="bfloat16")
        self.assertEqual(rounded.dtype, numpy.uint16)
        numpy.testing.assert_array_equal(rounded, _bits(a @ b), str((m, n, k)))
    out = _bits(numpy.full((2, 9, 6), 3, numpy.float32))
    a, b = _numbers((2, 9, 20), numpy.float32), _numbers((20, 6), numpy.float32)
    host.matmul(_bits(a), _bits(b), out=out, alpha=2, beta=-1, bits_of="bfloat16")
    numpy.testing.assert_array_equal(out, _bits(2 * (a @ b) - 3))

  @unittest.skipIf(ml_dtypes is None, "ml_dtypes is not there")
  def test_bfloat16(self):
    a, b = _numbers((40, 70), ml_dtypes.bfloat16), _numbers((70, 33), ml_dtypes.bfloat16)
    expected = a.astype(numpy.float32) @ b.astype(numpy.float32)
    result = host.matmul(a, b)
    self.assertEqual(result.dtype, ml_dtypes.bfloat16)
    numpy.testing.assert_array_equal(result, expected.astype(ml_dtypes.bfloat16))
    numpy.testing.assert_array_equal(host.matmul(a, b, out=numpy.empty((40, 33), numpy.float32)), expected)
    numpy.testing.assert_array_equal(host.transpose(a), a.T)
    self.assertEqual(host.transpose(a).dtype, ml_dtypes.bfloat16)

  def test_permutations(self):
    x = numpy.arange(2 * 3 * 4 * 5, dtype=numpy.int16).reshape(2, 3, 4, 5)
    for order in itertools.permutations(range(4)):
      numpy.testing.assert_array_equal(host.permute(x, order), x.transpose(order), str(order))
    for view in (x[:, ::2, 1:, ::-1], x.T, numpy.broadcast_to(x[:1], (3, 3, 4, 5))):
      numpy.testing.assert_array_equal(host.permute(view, (3, 1, 0, 2)), view.transpose(3, 1, 0, 2))
    scalar = numpy.array(7.5)
    self.assertEqual(host.permute(scalar, ()), scalar)
    out = numpy.empty((5, 2, 3, 4), numpy.int16)
    self.assertIs(host.permute(x, (3, 0, 1, 2), out=out), out)
    numpy.testing.assert_array_equal(out, x.transpose(3, 0, 1, 2))
    with self.assertRaisesRegex(ValueError, "order is"):
      host.permute(x, (0, 1, 2, 2))
    with self.assertRaisesRegex(ValueError, "out is"):
      host.permute(x, (0, 1, 2, 3), out=out)

  def test_wrong_arguments_are_named(self):
    a = numpy.zeros((2, 3), numpy.float32)
    with self.assertRaisesRegex(ValueError, "b has 2 rows; allowed is the number of a's columns, 3"):
      host.matmul(a, a)
    with self.assertRaisesRegex(TypeError, "b is float64"):
      host.matmul(a, a.T.astype(numpy.float64))
    with self.assertRaisesRegex(TypeError, "a is int32"):
      host.matmul(a.astype(numpy.int32), a.T)
    with self.assertRaisesRegex(TypeError, "a is uint16.*bits_of"):
      host.matmul(a.astype(numpy.uint16), a.T.astype(numpy.uint16))
    with self.assertRaisesRegex(ValueError, "bits_of is 'float16'; allowed is \"bfloat16\""):
      host.matmul(a.astype(numpy.uint16), a.T.astype(numpy.uint16), bits_of="float16")
    with self.assertRaisesRegex(ValueError, "out is float64.*uint16 or float32"):
      bits = a.astype(numpy.uint16)
      host.matmul(bits, bits.T, out=numpy.zeros((2, 2)), bits_of="bfloat16")
    with self.assertRaisesRegex(ValueError, "out is float64"):
      host.transpose(numpy.zeros((2, 8), numpy.float32)[:, :2], out=numpy.zeros((2, 2), numpy.float64))
    with self.assertRaisesRegex(ValueError, "out overlaps a or b"):
      square = numpy.zeros((3, 3), numpy.float32)
      host.matmul(square, square, out=square)


if __name__ == "__main__":
  unittest.main()
