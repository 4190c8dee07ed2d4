"""The fastest transposes, permutations and matrix products for NVIDIA GPUs, on the arrays of any framework.

  import stridewise
  y = stridewise.transpose(x)           # x: PyTorch, CuPy, JAX, Numba, or anything in device memory that speaks
  z = stridewise.permute(x, (0, 2, 1))  # DLPack or __cuda_array_interface__. The result is of the same kind.
  c = stridewise.matmul(a, b)

`stream` is a stream of PyTorch, CuPy or Numba, an object with __cuda_stream__(), or a handle as an integer. None means the
current stream of x's framework: PyTorch's, or the one that CuPy and Numba name in __cuda_array_interface__, otherwise CUDA's
default stream. Calls queue their work and return; with arrays of JAX, which has streams of its own, they wait for it. A
stream's workspace is kept until the program ends.

Arguments of a wrong kind raise TypeError, wrong values ValueError, what the library or the GPU cannot do
NotImplementedError, a lack of device memory MemoryError; RuntimeError says that there is no driver or GPU, or that CUDA
failed. The message names the argument, its value and what is allowed, and nothing was queued.

stridewise.torch has operators for torch.compile and for gradients, and patch(), which speeds up programs as they are.
`python -m stridewise info` describes the installation, and `python -m stridewise.bench` measures it.
"""

from stridewise._core import contiguous, matmul, permute, transpose
from stridewise._version import __version__

__all__ = ["__version__", "contiguous", "matmul", "permute", "transpose"]
