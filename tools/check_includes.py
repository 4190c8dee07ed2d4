#!/usr/bin/env python3
"""Lists host files that include too little: those that compile only behind the headers of third_party/precompiled.

Parses each file as Bazel would compile it with --define=precompiled_headers=no, and makes no code: a third of the time.
Run it after a build, because some files include what Bazel generates. Returns 1 when a file does not compile.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def parse(command):
    """Returns what the compiler says, nothing where the file is right."""
    arguments = [argument for argument in command["arguments"] if argument not in ("-c", "-MD")]
    for option in ("-MF", "-o"):
        at = arguments.index(option)
        del arguments[at:at + 2]
    result = subprocess.run([*arguments, "-fsyntax-only"], cwd=command["directory"], capture_output=True, text=True)
    return result.stderr if result.returncode else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", metavar="FILE.cc", help="only these")
    files = parser.parse_args().files
    subprocess.run([ROOT / "tools/compile_commands.py"], check=True)
    commands = json.loads((ROOT / "compile_commands.json").read_text())
    chosen = [command for command in commands if not files or command["file"] in files]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [said for said in pool.map(parse, chosen) if said]
    print("".join(wrong) + f"{len(wrong)} of {len(chosen)} files include too little.")
    return 1 if wrong or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
