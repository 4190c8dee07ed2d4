"""New arrays of the frameworks: what of it need not be fast."""


def _torch(x, shape, type_name):
  import torch

  return x.new_empty(shape, dtype=getattr(torch, type_name))


def _cupy(x, shape, type_name):
  import cupy

  with x.device:
    return cupy.empty(shape, type_name or x.dtype)


def _numba(x, shape, type_name):
  from numba import cuda

  return cuda.device_array(shape, type_name or x.dtype)


def _jax(x, shape, type_name):
  from jax import numpy

  # JAX has no arrays without values. The zeros must be there before others overwrite them.
  return numpy.zeros(shape, type_name or x.dtype, device=x.sharding).block_until_ready()


_MAKERS = {"torch": _torch, "cupy": _cupy, "numba": _numba, "jax": _jax, "jaxlib": _jax}


def new_array(x, shape, type_name):
  """Returns a new array of the framework and on the device of x; of x's type where type_name is None."""
  kind = type(x)
  maker = _MAKERS.get(kind.__module__.partition(".")[0])
  if maker is None:
    raise TypeError(
      f"no result can be made like {kind.__module__}.{kind.__qualname__}: pass out=; arrays of PyTorch, CuPy, JAX and Numba"
      " need none")
  return maker(x, shape, type_name)
