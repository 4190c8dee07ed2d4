"""The extension module. stridewise/__init__.pyi documents what is public."""

from typing import Any

from stridewise import contiguous as contiguous
from stridewise import matmul as matmul
from stridewise import permute as permute
from stridewise import transpose as transpose

# The same without a look at gradients, for the kernels of PyTorch's operators.
def transpose_kernel(x: Any, out: Any = None, *, stream: Any = None) -> Any: ...
def permute_kernel(x: Any, dims: Any, out: Any = None, *, stream: Any = None) -> Any: ...
def contiguous_kernel(x: Any, out: Any = None, *, stream: Any = None) -> Any: ...
def matmul_kernel(
    a: Any,
    b: Any,
    out: Any = None,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    precision: str | None = None,
    bias: Any = None,
    activation: str | None = None,
    stream: Any = None,
) -> Any: ...
def time_c_call(x: Any, dims: Any, out: Any, calls: int) -> float:
    """Returns the seconds that one call of stridewise_permute() takes on the host."""

def check_device(device: int) -> None:
    """Raises the RuntimeError that calls on that device would."""

def library() -> tuple[str, str]:
    """Returns the version of the C library, and the file that it was loaded from."""
