#!/usr/bin/env python3
"""Times PyTorch's FP32 products, cold L2. Prints a line for each: case,ms,error of a row over its largest element.

The program knows nothing of Stridewise; measure_drop_in.py runs it.
"""

import torch

WARMUPS = 8  # By as many calls STRIDEWISE_CUBLAS=measure decides.


def median_ms(work, samples):
    flush = torch.empty(200 << 18, device="cuda")
    times = []
    for _ in range(WARMUPS + samples):
        flush.zero_()
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        stop.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(stop))
    return sorted(times[WARMUPS:])[samples // 2]


def show(case, work, row, exact, samples=9):
    """`row` and `exact` return a row of what `work` computes."""
    ms = median_ms(work, samples)
    error = ((row().double() - exact).abs().max() / exact.abs().max()).item()
    print(f"{case},{ms:.5f},{error:.3g}")


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(1)
    for n in (1000, 1024, 2000, 2048, 3000, 4096, 8192, 16384):
        a, b = (torch.randn(n, n, device="cuda") for _ in range(2))
        out = torch.empty(n, n, device="cuda")
        exact = a[n // 2].double() @ b.double()
        show(f"mm {n}x{n}x{n}", lambda: torch.mm(a, b, out=out), lambda: out[n // 2], exact, 9 if n < 10000 else 3)
    for batch, m, n, k in ((256, 512, 512, 64), (256, 512, 64, 512), (64, 197, 768, 768), (1000, 64, 64, 64)):
        a, b = torch.randn(batch, m, k, device="cuda"), torch.randn(batch, k, n, device="cuda")
        out = torch.empty(batch, m, n, device="cuda")
        exact = a[0, m // 2].double() @ b[0].double()
        show(f"bmm {batch} of {m}x{n}x{k}", lambda: torch.bmm(a, b, out=out), lambda: out[0, m // 2], exact)
    for m, n, k in ((8192, 4096, 1024), (8192, 1024, 4096), (512, 768, 768)):
        linear = torch.nn.Linear(k, n).cuda()
        x = torch.randn(m, k, device="cuda")
        with torch.no_grad():
            exact = x[m // 2].double() @ linear.weight.double().t() + linear.bias.double()
            show(f"linear {m}x{n}x{k}", lambda: linear(x), lambda: linear(x)[m // 2], exact)


if __name__ == "__main__":
    main()
