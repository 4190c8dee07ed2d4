"""What the bench measures: transposes, permutations and products, and how the result of each is checked."""

import math

import stridewise
from stridewise import _bench_frameworks

_TRANSPOSES = ((8192, 8192), (8191, 8193), (33, 4000000), (16, 768, 3072))
_TRANSPOSED_TYPES = ("float32", "bfloat16", "uint8", "float64")
_PERMUTATIONS = (
  ("bfloat16", (64, 2048, 16, 64), (0, 2, 1, 3)),  # BSHD to BHSD
  ("float32", (32, 112, 112, 64), (0, 3, 1, 2)),  # NHWC to NCHW
  ("float16", (32, 256, 56, 56), (0, 2, 3, 1)),  # NCHW to NHWC
  ("uint8", (64, 1000, 1000), (0, 2, 1)),
  ("float32", (16, 32, 24, 48, 20), (4, 2, 0, 3, 1)),
)
_PRODUCTS = (1000, 2048, 4096, 8192)
_MOST_ERROR = 1e-4


def _swapped(rank):
  return (*range(rank - 2), rank - 1, rank - 2)


def name(shape):
  return "x".join(str(extent) for extent in shape)


class Case:
  """One configuration: its cells, its calls, and how a result is checked."""

  def __init__(self, operation, dtype, shape, dims=None):
    self.operation = operation
    self.dtype = dtype
    self.shape = shape
    self.dims = dims

  def cells(self):
    rows, cols = self.shape[-2:]
    cells = {"operation": self.operation, "dtype": _bench_frameworks.TYPES[self.dtype], "rows": rows, "cols": cols}
    if self.operation == "matmul":
      return {**cells, "depth": rows, "math": "fma"}
    if self.operation == "permute":
      cells["rows"] = math.prod(self.shape[:-1])
      cells["permutation"] = name(self.shape) + ":" + "".join(str(d) for d in self.dims)
    elif len(self.shape) > 2:
      cells["batch"] = math.prod(self.shape[:-2])
    return cells

  def rate(self, ms):
    """Returns the cell of the rate."""
    if self.operation == "matmul":
      return {"gflops": f"{2 * math.prod(self.shape) * self.shape[0] / ms / 1e6:.9g}"}
    bytes_moved = 2 * math.prod(self.shape) * {"u8": 1, "bf16": 2, "fp16": 2, "float": 4, "double": 8}[self.cells()["dtype"]]
    return {"gbps": f"{bytes_moved / ms / 1e6:.9g}"}

  def calls(self, framework):
    """Returns the calls to measure by their implementation's name, the framework's own first."""
    if self.operation == "matmul":
      a, b = framework.make(self.shape, self.dtype), framework.make(self.shape, self.dtype)
      return {framework.name: lambda: framework.multiply(a, b), "stridewise_" + framework.name: lambda: stridewise.matmul(a, b)}
    x = framework.make(self.shape, self.dtype)
    if self.operation == "transpose":
      move = lambda: stridewise.transpose(x)
    else:
      move = lambda: stridewise.permute(x, self.dims)
    return {
      framework.name: lambda: framework.permute(x, self.dims),
      "stridewise_" + framework.name: move,
      "memcpy": lambda: framework.copy(x),
    }

  def mismatch(self, framework, own, ours):
    """Returns the cells of the check of our result."""
    if self.operation == "matmul":
      error = framework.relative_error(ours(), own())
      cells = {"relative_error": f"{error:.4g}"}
      if not error <= _MOST_ERROR:
        cells.update(status="mismatch", message=f"relative error {error}, allowed {_MOST_ERROR}")
      return cells
    return {} if framework.same(ours(), own()) else {"status": "mismatch", "message": "an element differs"}


def cases(dtypes):
  """Returns the cases of these types."""
  found = [Case("transpose", dtype, shape, _swapped(len(shape))) for dtype in _TRANSPOSED_TYPES for shape in _TRANSPOSES]
  found += [Case("permute", *permutation) for permutation in _PERMUTATIONS]
  found += [Case("matmul", "float32", (n, n)) for n in _PRODUCTS]
  return [case for case in found if case.dtype in dtypes]
