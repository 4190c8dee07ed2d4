"""For tests of charts: rows of a sweep as the charts take them, and two sweeps that have something for every chart."""

from benchmarks.report import fake_rows
from benchmarks.report import group as groups

gpu, cpu, transpose = fake_rows.gpu_row, fake_rows.cpu_row, fake_rows.transpose_row


def group_of(rows):
  """Returns the one group that rows make."""
  found = groups.make_groups(fake_rows.frame(rows))
  assert len(found) == 1, found
  return found[0]


def copy_row(name, n, ms, **cells):
  """Returns a copy of an n x n matrix on the GPU."""
  return transpose(name, n, ms, operation="copy", **cells)


def matmul_rows():
  """Ten GPU kernels and a CPU at sizes from 16 to 1024, several blocks, other shapes, errors, and a second measurement."""
  rows = []
  for step, n in enumerate((16, 64, 256, 1024)):
    rows += [gpu(f"kernel{index}", n, 0.01 * (20 - index) * (1 + n / 100), relative_error=1e-7 * (index + 1))
             for index in range(7)]
    rows += [gpu("naive", n, 0.5 * (1 + n / 100), block_x=x, block_y=8, relative_error=5e-7) for x in (8, 16, 32, 64)]
    rows += [gpu(name, n, 0.05 * (1 + n / 100), relative_error=5e-7) for name in ("auto", "cublas")]
    rows += [cpu("eigen", n, 0.001 * 10 ** step, relative_error=3e-7)]
  rows += [gpu("naive", 16, 1, cols=999, block_x=8, block_y=8), gpu("cublas", 16, 0.5, cols=999)]
  rows += [gpu("cublas", n, 0.06 * (1 + n / 100), timestamp_utc="2026-02-02T00:00:00Z") for n in (16, 64, 256)]
  return rows


def transpose_rows():
  """Four kernels, auto, cuBLAS and two copies at three sizes, and a thin matrix."""
  rows = []
  for n in (64, 512, 2048):
    rows += [transpose(name, n, ms * n * n / 1e8, pct_of_copy=100 / ms, block_x=32, block_y=8)
             for name, ms in (("naive_row", 3), ("naive_col", 2), ("tile_square", 1.5), ("auto", 1.1), ("cublas_geam", 1.2))]
    rows += [copy_row(name, n, n * n / 1e8, pct_of_copy=100) for name in ("memcpy", "copy_vector")]
  return rows + [transpose("auto", 7, 1, cols=1000, pct_of_copy=50)]


def series_of(figure, name):
  """Returns the series of a chart that has this name."""
  return next(series for series in figure.series if series.name == name)
