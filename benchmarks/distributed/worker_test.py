"""Four ranks as processes of one machine: results, a lost rank, a missing rank, a wrong token, bad input."""

import os
import pathlib
import shutil
import signal
import socket
import subprocess
import time
import unittest

WORKER = pathlib.Path(os.environ["TEST_SRCDIR"], os.environ["TEST_WORKSPACE"]) / "benchmarks/distributed/worker"
TOKEN = "token of this test"


def free_port():
  with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    return probe.getsockname()[1]


def gpus_of_this_machine():
  try:
    listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=True)
  except (OSError, subprocess.CalledProcessError):
    return 0
  return listed.stdout.count("GPU ")


class WorkerTest(unittest.TestCase):

  def start(self, arguments, ranks=range(4), port=None, short_of_memory=None, **variables):
    """Starts ranks of a job of four, and returns the processes by rank. The rank that is short of memory has 64 MB."""
    port = port or free_port()
    processes = {}
    for rank in ranks:
      environment = dict(os.environ, RANK=str(rank), WORLD_SIZE="4", LOCAL_RANK=str(rank), MASTER_ADDR="127.0.0.1",
                         MASTER_PORT=str(port), STRIDEWISE_JOB_TOKEN=TOKEN, OMP_NUM_THREADS="1")
      environment.update(variables)
      limit = ["prlimit", f"--as={64 << 20}"] if rank == short_of_memory else []
      process = subprocess.Popen([*limit, WORKER, *arguments], env=environment, stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE, text=True)
      self.addCleanup(process.wait)
      self.addCleanup(process.kill)
      processes[rank] = process
    return processes

  def finish(self, processes, seconds=30):
    """Returns the exit code, output and errors of each rank."""
    results = {}
    for rank, process in processes.items():
      out, err = process.communicate(timeout=seconds)
      results[rank] = (process.returncode, out, err)
    return results

  def expect_lost(self, results, lost):
    """Each rank exits with 3 and one line that names the lost rank."""
    for rank, (code, _, err) in results.items():
      self.assertEqual(code, 3, (rank, err))
      self.assertEqual(err.count("\n"), 1, err)
      self.assertTrue(err.startswith(f"rank {rank} ends: "), err)
      self.assertIn(f"rank {lost} ", err.split(": ", 1)[1])

  def expect_right(self, operation, shapes, block, problems, *more):
    for grid in ("1x4", "2x2", "4x1"):
      arguments = [f"--operation={operation}", f"--shape={shapes}", f"--grid={grid}", f"--block={block}",
                   "--types=float,double", *more]
      for rank, (code, out, err) in self.finish(self.start(arguments)).items():
        self.assertEqual((code, err), (0, ""), (grid, rank, out))
        lines = out.splitlines()
        self.assertEqual(len(lines), 2 * problems if rank == 0 else 0)
        for line in lines:
          self.assertIn(": ok, ", line)
          self.assertIn(f"grid {grid}", line)

  def test_products(self):
    self.expect_right("matmul", "0x5x3,5x0x3,7x5x0,1x1x1,37x41x43,101x67x131", "5x3x7", 6, "--alpha=1.5", "--beta=-0.5")

  def test_transposes(self):
    self.expect_right("transpose", "0x5,5x0,1x1,1x97,97x1,101x67,300x200", "5x3", 7)

  def test_a_killed_rank_ends_all_others(self):
    for lost, operation, shape in ((2, "matmul", "200x200x200"), (0, "transpose", "300x300")):
      processes = self.start([f"--operation={operation}", f"--shape={shape}", "--repeat=1000000"])
      processes[0].stdout.readline()  # It runs.
      killed = processes.pop(lost)
      killed.kill()
      killed.communicate()
      begin = time.monotonic()
      self.expect_lost(self.finish(processes), lost)
      self.assertLess(time.monotonic() - begin, 20)  # And not the time-out, 60 s.

  def test_a_rank_that_stops_answering_ends_all_within_the_timeout(self):
    processes = self.start(["--shape=100x100x100", "--repeat=1000000", "--timeout=4"])
    processes[0].stdout.readline()
    stopped = processes.pop(3)
    stopped.send_signal(signal.SIGSTOP)
    begin = time.monotonic()
    results = self.finish(processes)
    self.assertLess(time.monotonic() - begin, 20)
    for rank, (code, _, err) in results.items():
      self.assertEqual(code, 3, (rank, err))
      self.assertEqual(err.count("\n"), 1, err)

  @unittest.skipUnless(shutil.which("prlimit"), "there is no prlimit")
  def test_a_rank_that_is_short_of_memory_ends_all(self):
    alone = self.finish(self.start(["--shape=10x10x10"], ranks=(0,), short_of_memory=0, WORLD_SIZE="1"))
    if alone[0][0] != 0:
      self.skipTest("the worker itself takes more than 64 MB, as with a sanitizer")
    # Each part of C, or of the transpose, has 64 MB.
    for arguments in (["--shape=8192x8192x1"], ["--operation=transpose", "--shape=8192x8192"]):
      results = self.finish(self.start(arguments, short_of_memory=2))
      code, _, err = results.pop(2)
      self.assertEqual((code, err.count("\n")), (3, 1), err)
      self.assertIn("rank 2 ends: rank 2: no memory for a part of 8192x2048 elements", err)
      self.expect_lost(results, 2)

  def test_a_missing_rank_is_named_by_all(self):
    self.expect_lost(self.finish(self.start(["--timeout=4"], ranks=(0, 1, 3))), 2)

  def test_who_has_no_token_is_closed_and_counts_for_nothing(self):
    port = free_port()
    arguments = ["--shape=50x50x50", "--timeout=20"]
    job = self.start(arguments, ranks=(0, 1), port=port)
    # Another says that it is rank 2, and a stranger says nothing of use.
    impostor = self.start(arguments, ranks=(2,), port=port, STRIDEWISE_JOB_TOKEN="token of that test")
    code, _, err = self.finish(impostor)[2]
    self.assertEqual(code, 3)
    self.assertIn("STRIDEWISE_JOB_TOKEN", err)
    self.assertNotIn("token of", err)
    with socket.create_connection(("127.0.0.1", port), timeout=10) as stranger:
      stranger.sendall(b"x" * 4096)
      stranger.settimeout(10)
      try:
        self.assertEqual(stranger.recv(1), b"")
      except ConnectionResetError:
        pass
    job.update(self.start(arguments, ranks=(2, 3), port=port))
    for rank, (code, _, err) in self.finish(job).items():
      self.assertEqual((code, err), (0, ""), rank)

  def test_bad_input_is_one_line_that_names_it(self):
    for names, arguments, variables in (
        ("--grid", ["--grid=3x2"], {}),
        ("--grid", ["--grid=0x4"], {}),
        ("--shape", ["--shape=3x4"], {}),
        ("--block", ["--block=0x1x1"], {}),
        ("--types", ["--types=half"], {}),
        ("--operation", ["--operation=permute"], {}),
        ("--device", ["--device=tpu"], {}),
        ("--transport", ["--device=gpu", "--operation=transpose"], {}),
        ("--transport", ["--device=gpu"], {}),
        ("--transport", ["--transport=nccl"], {}),
        ("--transport", ["--transport=direct"], {}),
        ("--transport", ["--device=gpu", "--transport=nccl"], {"STRIDEWISE_NCCL": "/missing.so"}),
        ("--types", ["--device=gpu", "--transport=nccl", "--types=double"], {}),
        ("--timeout", ["--timeout=0"], {}),
        ("--repeat", ["--repeat=0"], {}),
        ("WORLD_SIZE", [], {"WORLD_SIZE": "none"}),
        ("RANK", [], {"RANK": "4"}),
        ("MASTER_PORT", [], {"MASTER_PORT": "0"}),
        ("STRIDEWISE_JOB_TOKEN", [], {"STRIDEWISE_JOB_TOKEN": "short"}),
    ):
      code, out, err = self.finish(self.start(arguments, ranks=(1,), **variables))[1]
      self.assertEqual((code, out), (2, ""), (names, err))
      self.assertEqual(err.count("\n"), 1, err)
      self.assertTrue(err.startswith(names + ": "), err)


  def expect_right_on_gpus(self, problems, *arguments):
    gpus = gpus_of_this_machine()
    if gpus < 2:
      self.skipTest(f"{gpus} GPUs")
    ranks = 4 if gpus >= 4 else 2
    for transport in ("nccl", "direct"):
      for grid in (f"1x{ranks}", f"{ranks}x1", f"2x{ranks // 2}"):
        jobs = self.start([f"--grid={grid}", "--device=gpu", f"--transport={transport}", *arguments],
                          ranks=range(ranks), WORLD_SIZE=str(ranks), NCCL_NVLS_ENABLE="0")
        for rank, (code, out, err) in self.finish(jobs, seconds=120).items():
          self.assertEqual(code, 0, (transport, rank, err))
          self.assertEqual(out.count(": ok, "), problems if rank == 0 else 0, out)

  def test_products_on_the_gpus_of_this_machine(self):
    self.expect_right_on_gpus(2, "--shape=1000x700x900,33x5x129", "--alpha=2", "--beta=-1")

  def test_transposes_on_the_gpus_of_this_machine(self):
    self.expect_right_on_gpus(4, "--operation=transpose", "--shape=9000x7000,33x5", "--types=float,double")


if __name__ == "__main__":
  unittest.main()
