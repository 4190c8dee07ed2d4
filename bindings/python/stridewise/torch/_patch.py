"""patch(): PyTorch's own calls run by Stridewise, where it is faster.

PyTorch's dispatcher calls a kernel for each operator and kind of device. patch() registers kernels of its own for some
operators on CUDA, which look at their arguments and either call Stridewise or the kernel that was there before. Everything
above the kernels stays as it is: gradients, autocast, views, torch.compile's tracing, and calls from C++, such as those of
the backward pass.
"""

from __future__ import annotations

import threading
import warnings

import torch

from stridewise import _core

_KEY = "CUDA"

# Below these a call costs more on the host than its kernel gains: PyTorch takes some microseconds longer to call a kernel
# that is written in Python.
_MIN_BYTES = 1 << 20
_MIN_MULTIPLICATIONS = 1 << 28


def _is_moved_well(x):
  """Returns whether x is a view whose elements were put in another order, or whose rows have gaps."""
  if x.numel() * x.element_size() < _MIN_BYTES or x.dim() > 6 or x.element_size() > 16:
    return False
  strides = [stride for stride, extent in zip(x.stride(), x.shape) if extent > 1]
  return min(strides) == 1


def _clone(keys, x, memory_format=None):
  if memory_format is torch.contiguous_format and not x.is_contiguous() and _is_moved_well(x):
    return _core.contiguous_kernel(x)
  if (memory_format is torch.channels_last and x.dim() == 4 and _is_moved_well(x) and
      not x.is_contiguous(memory_format=torch.channels_last)):
    return _core.contiguous_kernel(x, torch.empty_like(x, memory_format=torch.channels_last))
  return _originals["clone"].call_boxed(keys, x, memory_format=memory_format)


def _is_matrix(x):
  rows, cols = x.shape[-2:]
  row_stride, col_stride = x.stride()[-2:]
  return (col_stride == 1 and row_stride >= cols) or (row_stride == 1 and col_stride >= rows)


def _is_ours(a, b, batch=1):
  return (a.dtype is torch.float32 and b.dtype is torch.float32 and
          batch * a.shape[-2] * a.shape[-1] * b.shape[-1] >= _MIN_MULTIPLICATIONS and _is_matrix(a) and _is_matrix(b) and
          not torch._C._get_cublas_allow_tf32())


def _fits(out, a, b):
  return (out.dtype is torch.float32 and _is_matrix(out) and
          out.shape[-2:] == (a.shape[-2], b.shape[-1]) and out.shape[:-2] == a.shape[:-2])


def _mm(keys, a, b):
  if _is_ours(a, b):
    return _core.matmul_kernel(a, b)
  return _originals["mm"].call_boxed(keys, a, b)


def _mm_out(keys, a, b, *, out):
  if _is_ours(a, b) and _fits(out, a, b):
    return _core.matmul_kernel(a, b, out)
  return _originals["mm.out"].call_boxed(keys, a, b, out=out)


def _bmm(keys, a, b):
  if _is_ours(a, b, a.shape[0]):
    return _core.matmul_kernel(a, b)
  return _originals["bmm"].call_boxed(keys, a, b)


def _bmm_out(keys, a, b, *, out):
  if _is_ours(a, b, a.shape[0]) and _fits(out, a, b):
    return _core.matmul_kernel(a, b, out)
  return _originals["bmm.out"].call_boxed(keys, a, b, out=out)


def _addmm(keys, bias, a, b, *, beta=1, alpha=1):
  # With a shallow k, reading and writing the bias once more costs what the product gains.
  if beta != 0 and a.shape[1] >= 512 and bias.dtype is torch.float32 and _is_ours(a, b):
    out = a.new_empty((a.shape[0], b.shape[1])).copy_(bias)
    return _core.matmul_kernel(a, b, out, alpha=alpha, beta=beta)
  return _originals["addmm"].call_boxed(keys, bias, a, b, beta=beta, alpha=alpha)


_COPIES = {"clone": _clone}
_PRODUCTS = {"mm": _mm, "mm.out": _mm_out, "bmm": _bmm, "bmm.out": _bmm_out, "addmm": _addmm}

# The kernels that were there before, and for each operator how many patches ask for ours. The lock guards what is registered.
_originals = {}
_users = {}
_libraries = {}
_lock = threading.RLock()


def _register(name, kernel):
  with _lock:
    _users[name] = _users.get(name, 0) + 1
    if _users[name] > 1:
      return
    if name not in _originals:
      _originals[name] = torch.library.get_kernel("aten::" + name, _KEY)
    library = torch.library.Library("aten", "IMPL")
    with warnings.catch_warnings():
      warnings.filterwarnings("ignore", "(?s).*Overriding a previously registered kernel")  # As intended.
      library.impl(name, kernel, _KEY, with_keyset=True, allow_override=True)
    _libraries[name] = library


def _unregister(name):
  with _lock:
    _users[name] -= 1
    if _users[name] == 0:
      del _libraries[name]  # Its end takes the kernel out of the dispatcher.


class Patch:
  """What patch() returns: undo() ends it, and so does the end of a `with` block."""

  def __init__(self, kernels):
    self._kernels = kernels
    for name, kernel in kernels.items():
      _register(name, kernel)

  def undo(self) -> None:
    """Gives PyTorch its own kernels back, unless another patch still asks for ours. The second call does nothing."""
    kernels, self._kernels = self._kernels, {}
    for name in kernels:
      _unregister(name)

  def __enter__(self) -> Patch:
    return self

  def __exit__(self, *exception) -> None:
    self.undo()


def patch(*, copies: bool = True, products: bool = True) -> Patch:
  """Runs PyTorch's own calls by Stridewise, where it is faster, in all threads until Patch.undo().

  copies: x.t().contiguous(), x.transpose(-1, -2).contiguous(), x.permute(...).contiguous(), .to(memory_format=...) and
    .contiguous(memory_format=torch.channels_last), and what copies in the same way, such as reshape() of a permuted tensor,
    of 1 MB and more.
  products: mm, bmm and addmm, and so matmul, @ and torch.nn.Linear, of float32 with 2^28 multiplications and more. Not while
    torch.backends.cuda.matmul.allow_tf32 or set_float32_matmul_precision() allow TF32.

  Results of products are rounded in another order than cuBLAS's. Raises RuntimeError for a PyTorch older than 2.10, and
  where there is no GPU.
  """
  if not hasattr(torch.library, "get_kernel"):
    raise RuntimeError(f"stridewise.torch.patch() needs PyTorch 2.10 or newer; this is {torch.__version__}")
  _core.check_device(torch.cuda.current_device() if torch.cuda.is_available() else 0)
  return Patch((_COPIES if copies else {}) | (_PRODUCTS if products else {}))
