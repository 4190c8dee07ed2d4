#!/usr/bin/env python3
"""Predicts the time of products and transposes spread over many GPUs. Writes CSV; every row is computed, none measured.

  python3 benchmarks/distributed/cost_model.py > docs/results/many_gpus_cost.csv

With files of sweeps' rows, compares them: each square of --gpus beside the time that the model computes for its grid and
block. The rate of one GPU is that of the file's fastest `auto` row of float or, without one, of the committed results.
Transposes by NCCL's messages are left out: their time is that of waits of the host.

  python3 benchmarks/distributed/cost_model.py products.csv transposes.csv
"""
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
BLOCKS = (512, 1024, 2048, 4096)
GPUS = (1, 2, 4, 8, 64, 512, 4096)
BYTES = {"float": 4, "bf16": 2}
RATES_FROM = {"float": "matmul_limits.csv", "bf16": "matmul_tensor_limits.csv"}


def kernel_rate(dtype):
  """Returns the FLOP/s of the fastest measured `auto` row of the type."""
  with open(ROOT / "docs/results/h200" / RATES_FROM[dtype], newline="", encoding="ascii") as file:
    return 1e9 * max(float(row["gflops"]) for row in csv.DictReader(file)
                     if row["dtype"] == dtype and row["implementation"] == "auto" and row["gflops"] and
                     not row.get("precision"))


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
    compute.append(2 * rows * cols * k / rate)
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


def rate_of_file(rows):
  """Returns the FLOP/s of the fastest `auto` product of float in FP32; None without one."""
  rates = [float(row["gflops"]) for row in rows if row["implementation"] == "auto" and row["dtype"] == "float" and
           row["status"] == "ok" and row["gflops"] and row.get("precision", "") in ("", "fp32")]
  return 1e9 * max(rates) if rates else None


def beside(rows, schedule=None):
  """Returns a record for each square of --gpus that was measured: what the model computes beside what was measured. `schedule` is
  that of the transposes: transpose_model.BEFORE for rows from before it was another, or the present one."""
  rate = rate_of_file(rows) or kernel_rate("float")
  records = []
  for row in rows:
    square = row["rows"] == row["cols"] == (row["depth"] or row["rows"])
    implementation = row["implementation"]
    copies_at_once = {"exchange_direct": 1, "exchange_two_copies": 2}
    known = ("summa", "summa_direct", *copies_at_once)
    if not row.get("grid") or row["status"] != "ok" or not square or implementation not in known:
      continue
    if implementation not in copies_at_once and row["dtype"] != "float":
      continue
    n, block = int(row["rows"]), int(row["grid_block"])
    p, q = (int(extent) for extent in row["grid"].split("x"))
    if implementation in copies_at_once:
      element = {"float": 4, "double": 8}[row["dtype"]]
      total, communication = transpose_model.transpose(n, p, q, block, element,
                                                       copies_at_once=copies_at_once[implementation],
                                                       **(schedule or {}))
    else:
      # NCCL's kernels find no multiprocessor as long as the blocks of a product run.
      direct = implementation == "summa_direct"
      total, _, communication, _ = product(n, p, q, block, 4, rate, direct=direct, hidden=direct)
    records.append({"implementation": implementation, "dtype": row["dtype"], "n": n, "grid": row["grid"],
                    "grid_block": block, "ms": float(row["kernel_ms_median"]), "computed_ms": 1e3 * total,
                    "computed_communication_ms": 1e3 * communication,
                    "measured_over_computed": float(row["kernel_ms_median"]) / (1e3 * total),
                    "git_commit": row.get("git_commit", "")})
  return records


def compare(paths, schedule):
  records = []
  for path in paths:
    with open(path, newline="", encoding="ascii") as file:
      records += beside(list(csv.DictReader(file)), schedule)
  if not records:
    sys.exit(f"{', '.join(paths)}: no squares of --gpus that were measured")
  out = csv.writer(sys.stdout, lineterminator="\n")
  out.writerow(records[0])
  for record in records:
    out.writerow(f"{value:.4g}" if isinstance(value, float) else value for value in record.values())


def main():
  if len(sys.argv) > 1:
    before = sys.argv[1] == "--before"  # Transposes with kernels on all multiprocessors.
    compare(sys.argv[1 + before:], transpose_model.BEFORE if before else None)
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
        perfect = 2 * n**3 / gpus / rate
        out.writerow(["computed", dtype, n, gpus, f"{p}x{q}", block, step_k, f"{total:.4g}", f"{communication:.4g}",
                      f"{hidden:.1f}", f"{perfect / total:.3f}", crossover(gpus, element, rate),
                      f"{1e3 * transpose_exchange(n, gpus, element):.4g}", commit])


if __name__ == "__main__":
  main()
