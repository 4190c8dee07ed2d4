"""Stridewise inside PyTorch: operators that record gradients and that torch.compile takes, and patch().

  from stridewise.torch import transpose, permute, contiguous, matmul
  y = transpose(x)                    # torch.ops.stridewise.transpose

  import stridewise.torch
  stridewise.torch.patch()            # From here on x.t().contiguous(), torch.mm and others are ours, or
  with stridewise.torch.patch(): ...  # so only here.
"""

from stridewise.torch._operators import contiguous, matmul, permute, transpose
from stridewise.torch._patch import Patch, patch

__all__ = ["Patch", "contiguous", "matmul", "patch", "permute", "transpose"]
