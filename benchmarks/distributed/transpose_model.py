"""The time of a transpose whose pieces are copied to where they belong, as transpose/distributed/device_exchange.cc does it.

A kernel writes the first piece to the other GPU. Meanwhile the rank transposes the second into one of two buffers, from where a
copy engine takes it to the other GPU while the rank transposes a piece that stays and packs the next one. Kernels run on some of
the multiprocessors; SCHEDULES has how it was before, too. All of them use the same memory: a transpose reads and writes, an
outgoing copy reads, and one comes in, which writes, for the other ranks do the same at the same time. What they ask for together
the memory gives them in proportion, if it is more than it has: it serves requests as they come. While kernels and copies use it
at once it has less to give than to one of them.

A copy takes some time before its first byte, less where it is queued behind another one of its piece. Rows of blocks that follow
each other where they belong are one copy.

Two constants are fitted to transposes, SHARED and NEXT_COPY: to those of float on two GPUs. fit_transposes.py does that, and
judges them by the others.

  python3 benchmarks/distributed/transpose_model.py > docs/results/transpose_schedules.csv
"""
import csv
import math
import sys

LINK = 393e9  # Bytes/s each way, of copies both ways: what 256 MiB have more than 64 MiB, over what they take longer, two H100.
COPY_START = 11.2e-6  # Seconds of a copy before its first byte: what 64 MiB take longer than at that rate.
MEMORY = 2.93e12  # Bytes/s read and written: copy of 1 GiB in the memory of one H100.
MEMORY_H200 = 4.13e12  # Transpose of 32768 x 32768 floats on one H200.
SHARED = 0.9  # Of that, while kernels and copies use it at once: fitted.
NEXT_COPY = 6e-6  # Seconds before the first byte of a copy that is queued behind another one of its piece: fitted.
PIECE = 128 << 20  # DeviceTransposeOptions::piece_bytes.
ASKS = 48 * 43e9 / MEMORY  # What kernels on TransposeMultiprocessors() ask for, each of 43 GB/s read and written.
STORES = 1.174 / 1.079  # Bytes on the link of a kernel's stores over those of a copy, for each byte of data: its counters.
SCHEDULES = {
    "present": {},
    "copied": {"stores_first": False},  # All pieces.
    "all_multiprocessors": {"piece": 64 << 20, "asks": 1.0, "stores_first": False},  # Kernels on them, smaller pieces copied.
}


def common_runs(n, block, owners, owner, other_owners, other_owner):
  """Returns (length, first index at the other owner) of each run of indices of n that are dealt to both owners."""
  runs = []
  for index in range(math.ceil(n / block)):
    if index % owners == owner and index % other_owners == other_owner:
      first, length = index // other_owners * block, min(block, n - index * block)
      if runs and runs[-1][1] + runs[-1][0] == first:
        runs[-1] = (runs[-1][0] + length, runs[-1][1])
      else:
        runs.append((length, first))
  return runs


def pieces(n, p, q, block, element, rank, piece=PIECE):
  """Returns (bytes, copies) of each piece that leaves a rank of p x q, and the bytes of each that stays."""
  leaving, staying = [], []
  for step in range(p * q):
    partner = (step - rank) % (p * q)
    out_cols = common_runs(n, block, p, rank // q, q, partner % q)  # Rows of the rank's part.
    out_rows = common_runs(n, block, q, rank % q, p, partner // q)
    width = sum(length for length, _ in out_cols)
    rows_left = [length for length, _ in out_rows]
    most = max(piece // max(width * element, 1), 1)
    while width and rows_left:
      rows, copies = 0, 0
      while rows_left and rows < most:
        taken = min(rows_left[0], most - rows)
        rows, copies = rows + taken, copies + len(out_cols)
        rows_left[0] -= taken
        if not rows_left[0]:
          del rows_left[0]
      if partner != rank:
        leaving.append((rows * width * element, copies))
      else:
        staying.append(rows * width * element)
  return leaving, staying


def kernels(leaving, staying):
  """Returns (bytes, piece) of each transpose in the order of its queue; the piece is None where it stays."""
  queue = []
  for i in range(max(len(leaving), len(staying))):
    queue += [(leaving[i][0], i)] if i < len(leaving) else []
    queue += [(staying[i], None)] if i < len(staying) else []
  return queue


def transpose(n, p, q, block, element, piece=PIECE, copies_at_once=1, asks=ASKS, stores_first=True, memory=MEMORY, shared=SHARED,
              next_copy=NEXT_COPY):
  """Returns (total, communication) in seconds: of the rank that takes the longest, and of the copies of the one that copies the
  longest. On a square grid the ranks of the diagonal keep all, and others send all."""
  of_ranks = [pieces(n, p, q, block, element, rank, piece) for rank in range(p * q)]
  asks = min(asks * MEMORY / memory, 1.0) if asks < 1 else asks  # Multiprocessors ask for the same of any memory.
  return (max(seconds(leaving, staying, memory=memory, copies_at_once=copies_at_once, asks=asks if leaving else 1.0,
                      stores_first=stores_first, shared=shared, next_copy=next_copy) for leaving, staying in of_ranks),
          max(sum(COPY_START + (count - 1) * next_copy + size / LINK for size, count in leaving) for leaving, _ in of_ranks))


def seconds(leaving, staying, link=LINK, memory=MEMORY, start=COPY_START, copies_at_once=1, asks=1.0, stores_first=False,
            shared=1.0, next_copy=None):
  """Returns the seconds of a rank whose partners do the same. Goes from one change to the next: a kernel ends, a copy has
  started, a copy ends. Pieces are copied by `copies_at_once` queues in turn, which share the link; kernels ask for the
  part `asks` of the memory's rate. The first piece is written by its kernel with `stores_first`."""
  stored = leaving[0][0] if stores_first and leaving else 0
  work = [item for item in kernels(leaving, staying) if not stored or item[1] != 0]
  queues = [[] for _ in range(copies_at_once)]
  for piece, (size, count) in enumerate(leaving):
    if not stored or piece:
      queues[piece % copies_at_once] += [(size / count, piece)] * count
  left = [count for _, count in leaving]  # Copies of each piece.
  now, packed = 0.0, -1  # The last piece that is.
  kernel, copies = None, [None] * copies_at_once  # What runs: bytes of the memory; seconds to the start, bytes and piece.
  last = [None] * copies_at_once  # The piece of the copy before.
  if stored:
    left[0], packed = 0, 0  # It holds no buffer.
    left.append(1)
    copies.append([0.0, stored * STORES, len(leaving)])
  while work or any(queues) or kernel or any(copies):
    if not kernel and work and (work[0][1] is None or work[0][1] < 2 or not left[work[0][1] - 2]):  # Two buffers.
      size, piece = work.pop(0)
      kernel = [2 * size, piece]
    for number, queue in enumerate(queues):
      if not copies[number] and queue and queue[0][1] <= packed:
        size, piece = queue.pop(0)
        copies[number] = [next_copy if next_copy is not None and last[number] == piece else start, size, piece]
        last[number] = piece
    moving = [copy for copy in copies if copy and not copy[0]]
    asked = (asks * memory if kernel else 0) + (2 * link if moving else 0)
    share = min(1.0, memory * (shared if kernel and moving else 1.0) / asked) if asked else 1.0
    of_copy = share * link / max(len(moving), 1)
    step = min(([kernel[0] / (share * asks * memory)] if kernel else []) +
               [copy[1] / of_copy if not copy[0] else copy[0] for copy in copies if copy])
    now += step
    for number, copy in enumerate(copies):
      if copy and not copy[0]:
        copy[1] -= step * of_copy
        if copy[1] < 1:
          left[copy[2]] -= 1
          copies[number] = None
      elif copy:
        copy[0] = copy[0] - step if copy[0] - step > 1e-12 else 0.0
    if kernel:
      kernel[0] -= step * share * asks * memory
      if kernel[0] < 1:
        packed = packed if kernel[1] is None else kernel[1]
        kernel = None
  return now


def main():
  """Writes what 32768 x 32768 floats take on two and four GPUs by other schedules."""
  out = csv.writer(sys.stdout, lineterminator="\n")
  out.writerow("source,dtype,n,grid,block,piece_mb,copies_at_once,kernels_ask_pct,ms,link_ms".split(","))
  for p, q in ((1, 2), (2, 1), (1, 4), (2, 2)):
    for asks in (1.0, ASKS):
      for copies_at_once in (1, 2):
        for piece_mb in (16, 32, 64, 128, 256):
          total, link = transpose(32768, p, q, 2048, 4, piece_mb << 20, copies_at_once, asks)
          out.writerow(["computed", "float", 32768, f"{p}x{q}", 2048, piece_mb, copies_at_once, f"{100 * asks:.0f}",
                        f"{1e3 * total:.4g}", f"{1e3 * link:.4g}"])


if __name__ == "__main__":
  main()
