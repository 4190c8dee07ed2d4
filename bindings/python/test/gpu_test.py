"""The package on a GPU, with the frameworks that are installed. Tests of a framework that is not there are skipped."""

import itertools
import unittest

import stridewise

try:
  import stridewise.torch
  import torch
except ImportError:
  torch = None

_HAS_GPU = torch is not None and torch.cuda.is_available()

_PERMUTATIONS = (
  ((5, 7), (1, 0)),
  ((1, 1), (1, 0)),
  ((0, 3), (1, 0)),
  ((513, 257), (1, 0)),
  ((3, 65, 130), (0, 2, 1)),
  ((2, 3, 33, 17), (0, 2, 3, 1)),
  ((2, 3, 4, 5, 6), (4, 2, 0, 3, 1)),
  ((2, 2, 2, 2, 2, 2, 2), (0, 1, 2, 3, 4, 6, 5)),
)


def _random(shape, dtype):
  values = torch.randint(0, 200, shape, device="cuda")
  return values.to(dtype)


@unittest.skipUnless(_HAS_GPU, "needs PyTorch and a GPU")
class TorchTest(unittest.TestCase):

  def test_permutes_every_shape_and_type(self):
    types = (torch.uint8, torch.bool, torch.bfloat16, torch.float16, torch.float32, torch.int64, torch.complex128,
             torch.float8_e5m2)
    for (shape, dims), dtype in itertools.product(_PERMUTATIONS, types):
      with self.subTest(shape=shape, dims=dims, dtype=dtype):
        x = _random(shape, dtype)
        y = stridewise.permute(x, dims)
        expected = x.permute(dims).contiguous()
        self.assertEqual((y.dtype, y.device, y.shape), (expected.dtype, expected.device, expected.shape))
        self.assertTrue(y.is_contiguous())
        if x.numel() > 0:
          self.assertTrue(torch.equal(y.view(torch.uint8), expected.view(torch.uint8)))

  def test_transposes_strided_inputs_and_outputs(self):
    x = _random((40, 70), torch.float32)
    for view in (x, x.t(), x[:, 3:50], x[::2], x[:, ::3], x[5].expand(9, 70), x[None], x.flip(0)):
      with self.subTest(shape=view.shape, strides=view.stride()):
        self.assertTrue(torch.equal(stridewise.transpose(view), view.transpose(-1, -2)))
        self.assertTrue(torch.equal(stridewise.contiguous(view), view))
    out = torch.zeros(70, 80, device="cuda")
    result = stridewise.transpose(x, out[:, :40])
    self.assertEqual(result.data_ptr(), out.data_ptr())
    self.assertTrue(torch.equal(out[:, :40], x.t()))
    self.assertEqual(out[:, 40:].abs().max().item(), 0)

  def test_transposes_in_place(self):
    for shape in ((64, 64), (3, 50, 50), (40, 72)):
      with self.subTest(shape=shape):
        x = _random(shape, torch.float32)
        expected = x.transpose(-1, -2).contiguous()
        out = x.view(*shape[:-2], shape[-1], shape[-2])
        stridewise.transpose(x, out)
        self.assertTrue(torch.equal(out, expected))

  def test_multiplies(self):
    for a_shape, b_shape in (((65, 33), (33, 129)), ((4, 65, 33), (4, 33, 20)), ((4, 65, 33), (33, 20)), ((65, 33), (2, 3, 33, 20))):
      with self.subTest(a=a_shape, b=b_shape):
        a, b = torch.randn(a_shape, device="cuda"), torch.randn(b_shape, device="cuda")
        expected = (a.double() @ b.double()).float()
        torch.testing.assert_close(stridewise.matmul(a, b), expected, atol=1e-4, rtol=1e-4)
        a, b = a.mT.contiguous().mT, b.mT.contiguous().mT
        torch.testing.assert_close(stridewise.matmul(a, b), expected, atol=1e-4, rtol=1e-4)
        out = torch.ones_like(expected)
        stridewise.matmul(a, b, out, alpha=2, beta=-1)
        torch.testing.assert_close(out, 2 * expected - 1, atol=1e-4, rtol=1e-4)
    a, b = torch.randn(65, 33, device="cuda"), torch.randn(33, 129, device="cuda")
    out = torch.empty(129, 65, device="cuda").t()
    stridewise.matmul(a, b, out)
    torch.testing.assert_close(out, a @ b, atol=1e-4, rtol=1e-4)
    for dtype in (torch.bfloat16, torch.float16):
      half_a, half_b = torch.randn(64, 32, device="cuda").to(dtype), torch.randn(32, 48, device="cuda").to(dtype)
      exact = half_a.double() @ half_b.double()
      torch.testing.assert_close(stridewise.matmul(half_a, half_b).double(), exact, atol=0.1, rtol=0.02)
      wide = stridewise.matmul(half_a, half_b, torch.empty(64, 48, device="cuda"))
      torch.testing.assert_close(wide.double(), exact, atol=1e-3, rtol=1e-3)

  def test_adds_a_bias_and_applies_an_activation(self):
    activations = {None: lambda x: x, "relu": torch.relu, "gelu": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
                   "gelu_erf": torch.nn.functional.gelu}
    for dtype, tolerance in ((torch.float32, 1e-4), (torch.bfloat16, 0.05)):
      for name, activation in activations.items():
        with self.subTest(dtype=dtype, activation=name):
          a, b = torch.randn(2, 65, 33, device="cuda").to(dtype), torch.randn(33, 129, device="cuda").to(dtype)
          bias = torch.randn(129, device="cuda").to(dtype)
          expected = activation(a.double() @ b.double() + bias.double())
          result = stridewise.matmul(a, b, bias=bias, activation=name)
          self.assertEqual(result.dtype, dtype)
          torch.testing.assert_close(result.double(), expected, atol=tolerance, rtol=tolerance)
    x = torch.randn(8, 8, device="cuda", requires_grad=True)
    with self.assertRaisesRegex(ValueError, "bias and activation cannot be given where an input requires a gradient"):
      stridewise.matmul(x, x, activation="relu")

  def test_runs_on_the_current_stream_and_on_a_given_one(self):
    x = _random((4096, 4096), torch.float32)
    stream = torch.cuda.Stream()
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
      torch.cuda._sleep(20_000_000)
      y = x + 1
      z = stridewise.transpose(y)
      expected = y.t().contiguous()
    stream.synchronize()
    self.assertTrue(torch.equal(z, expected))
    for given in (stream, stream.cuda_stream):
      z = stridewise.transpose(x, stream=given)
      stream.synchronize()
      self.assertTrue(torch.equal(z, x.t()))

  def test_is_captured_into_a_graph(self):
    x = _random((300, 200), torch.float32)
    a = torch.randn(256, 256, device="cuda")
    stridewise.transpose(x), stridewise.matmul(a, a)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
      y, c = stridewise.transpose(x), stridewise.matmul(a, a)
    x.add_(1)
    a.mul_(2)
    graph.replay()
    torch.cuda.synchronize()
    self.assertTrue(torch.equal(y, x.t()))
    torch.testing.assert_close(c, a @ a, atol=1e-2, rtol=1e-4)

  def test_records_gradients(self):
    x = torch.randn(3, 20, 30, device="cuda", dtype=torch.float64, requires_grad=True)
    for function in (stridewise.transpose, lambda x: stridewise.permute(x, (2, 0, 1)), stridewise.torch.contiguous):
      self.assertTrue(torch.autograd.gradcheck(function, (x.detach()[:1, :2, :3].requires_grad_(),)))
    for a_shape, b_shape in (((20, 30), (30, 40)), ((3, 20, 30), (30, 40)), ((20, 30), (3, 30, 40))):
      a = torch.randn(a_shape, device="cuda", requires_grad=True)
      b = torch.randn(b_shape, device="cuda", requires_grad=True)
      weights = torch.randn((a @ b).shape, device="cuda")
      ours = torch.autograd.grad((stridewise.matmul(a, b) * weights).sum(), (a, b))
      theirs = torch.autograd.grad(((a @ b) * weights).sum(), (a, b))
      for x, y in zip(ours, theirs):
        torch.testing.assert_close(x, y, atol=1e-3, rtol=1e-3)
    with self.assertRaisesRegex(ValueError, "out cannot be given"):
      stridewise.transpose(a, torch.empty_like(a))
    with torch.no_grad():
      self.assertIsNone(stridewise.transpose(a).grad_fn)

  def test_operators_are_registered_as_pytorch_wants(self):
    x = torch.randn(2, 3, 5, device="cuda", requires_grad=True)
    operators = torch.ops.stridewise
    torch.library.opcheck(operators.transpose.default, (x,))
    torch.library.opcheck(operators.permute.default, (x, [2, 0, 1]))
    torch.library.opcheck(operators.contiguous.default, (x.transpose(0, 1),))
    torch.library.opcheck(operators.matmul.default, (x, x.detach()[0].mT, 1.5, "fp32"))

  def test_compiles(self):
    from stridewise.torch import matmul, transpose

    def function(a, b):
      return matmul(transpose(a * 2), b).relu() + 1

    compiled = torch.compile(function, fullgraph=True)
    a = torch.randn(300, 200, device="cuda", requires_grad=True)
    b = torch.randn(300, 100, device="cuda")
    expected = (a * 2).t() @ b
    expected = expected.relu() + 1
    result = compiled(a, b)
    torch.testing.assert_close(result, expected, atol=1e-3, rtol=1e-4)
    ours, = torch.autograd.grad(result.sum(), a)
    theirs, = torch.autograd.grad(expected.sum(), a)
    torch.testing.assert_close(ours, theirs, atol=1e-3, rtol=1e-3)

  def test_names_the_argument(self):
    x = torch.randn(4, 5, device="cuda")
    y = torch.randn(2, 3, 4, device="cuda")
    cases = (
      (ValueError, "x is in the memory of the CPU", lambda: stridewise.transpose(x.cpu())),
      (ValueError, "out has the shape", lambda: stridewise.transpose(x, torch.empty(4, 5, device="cuda"))),
      (ValueError, "overlap", lambda: stridewise.permute(y, (1, 2, 0), y.view(3, 4, 2))),
      (ValueError, "lazy conjugate", lambda: stridewise.transpose((x + 0j).conj())),
      (TypeError, "float64", lambda: stridewise.matmul(x.double(), x.double().t())),
      (ValueError, "columns of a", lambda: stridewise.matmul(x, x)),
    )
    for kind, message, call in cases:
      with self.subTest(message=message), self.assertRaisesRegex(kind, message):
        call()


@unittest.skipUnless(_HAS_GPU, "needs a GPU")
class OtherFrameworksTest(unittest.TestCase):

  def test_cupy(self):
    try:
      import cupy
    except ImportError:
      self.skipTest("needs CuPy")
    x = cupy.arange(300 * 200, dtype=cupy.float32).reshape(300, 200)
    for view in (x, x.T, x[:, 5:]):
      y = stridewise.transpose(view)
      self.assertIsInstance(y, cupy.ndarray)
      self.assertTrue((y == view.T).all())
    with cupy.cuda.Stream(non_blocking=True):
      self.assertTrue((stridewise.permute(x.reshape(30, 10, 200) + 1, (2, 0, 1)) == (x + 1).reshape(30, 10, 200).transpose(2, 0, 1)).all())
    a, b = cupy.random.random((65, 33), dtype=cupy.float32), cupy.random.random((33, 20), dtype=cupy.float32)
    cupy.testing.assert_allclose(stridewise.matmul(a, b), a @ b, rtol=1e-5)
    with self.assertRaisesRegex(ValueError, "strides"):
      stridewise.transpose(x[::-1])

  def test_jax(self):
    try:
      import jax
    except ImportError:
      self.skipTest("needs JAX")
    x = jax.numpy.arange(300 * 200, dtype="float32").reshape(300, 200)
    for dtype in ("float32", "bfloat16", "uint8"):
      y = stridewise.transpose(x.astype(dtype) * 2)
      self.assertIsInstance(y, jax.Array)
      self.assertTrue((y == (x.astype(dtype) * 2).T).all())
    product = stridewise.matmul(x / 1e4, x.T / 1e4)
    expected = jax.numpy.matmul(x / 1e4, x.T / 1e4, precision="highest")
    self.assertTrue(jax.numpy.allclose(product, expected, rtol=1e-5))

  def test_numba(self):
    try:
      import numpy
      from numba import cuda
    except ImportError:
      self.skipTest("needs Numba")
    x = numpy.arange(300 * 200, dtype=numpy.int16).reshape(300, 200)
    y = stridewise.transpose(cuda.to_device(x))
    self.assertTrue((y.copy_to_host() == x.T).all())

  def test_frameworks_share_memory(self):
    try:
      import cupy
    except ImportError:
      self.skipTest("needs CuPy")
    x = torch.randn(100, 50, device="cuda")
    out = cupy.empty((50, 100), dtype=cupy.float32)
    torch.cuda.synchronize()
    self.assertIs(stridewise.transpose(x, out), out)
    torch.cuda.synchronize()
    self.assertTrue(torch.equal(torch.from_dlpack(out), x.t()))


if __name__ == "__main__":
  unittest.main()
