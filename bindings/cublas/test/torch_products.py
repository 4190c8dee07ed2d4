#!/usr/bin/env python3
"""Times PyTorch's FP32 products and writes CSV rows. Run it as it is, and with LD_PRELOAD.

    torch_products.py NAME >> cublas_drop_in.csv
"""

import sys

import torch


def median_ms(work, samples=7):
    flush = torch.empty(200 << 18, device="cuda")
    times = []
    for _ in range(samples + 1):
        flush.zero_()
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        stop.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(stop))
    return sorted(times[1:])[samples // 2]


def main():
    name = sys.argv[1]
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(1)
    for n in (1000, 1024, 2000, 2048, 3000, 4096, 8192, 16384):
        a, b = (torch.randn(n, n, device="cuda") for _ in range(2))
        out = torch.empty(n, n, device="cuda")
        ms = median_ms(lambda: torch.mm(a, b, out=out), 7 if n < 10000 else 3)
        row = a[n // 2].double() @ b.double()
        error = ((out[n // 2].double() - row).abs().max() / row.abs().max()).item()
        print(f"torch.mm,{name},{n}x{n}x{n},{error:.3g},{ms:.4f}")
    for batch, m, n, k in ((256, 512, 512, 64), (256, 512, 64, 512), (64, 197, 768, 768)):
        a, b = torch.randn(batch, m, k, device="cuda"), torch.randn(batch, k, n, device="cuda")
        out = torch.empty(batch, m, n, device="cuda")
        ms = median_ms(lambda: torch.bmm(a, b, out=out))
        row = a[0, m // 2].double() @ b[0].double()
        error = ((out[0, m // 2].double() - row).abs().max() / row.abs().max()).item()
        print(f"torch.bmm,{name},{batch} of {m}x{n}x{k},{error:.3g},{ms:.4f}")
    for m, n, k in ((8192, 4096, 1024), (8192, 1024, 4096), (512, 768, 768)):
        linear = torch.nn.Linear(k, n).cuda()
        x = torch.randn(m, k, device="cuda")
        with torch.no_grad():
            ms = median_ms(lambda: linear(x))
            y = linear(x)
            row = x[m // 2].double() @ linear.weight.double().t() + linear.bias.double()
        error = ((y[m // 2].double() - row).abs().max() / row.abs().max()).item()
        print(f"torch linear,{name},{m}x{n}x{k},{error:.3g},{ms:.4f}")


if __name__ == "__main__":
    main()
