// wgmma for INT8 with few columns, which only the kernel of split.h has: here and not in
// matmul/device/mma/wgmma_sm90.h, which all kernels of tensor cores are compiled from.

#ifndef STRIDEWISE_MATMUL_DEVICE_INT8_NARROW_H_
#define STRIDEWISE_MATMUL_DEVICE_INT8_NARROW_H_

#include <cstdint>

#include "matmul/device/mma/wgmma_sm90.h"

namespace stridewise {

// One of 64 rows and `n` columns, whose accumulators %0 to %(n / 2 - 1) are `registers` in
// braces, bound by `...`.
#define STRIDEWISE_INT8_NARROW(n, registers, a, b, add, ...)                                       \
  template <>                                                                                      \
  struct Wgmma<int8_t, n, OperandLayout::kKMajor, OperandLayout::kKMajor> {                        \
    __device__ static void Multiply(uint64_t descriptor_a, uint64_t descriptor_b, bool accumulate, \
                                    int (&d)[n / 2]) {                                             \
      asm volatile(                                                                                \
          "{\n"                                                                                    \
          ".reg .pred accumulate;\n"                                                               \
          "setp.ne.b32 accumulate, " add                                                           \
          ", 0;\n"                                                                                 \
          "wgmma.mma_async.sync.aligned.m64n" #n "k32.s32.s8.s8 {" registers "}, " a ", " b        \
          ", accumulate;\n"                                                                        \
          "}\n"                                                                                    \
          : __VA_ARGS__                                                                            \
          : "l"(descriptor_a), "l"(descriptor_b), "r"(static_cast<int>(accumulate)));              \
    }                                                                                              \
  };
STRIDEWISE_INT8_NARROW(8, "%0, %1, %2, %3", "%4", "%5", "%6", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]),
                       "+r"(d[3]))
STRIDEWISE_INT8_NARROW(16, "%0, %1, %2, %3, %4, %5, %6, %7", "%8", "%9", "%10", "+r"(d[0]),
                       "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]),
                       "+r"(d[7]))
STRIDEWISE_INT8_NARROW(32, "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15",
                       "%16", "%17", "%18", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]),
                       "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]),
                       "+r"(d[10]), "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15]))
STRIDEWISE_INT8_NARROW(
    64,
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31",
    "%32", "%33", "%34", "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]),
    "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), "+r"(d[11]), "+r"(d[12]),
    "+r"(d[13]), "+r"(d[14]), "+r"(d[15]), "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]),
    "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]),
    "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]), "+r"(d[31]))
#undef STRIDEWISE_INT8_NARROW

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_INT8_NARROW_H_
