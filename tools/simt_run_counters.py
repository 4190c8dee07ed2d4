#!/usr/bin/env python3
"""Holds simt_run's memory profiles against Nsight Compute's counters of the same programs.

    tools/simt_run_counters.py --profiles=DIR --compiled=DIR --ncu=DIR --commit=COMMIT --csv=simt_run_counters.csv

--profiles has PROGRAM.csv of simt_run --csv (with --max_repeats=2), --compiled the same with --accesses=compiled, --ncu has ncu_PROGRAM.csv of

    ncu --csv --page raw --print-units base --metrics METRICS ./program > ncu_PROGRAM.csv

of the same program with the same arguments, compiled by nvcc -O3; METRICS are the six below. --ncu may also name a CSV that this tool has written
before, whose counts of ncu it takes over: then no GPU is needed; several are separated by commas. --again has a second run of ncu of the same programs. A row of simt_run, which is launches of one kernel
from one line with one geometry, is held against the same launches of ncu, by its column `order`: the k-th of all launches of that kernel and geometry are the same, as what a launch does may depend on its data.
Where ncu was ended before the last of them, PROGRAM.1.csv may have fewer, of simt_run --max_repeats=1. The CSV has a row for each, with the counts for each
launch on the average, and `exact` and `compiled_exact`: how many of the six are equal; why those of compiled accesses are not; and `determined`: `no` for launches
of which ncu's two runs differ in one of the six, `yes` where they are equal, `once` without a second run. Programs without launches in all are left out, with a message.

tools/simt_run_held_out.csv lists programs and sizes that were chosen before any of them had been run, by simt_run or by ncu: all CUDA programs of
PolyBench-ACC; of CUDA_Freshman one for each kernel, without those that only print; of Rodinia those that need no data files but small grids; of HeCBench,
in an order shuffled by a seed, the first whose sizes are arguments and that need no library; kernels of llm.c and SGEMM_CUDA and samples of NVIDIA that had
not been compared before. `sizes` are macros or initialisers that both sides are compiled with.

tools/simt_run_held_out_3.csv lists others, also chosen before any of them had been run and without a look at their kernels, of repositories that are in no
other list: all programs of CoffeeBeforeArch/cuda_programming (one vector addition of four), of How_to_optimize_in_GPU and of mini-nbody whose sizes are
constants or arguments and that read no data; those of NVIDIA's blog that need no library and do not only print; CUDA-GEMM-Optimization's products of FP32.
Kernels of cuBLAS that some of these call are not compared.

tools/simt_run_held_out_4.csv was drawn: of each of six repositories that are in no other list, from all programs with a main() and a launch that need no files and no
library, shuffled by the seed 22, the first few; sizes were chosen from their definitions, without a look at the kernels. Two of them were compiled with <cassert>
before them on both sides, and nvcc's with -DdeviceOverlap=asyncEngineCount, as CUDA 13 has neither.

tools/simt_run_held_out_5.csv was drawn in the same way by the seed 5 of four repositories that are in no other list and had not been looked at: a dozen of each, of
basic-cuda-tutorial four. tools/simt_run_held_out_6.csv: by the seed 6, of four others, 18, 15, 8 and 7.
tools/simt_run_held_out_7.csv: by the seed 7, of four others, 16, 16, 10 and 8 whose paths have no blanks. tools/simt_run_held_out_8.csv: by the seed 8, of four others, 20,
16, 12 and 24, the last ones scientific programs that read a file of data. tools/simt_run_held_out_9.csv: by the seed 9, of seven
others, 7 (one with each of its five modes), 5, 6, 8, 10, 9 and 3. tools/simt_run_lists.py counts any of the lists again. Of the second list only the
counts were committed at first; tools/simt_run_held_out_2.csv has its programs with sizes that were chosen again later.
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

# By program or kernel, judged by reading sources and machine code.
WHY = {
    "d_bench": "threads that update the same value try again, and how often depends on time",
    "cgkernel": "printf() loads and stores on a GPU",
    "filter_arr": "where a warp stores depends on the order of the blocks",
    "eliminate_crosses": "one store more than nvcc's; not found",
    "filter": "where a warp stores depends on the order of the blocks",
    "filter2": "where a warp stores depends on the order of the blocks",
    "alloutputs": "which warp reads the counter last depends on time",
    "compact_array": "where a warp stores depends on the order of the blocks",
    "render_kernel": "all lanes of a warp leave a loop by one return, which counts as where they meet",
    "scatterAdd_kernel": "atomicAdd() of float in shared memory is a loop with loads on a GPU, and how often depends on time",
    "spm": "stores that both sides of a branch end with; not found",
    "screen_kernel": "nvcc unrolls a loop with exp() of double by 2, LLVM by 4",
    "bsf_edge_centric_kernel": "which thread visits a vertex depends on their order",
    "bfs_kernel": "how often a vertex is stored to depends on the order of its neighbours",
    "convergentExecution": "how often sin() takes its long way depends on the last bits of numbers",
    "divergentExecution": "how often sin() takes its long way depends on the last bits of numbers",
    "debugKernel": "printf() stores three times more with the driver of the H100 than with that of the H200, by which it is counted",
    "find_index_kernel": "its data follow from the time of day",
    "gpu_mergesort": "its data follow from the time of day",
    "histogram_coarsened": "one request of 3128: where lanes that leave a loop meet; not found",
    "gpu_print_element": "printf() loads and stores on a GPU",
    "kernel": "on the GPU each thread looks to the end of an array; not found",
    "k1": "it reads shared memory that its block has not written",
    "layernorm_backward_kernel2": "atomicAdd() of float in shared memory is a loop with loads on a GPU, and how often depends on time",
    "layernorm_backward_kernel3": "atomicAdd() of float in shared memory is a loop with loads on a GPU, and how often depends on time",
    "likelihood_kernel": "its data follow from the time of day",
    "matmul_backward_bias_kernel7": "atomicAdd() of float in shared memory is a loop with loads on a GPU, and how often depends on time",
    "my_kernel": "printf() loads and stores on a GPU",
    "my_reduce_kernel": "printf() loads and stores on a GPU",
    "scatterAdd2_kernel": "atomicAdd() of float in shared memory is a loop with loads on a GPU, and how often depends on time",
    "sigmas_kernel": "how often a loop runs depends on the last bits of expf()",
    "normalizeVectors": "the program reads 8 bytes of a float of 4, and what it does depends on them",
    "spda_kernel": "printf() stores three times more with the driver of the H100 than with that of the H200, by which it is counted",
    "threadHierarchyKernel": "printf() stores three times more with the driver of the H100 than with that of the H200, by which it is counted",
    "sum": "printf() loads and stores on a GPU",
    "reduceSinglePassMultiBlockCG": "blocks that wait for the grid load and store: how often depends on their order",
}


def extent(text):
  """Both ways to write three numbers: 8x8 and (8, 8, 1)."""
  numbers = [int(n) for n in re.findall(r"\d+", text)]
  return tuple(numbers + [1] * (3 - len(numbers)))


def base_name(kernel):
  """The kernel's name alone, of void f<(int)1>(float *) or f<T, 32>."""
  return re.split(r"[<(]", re.sub(r"^void ", "", kernel))[0].strip()


def measured(path):
  """ncu's launches of each program, from a folder of ncu's CSVs or from one of this tool's."""
  programs = collections.OrderedDict()
  if path.is_dir():
    for file in sorted(path.glob("ncu_*.csv")):
      programs[file.stem[len("ncu_"):]] = ncu_launches(file)
    return programs
  with path.open(newline="", encoding="ascii") as file:
    for row in csv.DictReader(file):
      programs.setdefault(row["program"], []).append(
          {"kernel": row["kernel"], "at": row["at"], "grid": extent(row["grid"]), "block": extent(row["block"]), "taken": False,
           "launches": int(row["launches"]), "determined": row["determined"], **{name: float(row["ncu_" + name]) for name in COUNTERS}})
  return programs


def measured_by(paths, again):
  """The launches of all of ncu's CSVs, with what a second run says of them."""
  programs = collections.OrderedDict()
  for path in paths.split(","):
    programs.update(measured(pathlib.Path(path)))
  if again:
    mark_determined(programs, measured(pathlib.Path(again)))
  return programs


def ncu_launches(path):
  text = "".join(line for line in path.open(encoding="utf-8") if line.startswith('"'))
  rows = list(csv.DictReader(text.splitlines()))[1:]  # The first one has the units.
  return [{"kernel": row["Kernel Name"], "at": None, "grid": extent(row["Grid Size"]), "block": extent(row["Block Size"]), "taken": False,
           "launches": 1, "determined": "once", **{name: float(row[metric].replace(",", "")) for name, metric in COUNTERS.items()}} for row in rows]


def mark_determined(programs, again):
  """Says of each launch whether the same one of the second run has the same counts."""
  for program, launches in again.items():
    for first, second in zip(programs.get(program, []), launches):
      if all(first[name] == second[name] for name in ("kernel", "grid", "block")):
        first["determined"] = "yes" if all(first[name] == second[name] for name in COUNTERS) else "no"


def determined(launches):
  """Of several launches: `no` if one is not, `yes` if all are."""
  words = {launch["determined"] for launch in launches}
  return "no" if "no" in words else "yes" if words == {"yes"} else "once"


def key_of(row):
  return base_name(row["kernel"]), extent(row["grid"]), extent(row["block"])


def indices(order):
  """The numbers of "0-2 7"."""
  runs = [[int(n) for n in run.split("-")] for run in order.split()]
  return [i for run in runs for i in range(run[0], run[-1] + 1)]


def take(launches, row, rows):
  """Takes the launches that a row of simt_run has. A row of this tool is the mean of all of them, or of the first ones where one of both had an end."""
  wanted = key_of(row)
  known = any(base_name(launch["kernel"]) == wanted[0] for launch in launches)  # Not so of an expression whose function follows from its arguments.
  fits = [launch for launch in launches if (launch["grid"], launch["block"]) == wanted[1:] and launch["at"] in (None, row["at"]) and
          (not known or base_name(launch["kernel"]) == wanted[0])]
  if not fits:
    return []
  if fits[0]["at"]:
    taken = [launch for launch in fits if not launch["taken"]][:1]
  else:
    alike = sorted(i for other in rows if other["second"] == row["second"] and key_of(other) == wanted for i in indices(other["order"]))
    places = [alike.index(i) for i in indices(row["order"])[:int(row["launches"])]]
    taken = [fits[place] for place in places if place < len(fits)]
    if len(taken) != int(row["launches"]):
      return []
  for launch in taken:
    launch["taken"] = True
  return taken


def read_profile(path):
  """The rows of PROGRAM.csv and, behind them, of PROGRAM.1.csv, whose column `second` is not empty."""
  rows = []
  for each, second in ((path, ""), (path.with_suffix(".1.csv"), "yes")):
    if each.exists():
      with each.open(newline="", encoding="utf-8") as file:
        rows += [dict(row, second=second) for row in csv.DictReader(file)]
  return rows


def compare(commit, program, profile, compiled, launches):
  # A program that was ended has more launches in one of the profiles.
  compiled_of = {}
  compared = set()
  for row in read_profile(compiled):
    compiled_of.setdefault((row["kernel"], row["at"], row["grid"], row["block"], row["launches"]), []).append(row)
  rows = read_profile(profile)
  for row in rows:
    key = (row["kernel"], row["at"], row["grid"], row["block"])
    if row["second"] and key in compared:
      continue
    of_row = compiled_of.get((row["kernel"], row["at"], row["grid"], row["block"], row["launches"]))
    if not of_row:
      print(f"{program}: no {row['launches']} launches of {row['kernel']} at {row['at']} with compiled accesses", file=sys.stderr)
      continue
    compiled_row = of_row.pop(0)
    taken = take(launches, row, rows)
    if not taken:
      print(f"{program}: not as many launches, {row['launches']}, of {row['kernel']} at {row['at']}", file=sys.stderr)
      continue
    compared.add(key)
    result = collections.OrderedDict(git_commit=commit, program=program, kernel=re.sub(r"^void |\([^()]*\)$", "", taken[0]["kernel"]), at=row["at"], grid=row["grid"],
                                     block=row["block"], launches=row["launches"])
    exact = compiled_exact = 0
    for name in COUNTERS:
      # As text, as a CSV of this tool has no more digits of a mean.
      predicted = f"{float(row[name]) / int(row['launches']):.10g}"
      as_compiled = f"{float(compiled_row[name]) / int(row['launches']):.10g}"
      counted = f"{sum(launch[name] for launch in taken) / len(taken):.10g}"
      result[name] = predicted
      result["compiled_" + name] = as_compiled
      result["ncu_" + name] = counted
      exact += predicted == counted
      compiled_exact += as_compiled == counted
    result["exact"] = exact
    result["compiled_exact"] = compiled_exact
    result["determined"] = determined(taken)
    result["why"] = "" if compiled_exact == len(COUNTERS) else WHY.get(program, WHY.get(base_name(taken[0]["kernel"]), "not looked into"))
    yield result


def main():
  parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--profiles", type=pathlib.Path, required=True)
  parser.add_argument("--compiled", type=pathlib.Path, required=True)
  parser.add_argument("--ncu", required=True, help="folders or CSVs of this tool, separated by commas")
  parser.add_argument("--again", help="a folder of ncu's CSVs of a second run")
  parser.add_argument("--commit", required=True, help="that simt_run was built from")
  parser.add_argument("--csv", required=True)
  args = parser.parse_args()
  results = []
  programs = measured_by(args.ncu, args.again)
  for program, launches in sorted(programs.items()):
    profile, compiled = args.profiles / (program + ".csv"), args.compiled / (program + ".csv")
    if not launches or not profile.exists() or not compiled.exists():
      print(f"{program}: left out", file=sys.stderr)
      continue
    results += compare(args.commit, program, profile, compiled, launches)
  write(results, args.csv)


def write(results, path):
  """Writes the rows, and says how many are equal."""
  if not results:
    sys.exit("simt_run_counters: no launches")
  with open(path, "w", newline="", encoding="ascii") as file:
    writer = csv.DictWriter(file, results[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(results)
  for column, accesses in (("exact", "source"), ("compiled_exact", "compiled")):
    for rows, which in ((results, "launches"), ([r for r in results if r["determined"] != "no"], "launches that ncu counts alike twice")):
      print(f"{sum(r[column] == len(COUNTERS) for r in rows)} of {len(rows)} {which} have all counters equal, {accesses} accesses")


if __name__ == "__main__":
  main()
