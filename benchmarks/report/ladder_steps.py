"""The steps of the ladders in files that were written before the CSV had the column `step`.

Newer files state the step of each row; this table is only for the older ones and does not grow.
"""

import numpy

# Implementations from step 1 on. The GPU and the CPU have a ladder each.
_MATMUL = (
    ("naive_one_thread_blocks", "naive_uncoalesced", "naive", "tiled_multiply_add", "tiled", "register_tile_1d",
     "register_tile_2d", "vectorized", "warp_tile", "double_buffered"),
    ("cpu_naive", "eigen_1core", "eigen"),
)
_TRANSPOSE = (
    ("copy_row", "copy_col", "copy_shared", "copy_vector", "naive_row", "naive_col", "unroll4_row", "unroll4_col",
     "diagonal_row", "diagonal_col", "tile_square", "tile_square_padded", "tile_rectangular", "tile_rectangular_padded",
     "tile_unroll2_dynamic", "tile_unroll2_padded_dynamic", "tile_unroll2_padded2_dynamic", "tile_unrolled",
     "tile_swizzled", "tile_persistent"),
    ("cpu_naive_row", "cpu_naive_col", "cpu_blocked", "eigen"),
)
_STEPS = {(operation, implementation): float(step)
          for operation, ladders in (("matmul", _MATMUL), ("transpose", _TRANSPOSE), ("copy", _TRANSPOSE))
          for ladder in ladders for step, implementation in enumerate(ladder, start=1)}


def historic_steps(operations, implementations):
  """Returns the step of each row as a numpy array, NaN for what was not on a ladder."""
  return numpy.array([_STEPS.get(key, numpy.nan) for key in zip(operations, implementations)], dtype=float)
