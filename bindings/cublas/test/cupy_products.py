#!/usr/bin/env python3
"""Times CuPy's FP32 products, cold L2. Prints a line for each: case,ms,error of a row over its largest element.

The program knows nothing of Stridewise; measure_drop_in.py runs it.
"""

import cupy

WARMUPS = 8  # By as many calls STRIDEWISE_CUBLAS=measure decides.


def main():
    flush = cupy.empty(200 << 18, dtype=cupy.float32)
    for n in (1000, 2048, 4096, 8192):
        a, b = (cupy.random.standard_normal((n, n), dtype=cupy.float32) for _ in range(2))
        times = []
        for _ in range(WARMUPS + 9):
            flush.fill(0)
            start, stop = cupy.cuda.Event(), cupy.cuda.Event()
            start.record()
            product = cupy.dot(a, b)
            stop.record()
            stop.synchronize()
            times.append(cupy.cuda.get_elapsed_time(start, stop))
        exact = a[n // 2].astype(cupy.float64) @ b.astype(cupy.float64)
        error = float(cupy.abs(product[n // 2] - exact).max() / cupy.abs(exact).max())
        print(f"dot {n}x{n}x{n},{sorted(times[WARMUPS:])[4]:.5f},{error:.3g}")


if __name__ == "__main__":
    main()
