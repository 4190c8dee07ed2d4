#!/usr/bin/env python3
"""Writes compile_commands.json, by which clangd and clang-tidy know how each host file is compiled.

Usage: tools/compile_commands.py [BAZEL_OPTION...]

It asks Bazel, so the configuration is the one that the options give, and builds nothing; without precompiled headers,
which only GCC reads. Files that Bazel generates are there after a build. CUDA files are left out: clang 14 cannot read the headers of CUDA 13.
"""

import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def bazel(*arguments):
    result = subprocess.run(["bazel", *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    if result.returncode:
        sys.exit(result.returncode)  # Bazel has said why.
    return result.stdout


def compile_command(arguments, output_base):
    """The entry of one compile action; its folder is the workspace, where editors look for the files."""
    # Bazel runs the compiler in a folder where external/ lies beside the sources. The flag is GCC's alone.
    arguments = [
        str(output_base / argument) if argument.startswith("external/") else argument
        for argument in arguments
        if argument != "-fno-canonical-system-headers"
    ]
    return {
        "directory": str(ROOT),
        "file": arguments[arguments.index("-c") + 1],
        "arguments": arguments,
    }


def main(options):
    output_base = pathlib.Path(bazel("info", "output_base").strip())
    actions = json.loads(bazel("aquery", "--define=precompiled_headers=no", *options, "--output=jsonproto", 'mnemonic("CppCompile", //...)'))
    commands = {}
    for action in actions.get("actions", []):
        command = compile_command(action["arguments"], output_base)
        commands.setdefault(command["file"], command)  # A library is compiled twice, with and without -fPIC.
    ordered = [commands[file] for file in sorted(commands)]
    (ROOT / "compile_commands.json").write_text(json.dumps(ordered, indent=1) + "\n")
    print(f"compile_commands.json: {len(ordered)} files")


if __name__ == "__main__":
    main(sys.argv[1:])
