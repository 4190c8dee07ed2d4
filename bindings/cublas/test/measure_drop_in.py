#!/usr/bin/env python3
"""Runs programs that know nothing of Stridewise with and without the drop-in, in turn, and writes a CSV.

  measure_drop_in.py libstridewise_cublas.so plain_program --commit=gABC --csv=cublas_drop_in.csv

A program prints lines case,ms,value, where the value is an error or a loss. Each runs `--rounds` times either way; the
least time of a case counts. A program that fails (because CuPy is not installed, say) is reported and left out. With
STRIDEWISE_CUBLAS=measure the drop-in decides by the programs' untimed calls.
"""

import argparse
import csv
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = {
    "PyTorch products": [sys.executable, HERE / "pytorch_products.py"],
    "PyTorch transformer": [sys.executable, HERE / "train_transformer.py"],
    "CuPy": [sys.executable, HERE / "cupy_products.py"],
}
COLUMNS = ["git_commit", "device", "program", "case", "cublas_ms", "drop_in_ms", "speedup", "cublas_value", "drop_in_value"]


def run(command, drop_in):
    """Returns {case: (ms, value)} of a run."""
    environment = dict(os.environ)
    if drop_in:
        environment.update(LD_PRELOAD=str(drop_in), STRIDEWISE_CUBLAS_SUMMARY="1")
    output = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    return {case: (float(ms), value) for case, ms, value in (line.split(",") for line in output.splitlines())}


def measure(command, drop_in, rounds):
    """Returns {case: (cublas_ms, drop_in_ms, cublas_value, drop_in_value)}."""
    runs = {False: [], True: []}
    for _ in range(rounds):
        for with_drop_in in (False, True):
            runs[with_drop_in].append(run(command, drop_in if with_drop_in else None))
    least = lambda which, case: min(found[case][0] for found in runs[which])
    return {case: (least(False, case), least(True, case), value, runs[True][0][case][1])
            for case, (_, value) in runs[False][0].items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("drop_in", type=pathlib.Path)
    parser.add_argument("plain_program", type=pathlib.Path)
    parser.add_argument("--commit", required=True)
    parser.add_argument("--csv", required=True)
    parser.add_argument("--device", default="NVIDIA H200")
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    programs = {"C": [arguments.plain_program.resolve()], **PROGRAMS}
    with open(arguments.csv, "w", newline="", encoding="ascii") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for name, command in programs.items():
            try:
                cases = measure(command, arguments.drop_in.resolve(), arguments.rounds)
            except subprocess.CalledProcessError as error:
                print(f"{name}: {error}", file=sys.stderr)
                continue
            for case, (cublas_ms, drop_in_ms, cublas_value, drop_in_value) in cases.items():
                writer.writerow([arguments.commit, arguments.device, name, case, f"{cublas_ms:.5g}", f"{drop_in_ms:.5g}",
                                 f"{cublas_ms / drop_in_ms:.4g}", cublas_value, drop_in_value])
            file.flush()


if __name__ == "__main__":
    main()
