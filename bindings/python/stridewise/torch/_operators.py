"""The operators torch.ops.stridewise: for each a kernel, a fake kernel for torch.compile, and a gradient."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from stridewise import _core

_library = torch.library.Library("stridewise", "DEF")


def _define(schema, kernel, fake, setup_context, backward):
  name = "stridewise::" + schema.partition("(")[0]
  _library.define(schema)
  _library.impl(name, kernel, "CUDA")
  torch.library.register_fake(name, fake, lib=_library)
  torch.library.register_autograd(name, backward, setup_context=setup_context, lib=_library)


def _nothing(ctx, inputs, output):
  pass


# ---- transpose ----


def _fake_transpose(x):
  torch._check(x.dim() >= 2, lambda: f"x has {x.dim()} dimensions; it must have 2 or more")
  return x.new_empty((*x.shape[:-2], x.shape[-1], x.shape[-2]))


_define("transpose(Tensor x) -> Tensor", _core.transpose_kernel, _fake_transpose, _nothing,
        lambda ctx, gradient: transpose(gradient))


def transpose(x: torch.Tensor) -> torch.Tensor:
  """Returns x, of the shape (..., rows, cols), as a contiguous tensor (..., cols, rows)."""
  return torch.ops.stridewise.transpose.default(x)


# ---- permute ----


def _fake_permute(x, dims):
  return x.new_empty([x.shape[d] for d in dims])


def _keep_dims(ctx, inputs, output):
  ctx.dims = inputs[1]


def _permute_backward(ctx, gradient):
  rank = len(ctx.dims)
  inverse = [0] * rank
  for i, d in enumerate(ctx.dims):
    inverse[d % rank] = i
  return permute(gradient, inverse), None


_define("permute(Tensor x, int[] dims) -> Tensor", _core.permute_kernel, _fake_permute, _keep_dims, _permute_backward)


def permute(x: torch.Tensor, dims: Sequence[int]) -> torch.Tensor:
  """Returns x.permute(dims) as a contiguous tensor."""
  return torch.ops.stridewise.permute.default(x, dims)


# ---- contiguous ----

_define("contiguous(Tensor x) -> Tensor", _core.contiguous_kernel, lambda x: x.new_empty(x.shape), _nothing,
        lambda ctx, gradient: gradient)


def contiguous(x: torch.Tensor) -> torch.Tensor:
  """Returns a contiguous copy of x, a view of any strides."""
  return torch.ops.stridewise.contiguous.default(x)


# ---- matmul ----

_PRODUCTS = {torch.int8: torch.int32, torch.float8_e4m3fn: torch.float32, torch.float8_e5m2: torch.float32}


def _matmul_kernel(a, b, alpha, precision):
  return _core.matmul_kernel(a, b, alpha=alpha, precision=precision)


def _fake_matmul(a, b, alpha, precision):
  torch._check(a.dim() >= 2 and b.dim() >= 2, lambda: "a and b must have 2 dimensions or more")
  torch._check(a.shape[-1] == b.shape[-2], lambda: f"a has {a.shape[-1]} columns and b {b.shape[-2]} rows")
  batch = a.shape[:-2] if a.dim() >= b.dim() else b.shape[:-2]
  return a.new_empty((*batch, a.shape[-2], b.shape[-1]), dtype=_PRODUCTS.get(a.dtype, a.dtype))


def _keep_operands(ctx, inputs, output):
  a, b, ctx.alpha, ctx.precision = inputs
  ctx.save_for_backward(a, b)


def _multiplied(a, b, ctx, rank):
  """Returns the gradient of an operand with `rank` dimensions; that of one matrix is the sum over the batch."""
  if rank == 2 and a.dim() > 2:
    # The sum over the batch is one more step of the product's k.
    a = a.mT.flatten(0, -2).mT
    b = b.flatten(0, -2)
  return matmul(_regular(a), _regular(b), ctx.alpha, ctx.precision)


def _regular(x):
  """Returns x, or a copy of it where its matrices are not as matmul() takes them."""
  try:
    x.view(-1, x.shape[-2], x.shape[-1])
  except RuntimeError:
    return contiguous(x)
  rows, cols = x.shape[-2:]
  row_stride, col_stride = x.stride()[-2:]
  by_rows = (cols <= 1 or col_stride == 1) and (rows <= 1 or row_stride >= cols)
  by_columns = (rows <= 1 or row_stride == 1) and (cols <= 1 or col_stride >= rows)
  return x if by_rows or by_columns else contiguous(x)


def _matmul_backward(ctx, gradient):
  a, b = ctx.saved_tensors
  gradient_a = gradient_b = None
  if ctx.needs_input_grad[0]:
    gradient_a = _multiplied(gradient, b.mT, ctx, a.dim())
  if ctx.needs_input_grad[1]:
    gradient_b = _multiplied(a.mT, gradient, ctx, b.dim())
  return gradient_a, gradient_b, None, None


_define("matmul(Tensor a, Tensor b, float alpha, str precision) -> Tensor", _matmul_kernel, _fake_matmul, _keep_operands,
        _matmul_backward)


def matmul(a: torch.Tensor, b: torch.Tensor, alpha: float = 1.0, precision: str | None = "fp32") -> torch.Tensor:
  """Returns alpha * a @ b, of the shapes, types and precisions of stridewise.matmul()."""
  return torch.ops.stridewise.matmul.default(a, b, alpha, precision or "fp32")
