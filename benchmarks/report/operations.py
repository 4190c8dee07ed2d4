"""What the report says of each operation: its name in headings, its rate, and the columns that make a problem.

An operation that is not listed here gets a section under its own name. Its rate is in GB/s, or in GFLOP/s where its rows have
that and no comparison with a copy.
"""

import dataclasses

_UNITS = {"gflops": "GFLOP/s", "gbps": "GB/s"}


@dataclasses.dataclass(frozen=True)
class Operation:
  name: str  # As in the column `operation`, and in the titles of charts.
  title: str  # The heading of its section.
  rate: str = "gbps"  # The column of its rate: gflops where arithmetic is the limit, gbps where memory is.
  problem: tuple = ("rows", "cols")  # The columns that make the size of a problem.
  related: tuple = ()  # Further values of the column `operation` whose rows stand in the same charts.
  bounds: tuple = ()  # The copies that charts draw as limits of this operation.
  vendor: str = ""  # The implementation of the GPU vendor's library in its default mode.
  baseline: str = "naive"  # The kernel that one writes first.

  @property
  def rate_unit(self):
    return _UNITS[self.rate]

  @property
  def is_arithmetic(self):
    """Whether the operation is rated by its arithmetic, and its `pct_of_peak` is that of the arithmetic."""
    return self.rate == "gflops"

  @property
  def size_label(self):
    """The label of an axis of sizes n, the problems whose columns all are n."""
    return "n, of n x n matrices" if len(self.problem) > 1 else "n"

  @property
  def largest(self):
    """The largest of these sizes, in a sentence."""
    return "the largest square" if len(self.problem) > 1 else "the largest size"


COPY = "copy"  # The copies that bound a transpose.
_KNOWN = (
    Operation("matmul", "Matrix multiplication", rate="gflops", problem=("rows", "cols", "depth"), vendor="cublas"),
    Operation("transpose", "Matrix transpose", related=(COPY, "transpose_in_place"), bounds=("memcpy", "copy_vector"),
              vendor="cublas_geam", baseline="naive_row"),
)
_BY_NAME = {name: operation for operation in _KNOWN for name in (operation.name, *operation.related)}

VENDORS = tuple(operation.vendor for operation in _KNOWN)
BASELINES = tuple(operation.baseline for operation in _KNOWN)
BOUNDS = tuple(name for operation in _KNOWN for name in operation.bounds)


def find_operations(rows):
  """Returns the Operation that each value of the column `operation` of Results.rows belongs to, as a dict."""
  return {name: _BY_NAME.get(name) or _described_by(name, of_operation)
          for name, of_operation in rows.groupby("operation", sort=False)}


def _described_by(name, rows):
  """Returns the Operation of a name that is not listed, from what its rows have."""
  is_arithmetic = rows["gflops"].notna().any() and not rows["pct_of_copy"].notna().any()
  return Operation(name, name.replace("_", " ").capitalize(), rate="gflops" if is_arithmetic else "gbps",
                   problem=tuple(column for column in ("rows", "cols", "depth") if rows[column].notna().any()))
