#!/usr/bin/env python3
"""Holds simt_run's memory profiles against Nsight Compute's counters of the same programs.

    tools/simt_run_counters.py --profiles=DIR --ncu=DIR --commit=COMMIT --csv=simt_run_counters.csv

--profiles has PROGRAM.csv of simt_run --csv (with --max_repeats=2), --ncu has ncu_PROGRAM.csv of

    ncu --csv --page raw --print-units base --metrics METRICS ./program > ncu_PROGRAM.csv

of the same program with the same arguments, compiled by nvcc -O3; METRICS are the six below. A row of simt_run, which is launches of one kernel from
one line with one geometry, is held against ncu's next launches of that kernel and geometry. The CSV has a row for each, with both counts for each
launch on the average, and `exact`: how many of the six are equal; and why others are not. Programs without launches in both are left out, with a message.
"""

import argparse
import collections
import csv
import pathlib
import re
import sys

# Of simt_run, and of ncu.
COUNTERS = {
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_load_wavefronts": "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_wavefronts": "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
}

# Judged by reading sources and machine code.
MERGED = "the compiler merges neighbouring loads"
WHY = {
    "BlackScholesGPU": MERGED,
    "MatrixMulCUDA": MERGED,
    "MatrixMulAsyncCopyMultiStageLargeChunk": MERGED + "; the stores are cp.async, which this counter leaves out",
    "convolutionRowsKernel": "the compiler keeps elements in registers that several outputs need",
    "convolutionColumnsKernel": "the compiler keeps elements in registers that several outputs need",
    "mergeHistogram64Kernel": "probably: the GPU counts requests whose lanes are all predicated off",
    "scalarProductKernel_intrinsics": MERGED,
    "scalarProductKernel_native": MERGED,
    "shfl_intimage_rows": MERGED,
    "sobolGPU_kernel": MERGED,
}


def extent(text):
  """Both ways to write three numbers: 8x8 and (8, 8, 1)."""
  numbers = [int(n) for n in re.findall(r"\d+", text)]
  return tuple(numbers + [1] * (3 - len(numbers)))


def base_name(kernel):
  """The kernel's name alone, of void f<(int)1>(float *) or f<T, 32>."""
  return re.split(r"[<(]", re.sub(r"^void ", "", kernel))[0].strip()


def ncu_launches(path):
  text = "".join(line for line in path.open(encoding="utf-8") if line.startswith('"'))
  rows = list(csv.DictReader(text.splitlines()))[1:]  # The first one has the units.
  return [{"kernel": row["Kernel Name"], "grid": extent(row["Grid Size"]), "block": extent(row["Block Size"]), "taken": False,
           **{name: float(row[metric].replace(",", "")) for name, metric in COUNTERS.items()}} for row in rows]


def take(launches, row, names):
  """Takes the launches that a row of simt_run has: at most as many, all of one kernel."""
  name = base_name(row["kernel"])
  fits = [launch for launch in launches if not launch["taken"] and launch["grid"] == extent(row["grid"]) and
          launch["block"] == extent(row["block"]) and (name not in names or base_name(launch["kernel"]) == name)]
  taken = [launch for launch in fits if launch["kernel"] == fits[0]["kernel"]][:int(row["launches"])]
  for launch in taken:
    launch["taken"] = True
  return taken


def compare(commit, program, profile, launches):
  names = {base_name(launch["kernel"]) for launch in launches}
  with profile.open(newline="", encoding="utf-8") as file:
    rows = list(csv.DictReader(file))
  for row in rows:
    taken = take(launches, row, names)
    if not taken:
      print(f"{program}: no launch of {row['kernel']} at {row['at']}", file=sys.stderr)
      continue
    result = collections.OrderedDict(git_commit=commit, program=program, kernel=re.sub(r"^void |\([^()]*\)$", "", taken[0]["kernel"]), at=row["at"], grid=row["grid"],
                                     block=row["block"])
    exact = 0
    for name in COUNTERS:
      predicted = float(row[name]) / int(row["launches"])
      measured = sum(launch[name] for launch in taken) / len(taken)
      result[name] = f"{predicted:.10g}"
      result["ncu_" + name] = f"{measured:.10g}"
      exact += predicted == measured
    result["exact"] = exact
    result["why"] = "" if exact == len(COUNTERS) else WHY.get(base_name(taken[0]["kernel"]), "not looked into")
    yield result


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--profiles", type=pathlib.Path, required=True)
  parser.add_argument("--ncu", type=pathlib.Path, required=True)
  parser.add_argument("--commit", required=True, help="that simt_run was built from")
  parser.add_argument("--csv", required=True)
  args = parser.parse_args()
  results = []
  for path in sorted(args.ncu.glob("ncu_*.csv")):
    program = path.stem[len("ncu_"):]
    profile = args.profiles / (program + ".csv")
    launches = ncu_launches(path)
    if not launches or not profile.exists():
      print(f"{program}: left out", file=sys.stderr)
      continue
    results += compare(args.commit, program, profile, launches)
  if not results:
    sys.exit("simt_run_counters: no launches")
  with open(args.csv, "w", newline="", encoding="ascii") as file:
    writer = csv.DictWriter(file, results[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(results)
  print(f"{sum(r['exact'] == len(COUNTERS) for r in results)} of {len(results)} launches have all counters equal")


if __name__ == "__main__":
  main()
