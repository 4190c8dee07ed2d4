"""The lines of docs/many_gpus.md for mpirun, where Open MPI is installed: ranks read its variables, and no MPI is linked."""

import os
import pathlib
import shutil
import socket
import subprocess
import unittest

WORKER = pathlib.Path(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"]) / "benchmarks/distributed/worker"


def free_port():
  with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    return probe.getsockname()[1]


@unittest.skipUnless(shutil.which("mpirun"), "there is no mpirun (Debian's openmpi-bin)")
class MpirunTest(unittest.TestCase):

  def run_ranks(self, ranks, *arguments, token="token of this test"):
    # Four ranks on fewer processors, and root, are what mpirun refuses unless it is told. A job's own variables would be
    # taken instead of Open MPI's.
    environment = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}
    environment.update(STRIDEWISE_JOB_TOKEN=token, OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1",
                       OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    environment.setdefault("HOME", environment.get("TEST_TMPDIR", "/tmp"))
    command = ["mpirun", "--oversubscribe", "-n", str(ranks), "-x", "MASTER_ADDR=127.0.0.1", "-x",
               f"MASTER_PORT={free_port()}", "-x", "STRIDEWISE_JOB_TOKEN", WORKER, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=50, check=False)

  def test_products_and_transposes(self):
    for ranks, grid in ((1, "1x1"), (4, "4x1"), (4, "2x2")):
      for operation, shape in (("matmul", "300x200x100"), ("transpose", "97x130")):
        ran = self.run_ranks(ranks, f"--operation={operation}", f"--shape={shape}", f"--grid={grid}")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertEqual(ran.stdout.count("\n"), 1, ran.stdout)
        self.assertIn(f"{operation} {shape} float, grid {grid}, ", ran.stdout)
        self.assertIn(": ok, ", ran.stdout)

  def test_bad_input_is_named(self):
    ran = self.run_ranks(2, "--grid=3x3")
    self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)
    self.assertIn("--grid: '3x3' is not allowed", ran.stderr)
    ran = self.run_ranks(2, token="short")
    self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)
    self.assertIn("STRIDEWISE_JOB_TOKEN: ", ran.stderr)


if __name__ == "__main__":
  unittest.main()
