#!/usr/bin/env python3
"""Reads compiled kernels and prints what predicted time needs to know of each, as rows of a table in C++.

  nvcc -std=c++17 -O3 -DNDEBUG -I. -gencode arch=compute_90a,code=sm_90a -cubin -o tiled.cubin matmul/ladder/04_tiled.cu
  python3 tools/compiled_kernels.py tiled.cubin ... > benchmarks/profile/compiled_kernels.inc

Of each kernel: its registers, and the instructions of the loop with most multiply-adds, of the loop around it, and of the
rest. common/executor/predict/compiled_kernel.h says what the figures mean. cuobjdump and nvdisasm have to be on the PATH.
"""

import argparse
import collections
import re
import shutil
import subprocess
import sys

MULTIPLY_ADDS = ("FFMA", "FMUL", "FADD", "DFMA", "DMUL", "DADD")  # And products and sums on their own.
COPIES = ("LDGSTS",)  # From global to shared memory: their wait is an instruction of its own.

Instruction = collections.namedtuple("Instruction", "text opcode modifiers operands")


def parse_instruction(text):
  """'@!P0 LDS.128 R4, [R2+0x10]' without its predicate, in parts."""
  plain = re.sub(r"^@!?U?P\w+\s+", "", text)
  opcode, _, operands = plain.partition(" ")
  name, *modifiers = opcode.split(".")
  return Instruction(text, name, modifiers, [o.strip() for o in operands.split(",")])


def parse_functions(disassembly):
  """{mangled name: (instructions, {label: index})} of what `nvdisasm -c` prints."""
  functions = {}
  instructions = labels = None
  for line in disassembly.splitlines():
    if match := re.match(r"\.text\.(\S+):", line):
      instructions, labels = functions[match[1]] = ([], {})
    elif instructions is None:
      continue
    elif match := re.match(r"(\.L\S+):", line):
      labels[match[1]] = len(instructions)
    elif match := re.match(r"\s+/\*[0-9a-f]+\*/\s+(.*?)\s*;", line):
      instructions.append(parse_instruction(match[1]))
  return functions


def find_loops(instructions, labels):
  """Half-open ranges of instructions, from where a branch goes back to the branch."""
  loops = set()
  for i, instruction in enumerate(instructions):
    match = re.search(r"\((\.L\S+)\)", instruction.text)
    if instruction.opcode == "BRA" and match and labels.get(match[1], i) < i:
      loops.add((labels[match[1]], i + 1))
  return sorted(loops)


def access_bytes(instruction):
  """Bytes that a lane loads or stores."""
  for modifier, size in (("128", 16), ("64", 8), ("U16", 2), ("S16", 2), ("U8", 1), ("S8", 1)):
    if modifier in instruction.modifiers:
      return size
  return 4


def registers_of(operand):
  return [int(r) for r in re.findall(r"\bR(\d+)", operand)]


def count_rounds(body, latencies, repeats=6):
  """How often a warp alone waits, each time the body runs: the longest chain of instructions with these latencies, in
  which each is issued after the one before and waits for the registers that it reads."""
  ready = collections.defaultdict(float)
  now, ends = 0.0, []
  groups, last_copy = [], 0.0
  for _ in range(repeats):
    for instruction in body:
      stores = instruction.opcode.startswith("ST")
      read = instruction.operands if stores else instruction.operands[1:]
      for operand in read:
        for register in registers_of(operand):
          now = max(now, ready.pop(register, 0))
      latency = latencies.get(instruction.opcode, 0)
      if instruction.opcode in COPIES:
        last_copy = now + latency
      elif instruction.opcode == "LDGDEPBAR":
        groups.append(last_copy)
      elif instruction.opcode == "DEPBAR" and instruction.operands[-1].startswith("0x"):
        # Copies that are still in flight after the wait are ahead by a whole iteration, in which they end.
        if int(instruction.operands[-1], 16) == 0:
          now = max([now] + groups)
        groups = []
      elif not stores and latency:
        first = registers_of(instruction.operands[0])
        for r in range(first[0], first[0] + max(1, access_bytes(instruction) // 4)) if first else ():
          ready[r] = now + latency
    ends.append(now)
  return (ends[-1] - ends[1]) / (repeats - 2)


def describe_loop(body, rounds_body):
  """The figures of a CompiledLoop; rounds_body is what the rounds of shared loads are counted in."""
  count = collections.Counter(i.opcode for i in body)
  return {
    "instructions": len(body),
    "multiply_adds": sum(count[name] for name in MULTIPLY_ADDS),
    "shared_bytes": sum(access_bytes(i) for i in body if i.opcode == "LDS"),
    "global_loads": count["LDG"] + count["LDGSTS"],
    "barriers": count["BAR"],
    "shared_rounds": count_rounds(rounds_body, {"LDS": 1}),
  }


def describe(instructions, labels):
  """The figures of a CompiledKernel, without its name and registers."""
  instructions = [i for i in instructions]
  while instructions and instructions[-1].opcode in ("NOP", "BRA"):
    instructions.pop()
  size = len(instructions)
  loops = [loop for loop in find_loops(instructions, labels) if loop[1] <= size]

  def work(loop):
    return sum(i.opcode in MULTIPLY_ADDS for i in instructions[loop[0]:loop[1]])

  innermost = [a for a in loops if not any(a != b and a[0] <= b[0] and b[1] <= a[1] for b in loops)]
  # Of two versions with the same work, the one with fewer instructions is for aligned operands.
  innermost = sorted((loop for loop in innermost if work(loop)), key=lambda l: (-work(l), l[1] - l[0]))
  if not innermost:
    return None
  inner = innermost[0]
  around = [a for a in loops if a != inner and a[0] <= inner[0] and inner[1] <= a[1]]
  outer = min(around, key=lambda l: l[1] - l[0]) if around else None
  inner_body = instructions[inner[0]:inner[1]]
  whole = instructions[outer[0]:outer[1]] if outer else inner_body
  figures = {"inner": describe_loop(inner_body, inner_body)}
  own = instructions[outer[0]:inner[0]] + instructions[inner[1]:outer[1]] if outer else []
  figures["outer"] = describe_loop(own, whole) if outer else describe_loop([], [])
  if outer:
    figures["outer"]["shared_rounds"] -= figures["inner"]["shared_rounds"]
  in_loops = set()
  for loop in loops:
    in_loops.update(range(*loop))
  figures["instructions"] = size - len(in_loops)
  figures["shared_load_bytes"] = max([access_bytes(i) for i in whole if i.opcode == "LDS"] or [0])
  loads = sum(i.opcode in ("LDG",) + COPIES for i in whole)
  rounds = count_rounds(whole, {"LDG": 1, "LDGSTS": 1})
  figures["loads_together"] = round(loads / rounds) if rounds else 0
  return figures


def short_name(demangled):
  """'Tiled<float,true,32>' for 'void stridewise::(anonymous namespace)::Tiled<float, true, 32>(...)'."""
  for prefix in ("(anonymous namespace)::", "stridewise::", "executor::"):
    demangled = demangled.replace(prefix, "")
  depth = 0
  for i, c in enumerate(demangled):
    if c == "(" and depth == 0:
      demangled = demangled[:i]
      break
    depth += {"<": 1, "(": 1, ">": -1, ")": -1}.get(c, 0)
  return demangled.removeprefix("void ").replace(" ", "")


def cpp_loop(figures):
  names = ("instructions", "multiply_adds", "shared_bytes", "global_loads", "barriers", "shared_rounds")
  return "{" + ", ".join(f"{figures[name]:g}" for name in names) + "}"


def cpp_row(name, registers, figures):
  if figures is None:
    return f'{{"{name}", {registers}}},'
  return (f'{{"{name}", {registers}, {figures["shared_load_bytes"]}, {figures["loads_together"]}, '
      f'{figures["instructions"]}, {cpp_loop(figures["inner"])}, {cpp_loop(figures["outer"])}}},')


def run(*command, **options):
  return subprocess.run(command, capture_output=True, text=True, check=True, **options).stdout


class Flags(argparse.ArgumentParser):
  """Reports a mistake in one line."""

  def error(self, message):
    print(f"{self.prog}: {message}", file=sys.stderr)
    sys.exit(2)


def main(arguments):
  parser = Flags(prog="compiled_kernels.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                 allow_abbrev=False)
  parser.add_argument("cubins", metavar="CUBIN", nargs="*", help="compiled kernels")
  cubins = parser.parse_args(arguments).cubins
  if not cubins:
    parser.error("no CUBIN is given; allowed is one and more")
  for cubin in cubins:
    try:
      with open(cubin, "rb") as file:
        if file.read(4) != b"\x7fELF":
          parser.error(f"{cubin}: no cubin; allowed is what nvcc -cubin writes")
    except OSError as error:
      parser.error(f"{cubin}: {error.strerror}; allowed is a cubin")
  for program in ("cuobjdump", "nvdisasm", "c++filt"):
    if shutil.which(program) is None:
      parser.error(f"{program} is not on the PATH")
  rows = {}
  for cubin in cubins:
    usage = re.findall(r"Function (\S+):\s+REG:(\d+)", run("cuobjdump", "-res-usage", cubin))
    registers = {name: int(count) for name, count in usage}
    functions = parse_functions(run("nvdisasm", "-c", cubin))
    names = run("c++filt", input="\n".join(functions)).splitlines()
    for (mangled, (instructions, labels)), demangled in zip(functions.items(), names):
      name = short_name(demangled)
      rows[name] = cpp_row(name, registers[mangled], describe(instructions, labels))
  print("// Made by tools/compiled_kernels.py, which says how.")
  for name in sorted(rows):
    print(rows[name])


if __name__ == "__main__":
  main(sys.argv[1:])
