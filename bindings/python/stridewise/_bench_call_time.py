"""The host's time of calls on a tiny array."""

import statistics
import time

import stridewise
from stridewise import _core

_FROM_C = "stridewise_permute in C"


def call_times(framework, commit):
  """Yields the host's time of calls on a tiny array, in the columns of call_time.csv; over_c_us is what it takes more than the C call."""
  x, out = framework.make((8, 8), "float32"), framework.make((8, 8), "float32")
  calls = {
    _FROM_C: lambda: _core.time_c_call(x, (1, 0), out, 100) * 1e6,
    "stridewise.permute with out": lambda: stridewise.permute(x, (1, 0), out),
    "stridewise.transpose with out": lambda: stridewise.transpose(x, out),
    "stridewise.transpose": lambda: stridewise.transpose(x),
    "stridewise.matmul with out": lambda: stridewise.matmul(x, x, out),
    f"{framework.name} transpose": lambda: framework.permute(x, (1, 0)),
    f"{framework.name} matmul": lambda: framework.multiply(x, x),
  }
  if framework.name == "pytorch":
    from stridewise import torch as operators

    calls["stridewise.torch.transpose"] = lambda: operators.transpose(x)
  for name, call in calls.items():
    for _ in range(20):
      call()
    times = []
    for _ in range(50):
      framework.milliseconds(lambda: None)  # Waits, so that the queue is not full.
      if name == _FROM_C:
        times.append(call())
        continue
      begin = time.perf_counter()
      for _ in range(100):
        call()
      times.append((time.perf_counter() - begin) * 1e4)
    times.sort()
    median = statistics.median(times)
    if name == _FROM_C:
      from_c = median
    yield {"git_commit": commit, "call": name, "shape": "8x8", "queue": "idle", "samples": len(times),
           "median_us": f"{median:.3f}", "p95_us": f"{times[int(0.95 * len(times))]:.3f}", "min_us": f"{times[0]:.3f}",
           "over_c_us": f"{median - from_c:.3f}"}
