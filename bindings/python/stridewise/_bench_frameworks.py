"""The frameworks that stridewise.bench compares with: how each makes arrays, moves, multiplies, and measures time."""

import os
import time

# The types of the CSV, by the frameworks' names for them.
TYPES = {"uint8": "u8", "float16": "fp16", "bfloat16": "bf16", "float32": "float", "float64": "double"}


class Torch:
  """PyTorch on its current stream. Other frameworks implement the same methods."""

  name = "pytorch"
  takes_ours = True  # Whether stridewise is measured on the same arrays.

  def __init__(self):
    import torch

    self._torch = torch
    torch.backends.cuda.matmul.allow_tf32 = False
    self._flushed = torch.zeros(1 << 26, dtype=torch.float32, device="cuda")
    self.version = torch.__version__

  def make(self, shape, dtype):
    """Returns an array of random values."""
    torch = self._torch
    if dtype == "uint8":
      return torch.randint(0, 256, shape, dtype=torch.uint8, device="cuda")
    return torch.randn(shape, dtype=torch.float32, device="cuda").to(getattr(torch, dtype))

  def permute(self, x, dims):
    """Returns x with its dimensions in another order, without gaps."""
    return x.permute(dims).contiguous()

  def multiply(self, a, b):
    return self._torch.matmul(a, b)

  def copy(self, x):
    """Returns a copy of x, whose time is the limit of any permutation's."""
    return x.clone()

  def same(self, x, y):
    return self._torch.equal(x, y)

  def relative_error(self, x, y):
    """Returns the largest difference over the largest value."""
    return ((x - y).abs().max() / y.abs().max()).item()

  def milliseconds(self, call):
    """Returns the time between two events around the call, after reading 268 MB, which leaves L2 cold."""
    self._flushed.sum()
    begin, end = (self._torch.cuda.Event(enable_timing=True) for _ in range(2))
    begin.record()
    call()
    end.record()
    end.synchronize()
    return begin.elapsed_time(end)


class PatchedTorch(Torch):
  """PyTorch whose own calls are patched, until the end of the program: so it has to be the last."""

  name = "pytorch_patched"
  takes_ours = False

  def __init__(self):
    super().__init__()
    from stridewise.torch import patch

    patch()


class LikeNumpy:
  """What frameworks have in common whose arrays behave as NumPy's."""

  def copy(self, x):
    return x.copy()

  def same(self, x, y):
    return bool((x == y).all())

  def relative_error(self, x, y):
    return float(abs(x - y).max() / abs(y).max())


class Cupy(LikeNumpy):
  name = "cupy"
  takes_ours = True

  def __init__(self):
    import cupy

    self._cupy = cupy
    self._flushed = cupy.zeros(1 << 26, dtype=cupy.float32)
    self.version = cupy.__version__

  def make(self, shape, dtype):
    if dtype == "bfloat16":
      raise NotImplementedError("CuPy has no bfloat16")
    values = self._cupy.random.random(shape, dtype=self._cupy.float32)
    return (values * 255).astype(dtype) if dtype == "uint8" else values.astype(dtype)

  def permute(self, x, dims):
    return self._cupy.ascontiguousarray(x.transpose(dims))

  def multiply(self, a, b):
    return self._cupy.matmul(a, b)

  def milliseconds(self, call):
    cuda = self._cupy.cuda
    self._flushed.sum()
    begin, end = cuda.Event(), cuda.Event()
    begin.record()
    call()
    end.record()
    end.synchronize()
    return cuda.get_elapsed_time(begin, end)


class Jax(LikeNumpy):
  """JAX, whose streams nobody else can record events on: its times are the host's, until the result is there."""

  name = "jax"
  takes_ours = True

  def __init__(self):
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # Otherwise JAX takes most of the memory for itself.
    import jax

    self._jax = jax
    self._flushed = jax.numpy.zeros(1 << 26, dtype="float32")
    self._sum = jax.jit(lambda x: x.sum())
    self._permute = jax.jit(lambda x, dims: x.transpose(dims), static_argnums=1)
    self._multiply = jax.jit(lambda a, b: jax.numpy.matmul(a, b, precision="highest"))
    self.version = jax.__version__

  def make(self, shape, dtype):
    if dtype == "float64":
      raise NotImplementedError("JAX has no float64 unless the program asks for it")
    values = self._jax.random.uniform(self._jax.random.key(1), shape)
    return (values * 255).astype(dtype) if dtype == "uint8" else values.astype(dtype)

  def permute(self, x, dims):
    return self._permute(x, dims)

  def multiply(self, a, b):
    return self._multiply(a, b)

  def milliseconds(self, call):
    self._sum(self._flushed).block_until_ready()
    begin = time.perf_counter()
    call().block_until_ready()
    return 1e3 * (time.perf_counter() - begin)


class Numpy:
  """NumPy on the CPU, as a peer."""

  name = "numpy"
  takes_ours = False

  def __init__(self):
    import numpy

    self._numpy = numpy
    self._random = numpy.random.default_rng(1)
    self.version = numpy.__version__

  def make(self, shape, dtype):
    if dtype == "bfloat16":
      raise NotImplementedError("NumPy has no bfloat16")
    if dtype == "uint8":
      return self._random.integers(0, 256, shape, dtype=dtype)
    return self._random.random(shape, dtype="float32").astype(dtype)

  def permute(self, x, dims):
    return self._numpy.ascontiguousarray(x.transpose(dims))

  def multiply(self, a, b):
    return a @ b

  def copy(self, x):
    return x.copy()

  def milliseconds(self, call):
    begin = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - begin)


FRAMEWORKS = {framework.name: framework for framework in (Torch, Cupy, Jax, Numpy, PatchedTorch)}
