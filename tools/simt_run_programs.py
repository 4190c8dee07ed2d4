#!/usr/bin/env python3
"""Runs programs of strangers with simt_run and writes docs/results/<machine>/simt_run_programs.csv.

    tools/simt_run_programs.py --sources=DIR --csv=FILE.csv [--only=REGEX] [--max_cpu_seconds=60] [--profiles=DIR --accesses=source]
    tools/simt_run_programs.py --sources=DIR --compile_csv=FILE.csv [--only=REGEX]

DIR has checkouts of the repositories below at these commits, under the names here; nothing of them is committed. A program that has not ended
after --max_cpu_seconds of CPU time is stopped by simt_run, and the row says what it had done by then. Rows of programs that --only leaves out
are kept. simt_run must be built. The second form only compiles, also two small ones of this repository, and writes the CPU time of simt_run and
all that it starts, user and system, linking included: the median of three. --profiles keeps the memory profile of each program, for
tools/simt_run_counters.py.
"""

import argparse
import csv
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

REPOSITORIES = {
    "SGEMM_CUDA": "siboehm/SGEMM_CUDA@60cba6f9b20a",
    "llm.c": "karpathy/llm.c@f1e2ace65149",
    "cuda-samples": "NVIDIA/cuda-samples@c94ff366aed1",
}

# Of each sample: folder under Samples/, sources, arguments.
SAMPLES = """
0_Introduction/asyncAPI: asyncAPI.cu
0_Introduction/clock: clock.cu
0_Introduction/fp16ScalarProduct: fp16ScalarProduct.cu
0_Introduction/matrixMul: matrixMul.cu -- -wA=64 -hA=64 -wB=64 -hB=64
0_Introduction/mergeSort: main.cpp mergeSort.cu bitonic.cu mergeSort_host.cpp mergeSort_validate.cpp
0_Introduction/simpleAssert: simpleAssert.cu
0_Introduction/simpleAtomicIntrinsics: simpleAtomicIntrinsics.cu simpleAtomicIntrinsics_cpu.cpp
0_Introduction/simpleCallback: simpleCallback.cu multithreading.cpp
0_Introduction/simpleCooperativeGroups: simpleCooperativeGroups.cu
0_Introduction/simpleHyperQ: simpleHyperQ.cu
0_Introduction/simpleMultiCopy: simpleMultiCopy.cu
0_Introduction/simpleOccupancy: simpleOccupancy.cu
0_Introduction/simplePrintf: simplePrintf.cu
0_Introduction/simpleStreams: simpleStreams.cu
0_Introduction/simpleTemplates: simpleTemplates.cu
0_Introduction/simpleVoteIntrinsics: simpleVoteIntrinsics.cu
0_Introduction/simpleZeroCopy: simpleZeroCopy.cu
0_Introduction/systemWideAtomics: systemWideAtomics.cu
0_Introduction/template: template.cu template_cpu.cpp
0_Introduction/vectorAdd: vectorAdd.cu
2_Concepts_and_Techniques/convolutionSeparable: main.cpp convolutionSeparable.cu convolutionSeparable_gold.cpp
2_Concepts_and_Techniques/histogram: main.cpp histogram64.cu histogram256.cu histogram_gold.cpp
2_Concepts_and_Techniques/inlinePTX: inlinePTX.cu
2_Concepts_and_Techniques/reduction: reduction.cpp reduction_kernel.cu -- --n=65536
2_Concepts_and_Techniques/reductionMultiBlockCG: reductionMultiBlockCG.cu
2_Concepts_and_Techniques/scalarProd: scalarProd.cu scalarProd_cpu.cpp
2_Concepts_and_Techniques/scan: main.cpp scan.cu scan_gold.cpp
2_Concepts_and_Techniques/shfl_scan: shfl_scan.cu
2_Concepts_and_Techniques/sortingNetworks: main.cpp bitonicSort.cu oddEvenMergeSort.cu sortingNetworks_validate.cpp
2_Concepts_and_Techniques/threadFenceReduction: threadFenceReduction.cu -- --n=65536
3_CUDA_Features/binaryPartitionCG: binaryPartitionCG.cu
3_CUDA_Features/globalToShmemAsyncCopy: globalToShmemAsyncCopy.cu -- wA=64 hA=64 wB=64 hB=64
3_CUDA_Features/warpAggregatedAtomicsCG: warpAggregatedAtomicsCG.cu
4_CUDA_Libraries/conjugateGradientMultiBlockCG: conjugateGradientMultiBlockCG.cu
5_Domain_Specific/BlackScholes: BlackScholes.cu BlackScholes_gold.cpp
5_Domain_Specific/SobolQRNG: sobol.cpp sobol_gpu.cu sobol_gold.cpp sobol_primitives.cpp
5_Domain_Specific/binomialOptions: binomialOptions.cpp binomialOptions_kernel.cu binomialOptions_gold.cpp
5_Domain_Specific/dwtHaar1D: dwtHaar1D.cu
5_Domain_Specific/fastWalshTransform: fastWalshTransform.cu fastWalshTransform_gold.cpp
5_Domain_Specific/quasirandomGenerator: quasirandomGenerator.cpp quasirandomGenerator_kernel.cu quasirandomGenerator_gold.cpp
6_Performance/alignedTypes: alignedTypes.cu
6_Performance/transpose: transpose.cu -- -dimX=256 -dimY=256
"""

# Of llm.c: all of dev/cuda but nccl_all_reduce.cu, which needs MPI and NCCL.
LLMC = """adamw attention_backward attention_forward classifier_fused crossentropy_forward crossentropy_softmax_backward
encoder_backward encoder_forward fused_residual_forward gelu_backward gelu_forward global_norm layernorm_backward layernorm_forward
matmul_backward matmul_backward_bias matmul_forward permute residual_forward softmax_forward trimat_forward"""

# These do a different thing in each launch of the same geometry, which --max_repeats would leave out.
ALL_LAUNCHES = {"mergeSort", "scan", "simpleCallback", "simpleHyperQ", "simpleMultiCopy", "simpleStreams", "sortingNetworks",
                "dev/cuda/layernorm_backward.cu"}

# Sizes and repetitions that are constants of the source and chosen for a GPU: what simt_run's --constants sets instead.
CONSTANTS = {
    "dev/cuda/attention_backward.cu": "B=1;T=64",
    "dev/cuda/attention_forward.cu": "B=1;T=64",
    "dev/cuda/classifier_fused.cu": "B=1;T=64",
    "dev/cuda/crossentropy_softmax_backward.cu": "B=1;T=64",
    "dev/cuda/global_norm.cu": "C=192;L=1",
    "dev/cuda/layernorm_backward.cu": "B=1;T=64;repeat_times=2",
    "dev/cuda/matmul_backward.cu": "B=1;T=64",
    "dev/cuda/matmul_forward.cu": "B=1;T=64",
    "dev/cuda/softmax_forward.cu": "B=1;T=64",
    "dev/cuda/trimat_forward.cu": "B=1;T=128",
    "alignedTypes": "MEM_SIZE=500000;NUM_ITERATIONS=2",
    "mergeSort": "N=65536",
    "scan": "N=425984;iCycles=1",
    "simpleStreams": "n=65536",
    "sortingNetworks": "N=32768",
}
CONSTANTS.update({f"sgemm {step}": "SIZE={128, 256, 512}" for step in range(1, 13) if step != 11})

# Judged by reading the sources.
TRUTH = {
    "simpleAssert": "true: asserts on purpose",
    "shfl_scan": "true: the first warp reads sums that no warp has stored; what it makes of them is not used",
    "dev/cuda/permute.cu": "true: calls the kernel without <<<...>>>",
    "sgemm 11": "true: barriers in divergent branches; tiles of 256 columns of a matrix of 128, which overwrite the next row",
    "dev/cuda/attention_backward.cu": "true: launches a kernel that loops over batch and heads with a block for each of them, which all store the same",
    "dev/cuda/global_norm.cu": "true, and harmless: 32 lanes store the same sum to one place",
}

COLUMNS = ["program", "repository", "arguments", "constants", "runs", "why_not", "exit_code", "launches", "left_out", "findings", "truth", "limit_cpu_seconds",
           "seconds", "git_commit"]


COMPILE_COLUMNS = ["program", "repository", "files", "cpu_seconds", "cpu_seconds_per_file", "git_commit"]
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
OWN = [(name, ROOT, "common/executor/run/testdata", [file], [])
       for name, file in (("empty program", "empty.cu"), ("naive product", "naive_product.cu"))]


def programs():
    """Yields name, repository, folder, flags with sources, and arguments."""
    for step in range(1, 13):
        yield f"sgemm {step}", "SGEMM_CUDA", "", ["--include_dirs=src", "sgemm.cu", "src/runner.cu"], [str(step)]
    for name in LLMC.split():
        kernel = "2" if name == "layernorm_backward" else "1"  # It has no kernel 1.
        yield f"dev/cuda/{name}.cu", "llm.c", "dev/cuda", [f"{name}.cu"], [kernel]
    for line in SAMPLES.strip().splitlines():
        folder, rest = line.split(": ")
        sources, _, arguments = rest.partition(" -- ")
        flags = ["--include_dirs=../../../Common,."]
        yield folder.split("/")[1], "cuda-samples", "Samples/" + folder, flags + sources.split(), arguments.split()


def why_not(output):
    """Returns what stops a program that does not compile: the first thing that the compiler or simt_run names."""
    found = re.search(r"not supported, or not declared:\n  (.*)", output) or re.search(r"does not support:\n  (.*)", output)
    found = found or re.search(r"error: (.*)", output) or re.search(r"simt_run: (.*)", output)
    return found.group(1).strip()[:120] if found else "no message"


def run(simt_run, sources, program, limit, commit, more_flags):
    name, repository, folder, flags, arguments = program
    repeats = 0 if name in ALL_LAUNCHES else 2
    command = [simt_run, f"--max_repeats={repeats}", f"--max_cpu_seconds={limit}"] + more_flags + flags
    constants = CONSTANTS.get(name, "")
    if constants:
        command.append("--constants=" + constants)
    command += ["--"] + arguments
    start = time.time()
    done = subprocess.run(command, cwd=os.path.join(sources, repository, folder), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, check=False)
    output = done.stdout.decode(errors="replace")
    row = {"program": name, "repository": REPOSITORIES[repository], "arguments": " ".join(arguments), "constants": constants,
           "exit_code": done.returncode,
           "limit_cpu_seconds": limit, "seconds": round(time.time() - start, 1), "git_commit": commit}
    report = re.search(r"^simt_run: (\d+) launch\w*, (\d+) finding", output, re.MULTILINE)
    if report:
        row["launches"], row["findings"] = report.groups()
        row["left_out"] = sum(int(b) - int(a) for a, b in re.findall(r"  (\d+) of (\d+)  ", output))
        stopped = "simt_run: stopped after" in output
        row["runs"] = "to the limit" if stopped else "to its end" if done.returncode in (0, 3) else "to its end, which is a failure"
        row["why_not"] = "its own check fails; not judged" if done.returncode == 1 else ""
        row["truth"] = TRUTH.get(name, "not judged") if int(row["findings"]) > 0 else ""
    else:
        row["runs"], row["why_not"] = "no", why_not(output)
    return row, output


def compile_only(simt_run, sources, program, commit):
    name, repository, folder, flags, _ = program
    seconds = []
    with tempfile.TemporaryDirectory() as scratch:
        for _ in range(3):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([simt_run, f"--output={scratch}/program"] + flags, cwd=os.path.join(sources, repository, folder), check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            seconds.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    files = sum(not flag.startswith("--") for flag in flags)
    median = statistics.median(seconds)
    return {"program": name, "repository": REPOSITORIES.get(repository, ""), "files": files, "cpu_seconds": round(median, 2),
            "cpu_seconds_per_file": round(median / files, 2), "git_commit": commit}


def read_rows(path):
    if not os.path.exists(path):
        return {}
    with open(path, newline="", encoding="ascii") as file:
        return {row["program"]: row for row in csv.DictReader(file)}


def write_rows(path, columns, rows):
    with open(path, "w", newline="", encoding="ascii", errors="replace") as file:
        writer = csv.DictWriter(file, columns, restval="", extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sources", required=True, help="folder with the checkouts")
    kind = parser.add_mutually_exclusive_group(required=True)
    kind.add_argument("--csv", help="the file to write")
    kind.add_argument("--compile_csv", help="the file to write, with the time that compilation takes; nothing is run")
    parser.add_argument("--only", default="", help="run only programs whose name this regular expression matches")
    parser.add_argument("--max_cpu_seconds", type=int, default=60, help="of each program, its compilation aside")
    parser.add_argument("--simt_run", default="bazel-bin/common/executor/run/simt_run")
    parser.add_argument("--accesses", default="source", help="as of simt_run")
    parser.add_argument("--profiles", help="also write the memory profile of each program to this folder")
    parser.add_argument("--logs", help="also write the output of each program to this folder")
    args = parser.parse_args()
    commit = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=12"], stdout=subprocess.PIPE, check=True,
                            cwd=ROOT).stdout.decode().strip()
    simt_run = os.path.abspath(args.simt_run)
    everything = list(programs())
    if args.compile_csv:  # The programs of SGEMM_CUDA are one.
        everything = OWN + [p for p in everything if not p[0].startswith("sgemm") or p[0] == "sgemm 1"]
    rows = read_rows(args.compile_csv or args.csv)
    for program in everything:
        name = program[0]
        if not re.search(args.only, name):
            continue
        if args.compile_csv:
            rows[name] = compile_only(simt_run, args.sources, program, "g" + commit)
            print(rows[name], flush=True)
            write_rows(args.compile_csv, COMPILE_COLUMNS, [rows[p[0]] for p in everything if p[0] in rows])
            continue
        more_flags = ["--accesses=" + args.accesses]
        if args.profiles:
            more_flags.append("--csv=" + os.path.join(os.path.abspath(args.profiles), name.replace("/", "_").replace(" ", "_") + ".csv"))
        rows[name], output = run(simt_run, args.sources, program, args.max_cpu_seconds, "g" + commit, more_flags)
        print(", ".join(f"{key} {rows[name].get(key, '')}" for key in COLUMNS[:-1] if rows[name].get(key, "") != ""), flush=True)
        if args.logs:
            with open(os.path.join(args.logs, name.replace("/", "_").replace(" ", "_") + ".txt"), "w", encoding="utf-8") as file:
                file.write(output)
        write_rows(args.csv, COLUMNS, [rows[p[0]] for p in everything if p[0] in rows])
    return 0


if __name__ == "__main__":
    sys.exit(main())
