"""What is in the wheel, and that it loads on a machine without a GPU with the C library that it comes with."""

import base64
import csv
import hashlib
import os
import subprocess
import sys
import unittest
import zipfile

from bindings.python import make_wheel
from bindings.python.test import unpacked


class WheelTest(unittest.TestCase):

  def setUp(self):
    self.wheel = zipfile.ZipFile(unpacked.wheel())
    self.addCleanup(self.wheel.close)

  def test_name_and_tag(self):
    name = unpacked.wheel().name
    self.assertRegex(name, r"^stridewise-[0-9.]+-cp310-abi3-linux_x86_64\.whl$")
    version = name.split("-")[1]
    info = f"stridewise-{version}.dist-info/"
    self.assertIn(f"Version: {version}\n", self.wheel.read(info + "METADATA").decode())
    self.assertIn("Tag: cp310-abi3-linux_x86_64\n", self.wheel.read(info + "WHEEL").decode())
    self.assertIn(version, self.wheel.read("stridewise/_version.py").decode())

  def test_files(self):
    names = set(self.wheel.namelist())
    for name in ("__init__.py", "__init__.pyi", "py.typed", "_core.abi3.so", "_core.pyi", "bench.py", "torch/__init__.py",
                 "csv_columns.txt", "libstridewise.so.0", "host.py", "libstridewise_host.so"):
      self.assertIn("stridewise/" + name, names)
    self.assertLess(os.path.getsize(unpacked.wheel()), 40 << 20)

  def test_record_has_every_file(self):
    record, = (name for name in self.wheel.namelist() if name.endswith("/RECORD"))
    rows = {row[0]: row[1:] for row in csv.reader(self.wheel.read(record).decode().splitlines())}
    self.assertEqual(sorted(rows), sorted(self.wheel.namelist()))
    for name, (digest, size) in rows.items():
      if name == record:
        continue
      data = self.wheel.read(name)
      expected = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
      self.assertEqual((digest, size), ("sha256=" + expected, str(len(data))))

  def test_same_files_same_bytes(self):
    folder = unpacked.unpack()
    files = {"LICENSE": b"free", "stridewise/b.py": b"b = 1\n", "stridewise/a.so": b"\x7f"}
    written = []
    for order in (list(files), list(reversed(files))):
      path = folder / "stridewise-1-py3-none-any.whl"
      make_wheel.write(path, {name: files[name] for name in order})
      written.append(path.read_bytes())
    self.assertEqual(*written)

  def test_columns_are_those_of_the_sweeps(self):
    columns = self.wheel.read("stridewise/csv_columns.txt").decode().split()
    self.assertEqual(columns[0], "schema_version")
    self.assertEqual(len(columns), len(set(columns)))
    for column in ("kernel_ms_median", "speedup_vs_previous", "vs_memcpy", "relative_error", "batch", "permutation"):
      self.assertIn(column, columns)

  def test_loads_without_a_gpu(self):
    program = (
      "import stridewise, stridewise._core as core\n"
      "try:\n"
      "  core.check_device(0)\n"
      "except RuntimeError as error:\n"
      "  print('no GPU:', error)\n"
      "else:\n"
      "  print('a GPU')\n")
    run = subprocess.run([sys.executable, "-c", program], env={"PYTHONPATH": str(unpacked.unpack())}, text=True, capture_output=True,
                         check=False)
    self.assertEqual(run.returncode, 0, run.stderr)
    self.assertRegex(run.stdout, "^(no GPU: .{10,}|a GPU)\n$")

  # On NumPy's arrays, with the library that the wheel has; where there is no NumPy the program says so.
  def test_host_products_and_transposes(self):
    run = subprocess.run([sys.executable, "bindings/host/host_py_test.py", "installed"],
                         env={"PYTHONPATH": str(unpacked.unpack())}, text=True, capture_output=True, check=False)
    self.assertEqual(run.returncode, 0, run.stderr)
    self.assertRegex(run.stdout + run.stderr, "(?m)^(OK( |$)|skipped: NumPy is not there)")

  def test_bench_has_help(self):
    run = subprocess.run([sys.executable, "-m", "stridewise.bench", "--help"], env={"PYTHONPATH": str(unpacked.unpack())}, text=True,
                         capture_output=True, check=False)
    self.assertEqual(run.returncode, 0, run.stderr)
    self.assertIn("--call_time", run.stdout)

  def test_bench_refuses_bad_input_in_one_line(self):
    package = str(unpacked.unpack())
    for flag, value in (("--frameworks", "pytorch,numpi"), ("--dtypes", "float31"), ("--samples", "1"), ("--csv", "no_folder/a.csv")):
      with self.subTest(flag):
        run = subprocess.run([sys.executable, "-m", "stridewise.bench", f"{flag}={value}"], env={"PYTHONPATH": package}, text=True,
                             capture_output=True, check=False)
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertRegex(run.stderr, f"^{flag}: .* is not allowed; allowed is .*\n$")


if __name__ == "__main__":
  unittest.main()
