from collections.abc import Sequence
from typing import Any, Literal, Protocol, TypeVar

__version__: str

class _CudaArray(Protocol):
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...

class _DlpackArray(Protocol):
    def __dlpack__(self) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, int]: ...

_Array = TypeVar("_Array", bound=_CudaArray | _DlpackArray)
_Precision = Literal["fp32", "fp32_split", "tf32", "fp32_split_int8", "fp32_medium", "bf16", "fp16",
                     "fp16_sums", "fast_sums"]
_Activation = Literal["relu", "gelu", "gelu_erf"]

def transpose(x: _Array, out: _Array | None = None, *, stream: Any = None) -> _Array: ...
def permute(x: _Array, dims: Sequence[int], out: _Array | None = None, *, stream: Any = None) -> _Array: ...
def contiguous(x: _Array, out: _Array | None = None, *, stream: Any = None) -> _Array: ...
def matmul(
    a: _Array,
    b: _Array,
    out: _Array | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    precision: _Precision = "fp32",
    bias: _Array | None = None,
    activation: _Activation | None = None,
    stream: Any = None,
) -> _Array: ...
