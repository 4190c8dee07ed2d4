"""Measures PyTorch's out.copy_(x.permute(order)) at the permutations of a CSV of permute_sweep, beside a copy of the same
bytes, into a CSV of the same columns.

  python3 pytorch_permute.py --points=permute_default.csv --csv=permute_pytorch.csv

Needs PyTorch with CUDA and no other package. As in the sweep, each sample begins with a cold L2 cache (268 MB are read), and
PyTorch's call and the copy are sampled in turn.
"""

import argparse
import csv
import statistics

import torch

TYPES = {"u8": torch.uint8, "u16": torch.int16, "float": torch.float32, "double": torch.float64, "float4": torch.complex128}
SAMPLES = 9


def milliseconds(call, flushed):
  flushed.sum()
  begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
  begin.record()
  call()
  end.record()
  end.synchronize()
  return begin.elapsed_time(end)


def measured(row, flushed):
  """Returns the medians of PyTorch's permutation and of a copy, in milliseconds."""
  shape, order = row["permutation"].split(":")
  extents = [int(extent) for extent in shape.split("x")]
  count = int(row["rows"]) * int(row["cols"])
  size = torch.empty(0, dtype=TYPES[row["dtype"]]).element_size()
  x = torch.randint(0, 256, (count * size,), dtype=torch.uint8, device="cuda").view(TYPES[row["dtype"]]).view(extents)
  permuted = x.permute([int(digit) for digit in order])
  out = torch.empty(permuted.shape, dtype=x.dtype, device="cuda")
  flat = out.view(extents)
  calls = (lambda: out.copy_(permuted), lambda: flat.copy_(x))
  for call in calls:
    call()
  samples = [[milliseconds(call, flushed) for call in calls] for _ in range(SAMPLES)]
  return [statistics.median(times) for times in zip(*samples)]


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--points", required=True, help="a CSV of permute_sweep")
  parser.add_argument("--csv", required=True, help="the CSV to write")
  args = parser.parse_args()
  with open(args.points, newline="", encoding="ascii") as file:
    reader = csv.DictReader(file)
    columns = reader.fieldnames
    points = {(row["permutation"], row["dtype"]): row for row in reader if row["permutation"]}
  flushed = torch.zeros(1 << 26, dtype=torch.float32, device="cuda")
  with open(args.csv, "w", newline="", encoding="ascii") as file:
    writer = csv.DictWriter(file, columns, restval="")
    writer.writeheader()
    for point in points.values():
      ms, copy_ms = measured(point, flushed)
      kept = ("schema_version", "timestamp_utc", "git_commit", "host", "cpu", "device", "compute_capability", "driver", "cuda",
              "operation", "dtype", "rows", "cols", "l2", "permutation", "shape_family")
      size = torch.empty(0, dtype=TYPES[point["dtype"]]).element_size()
      moved = 2 * int(point["rows"]) * int(point["cols"]) * size
      writer.writerow({**{column: point[column] for column in kept}, "implementation": "pytorch_" + torch.__version__,
                       "status": "ok", "samples": SAMPLES, "kernel_ms_median": f"{ms:.6g}",
                       "gbps": f"{moved / ms / 1e6:.6g}", "vs_memcpy": f"{copy_ms / ms:.6g}"})


if __name__ == "__main__":
  main()
