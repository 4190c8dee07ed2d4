#!/usr/bin/env python3
"""Predicts the time of products and transposes spread over many GPUs. Writes CSV; every row is computed, none measured.

  python3 benchmarks/distributed/cost_model.py > docs/results/many_gpus_cost.csv

With files of sweeps' rows, compares them: each square of --gpus, and of `auto` on one GPU, beside the time that the model
computes for its grid and block. The rate of one GPU is that of the file's fastest `auto` row of the type or, of float without
one, that of the committed results. Transposes by NCCL's messages are left out: their time is that of waits of the host. --transposes says by
which schedule of transpose_model.py the rows were measured.

  python3 benchmarks/distributed/cost_model.py products.csv transposes.csv
"""
import argparse
import csv
import math
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).absolute().parent.parent.parent
sys.path.insert(0, str(ROOT))
from benchmarks.distributed import transpose_model  # Also where this is run as a program.
ISLAND = 8  # GPUs joined by NVLink.
NVLINK_BROADCAST = 366e9  # Bytes/s: NCCL, broadcast of 1 GiB, two H200 or two H100 of one host.
NVLINK_PEER = 394e9  # Bytes/s: copy of 1 GiB by a copy engine, between the same two GPUs.
NETWORK = 50e9  # Bytes/s a GPU: the nominal 400 Gb/s, not measured.
NVLINK_LATENCY, NETWORK_LATENCY = 10e-6, 20e-6  # Seconds a step of a broadcast: assumed, not measured.
STEP_K = 8192  # SummaOptions::step_k: the most of k that is sent and multiplied at once.
# What a step takes beside its multiply-adds, as matmul/streamed/stream_plan.cc has it, too: C is read and written once, the
# last wave of blocks, 128 x 256 of C on each of 132 multiprocessors, leaves a third of them idle, and kernels are begun.
IDLE = 128 * 256 * 132 / 3  # Elements of C.
STEP = 20e-6  # Seconds.
OUTPUT = 4  # Bytes of an element of C.
BLOCKS = (512, 1024, 2048, 4096)
GPUS = (1, 2, 4, 8, 64, 512, 4096)
BYTES = {"float": 4, "bf16": 2}
RATES_FROM = {"float": "matmul_limits.csv", "bf16": "matmul_tensor_limits.csv"}


def step_seconds(rows, cols, k, rate):
  """Returns the seconds in which a GPU adds a product of k to its rows x cols of C. Small products cut k to fill more waves."""
  elements = rows * cols
  return 2 * (elements + min(IDLE, elements / 2)) * k / rate + 2 * OUTPUT * elements / transpose_model.MEMORY + STEP


def rate_of(rows, cols, depth, seconds):
  """Returns the FLOP/s with which step_seconds() is `seconds`."""
  beside_multiply_adds = step_seconds(rows, cols, depth, math.inf)
  return step_seconds(rows, cols, depth, 1) / (seconds - beside_multiply_adds) if seconds > beside_multiply_adds else math.inf


def rate_of_fastest(rows):
  """Returns the rate_of() the row with the most FLOP/s."""
  fastest = max(rows, key=lambda row: float(row["gflops"]))
  return rate_of(*(int(fastest[extent]) for extent in ("rows", "cols", "depth")), 1e-3 * float(fastest["kernel_ms_median"]))


def kernel_rate(dtype):
  """Returns the rate of a GPU by the fastest measured `auto` row of the type."""
  with open(ROOT / "docs/results/h200" / RATES_FROM[dtype], newline="", encoding="ascii") as file:
    return rate_of_fastest([row for row in csv.DictReader(file)
                            if row["dtype"] == dtype and row["implementation"] == "auto" and row["gflops"] and
                            not row.get("precision")])


def broadcast(size, ranks, inside):
  """Returns the seconds of a pipelined broadcast of `size` bytes among `ranks`."""
  if ranks == 1:
    return 0.0
  rate, latency = (NVLINK_BROADCAST, NVLINK_LATENCY) if inside else (NETWORK, NETWORK_LATENCY)
  return size / rate + math.ceil(math.log2(ranks)) * latency


def steps(n, block, p, q, step_k=STEP_K):
  """Returns the k of each step: blocks of the same owners, as SummaSteps() of summa_panels.h takes them together."""
  most, sizes = 1, []
  owners = math.lcm(p, q)
  for owner in range(min(owners, math.ceil(n / block))):
    blocks = [min(block, n - first) for first in range(owner * block, n, owners * block)]
    while blocks:
      sizes.append(sum(blocks[:most]))
      del blocks[:most]
      most = min(2 * most, max(step_k // block, 1))
  return sizes


def largest(n, parts, block):
  """Returns the extent of the largest part of n: that of the first one."""
  blocks = n // block
  return blocks // parts * block + (block if blocks % parts else n % block)


def product(n, p, q, block, element, rate, step_k=STEP_K, direct=False, hidden=True):
  """Returns (total, arithmetic, communication, exposed communication) in seconds; ranks are numbered along rows. `direct`:
  ranks copy panels from their owners' memory. `hidden`: a panel comes while the last one is multiplied."""
  rows, cols = largest(n, p, block), largest(n, q, block)
  compute, communication = [], []
  for k in steps(n, block, p, q, step_k):
    compute.append(step_seconds(rows, cols, k, rate))
    a, b = element * rows * k, element * k * cols
    if direct:
      communication.append(((q > 1) * a + (p > 1) * b) / NVLINK_PEER)
    else:
      communication.append(broadcast(a, q, q <= ISLAND) + broadcast(b, p, p * q <= ISLAND))
  if not hidden:
    return sum(compute) + sum(communication), sum(compute), sum(communication), sum(communication)
  # Of two buffers one is filled while the other is multiplied.
  sent, multiplied = 0.0, [0.0, 0.0]
  for seconds, arithmetic in zip(communication, compute):
    sent = max(sent, multiplied[-2]) + seconds
    multiplied.append(max(sent, multiplied[-1]) + arithmetic)
  return multiplied[-1], sum(compute), sum(communication), multiplied[-1] - sum(compute)


def best(n, gpus, element, rate):
  """Returns (p, q, block, step_k) of the shortest predicted time."""
  choices = [(p, gpus // p, block, step_k) for p in range(1, gpus + 1) if gpus % p == 0 for block in BLOCKS if block <= n
             for step_k in (STEP_K, block)]
  return min(choices, key=lambda choice: product(n, *choice[:3], element, rate, choice[3])[0])


def crossover(gpus, element, rate):
  """Returns the smallest power of two n from which arithmetic takes at least as long as communication."""
  n = 512
  while True:
    p, q, block, step_k = best(n, gpus, element, rate)
    _, compute, communication, _ = product(n, p, q, block, element, rate, step_k)
    if compute >= communication:
      return n
    n *= 2


def transpose_exchange(n, gpus, element):
  """Returns the seconds in which a rank sends what leaves it: all but 1/gpus of its part."""
  if gpus == 1:
    return 0.0
  part = element * n * n / gpus
  inside = part * (min(gpus, ISLAND) - 1) / gpus / NVLINK_PEER
  return inside + part * max(gpus - ISLAND, 0) / gpus / NETWORK


def rate_of_file(rows, dtype="float"):
  """Returns the rate of a GPU by the fastest `auto` product of the type, float in FP32; None without one."""
  measured = [row for row in rows if row["implementation"] == "auto" and row["dtype"] == dtype and row["status"] == "ok" and
              row["gflops"] and row.get("precision", "") in ("", "fp32")]
  return rate_of_fastest(measured) if measured else None


def beside(rows, schedule="present", **constants):
  """Returns a record for each square that was measured: what the model computes beside what was measured. `schedule` is that of
  the transposes, by its name in transpose_model.SCHEDULES; the constants are transpose()'s."""
  rates = {"float": rate_of_file(rows) or kernel_rate("float"), "bf16_float": rate_of_file(rows, "bf16_float")}
  records = []
  for row in rows:
    square = row["rows"] == row["cols"] == (row["depth"] or row["rows"])
    implementation = row["implementation"]
    copies_at_once = {"exchange_direct": 1, "exchange_two_copies": 2}
    alone = implementation == "auto" and row["depth"] and not row.get("grid")
    spread = row.get("grid") and implementation in ("summa", "summa_direct", *copies_at_once)
    if not (alone or spread) or row["status"] != "ok" or not square:
      continue
    if implementation not in copies_at_once and (not rates.get(row["dtype"]) or row.get("precision", "") not in ("", "fp32")):
      continue
    n, grid = int(row["rows"]), row["grid"] if spread else "1x1"
    block = int(row["grid_block"]) if spread else n
    p, q = (int(extent) for extent in grid.split("x"))
    if implementation in copies_at_once:
      element = {"float": 4, "double": 8}[row["dtype"]]
      total, communication = transpose_model.transpose(n, p, q, block, element,
                                                       copies_at_once=copies_at_once[implementation],
                                                       memory=transpose_model.MEMORY_H200 if "H200" in row["device"] else
                                                       transpose_model.MEMORY,
                                                       **transpose_model.SCHEDULES[schedule], **constants)
    else:
      # NCCL's kernels find no multiprocessor as long as the blocks of a product run.
      direct = implementation != "summa"
      total, _, communication, _ = product(n, p, q, block, 4 if row["dtype"] == "float" else 2, rates[row["dtype"]],
                                           step_k=n if alone else STEP_K, direct=direct, hidden=direct)
    fitted = implementation == "exchange_direct" and row["dtype"] == "float" and p * q == 2
    records.append({"implementation": implementation, "dtype": row["dtype"], "n": n, "grid": grid,
                    "grid_block": block, "ms": float(row["kernel_ms_median"]), "computed_ms": 1e3 * total,
                    "computed_communication_ms": 1e3 * communication,
                    "measured_over_computed": float(row["kernel_ms_median"]) / (1e3 * total),
                    "fitted": "yes" if fitted else "no",
                    "git_commit": row.get("git_commit", "")})
  return records


class Flags(argparse.ArgumentParser):
  """Reports a mistake in one line."""

  def error(self, message):
    print(f"{self.prog}: {message}", file=sys.stderr)
    sys.exit(2)


def compare(paths, schedule, parser):
  records = []
  for path in paths:
    try:
      with open(path, newline="", encoding="ascii") as file:
        records += beside(list(csv.DictReader(file)), schedule)
    except OSError as error:
      parser.error(f"{path}: {error.strerror}; allowed are an option of --help and files of a sweep's rows")
    except (KeyError, ValueError) as error:
      parser.error(f"{path}: no rows of a sweep ({type(error).__name__}: {error})")
  if not records:
    parser.error(f"{', '.join(paths)}: no squares of --gpus that were measured")
  out = csv.writer(sys.stdout, lineterminator="\n")
  out.writerow(records[0])
  for record in records:
    out.writerow(f"{value:.4g}" if isinstance(value, float) else value for value in record.values())


def main():
  parser = Flags(prog="cost_model.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                 allow_abbrev=False)
  parser.add_argument("files", metavar="FILE", nargs="*", help="CSVs of sweeps to compare with what is computed")
  parser.add_argument("--transposes", choices=transpose_model.SCHEDULES, default="present", help="default: present")
  flags = parser.parse_args()
  if flags.files:
    compare(flags.files, flags.transposes, parser)
    return
  commit = "g" + subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=ROOT, check=True,
                                stdout=subprocess.PIPE, text=True).stdout.strip()
  out = csv.writer(sys.stdout, lineterminator="\n")
  out.writerow("source,dtype,n,gpus,grid,block,step_k,seconds,communication_seconds,hidden_pct,efficiency,equal_from_n,"
               "transpose_exchange_ms,git_commit".split(","))
  for dtype, element in BYTES.items():
    rate = kernel_rate(dtype)
    for n in (32768, 131072):
      for gpus in GPUS:
        p, q, block, step_k = best(n, gpus, element, rate)
        total, compute, communication, exposed = product(n, p, q, block, element, rate, step_k)
        hidden = 100 * (1 - exposed / communication) if communication else 100
        perfect = product(n, 1, 1, n, element, rate, n)[0] / gpus
        out.writerow(["computed", dtype, n, gpus, f"{p}x{q}", block, step_k, f"{total:.4g}", f"{communication:.4g}",
                      f"{hidden:.1f}", f"{perfect / total:.3f}", crossover(gpus, element, rate),
                      f"{1e3 * transpose_exchange(n, gpus, element):.4g}", commit])


if __name__ == "__main__":
  main()
