// More widths of the warpgroup instructions of wgmma_sm90.h for 16-bit operands: 8, 16 and 32
// columns for products with few rows or columns, and 192, whose tiles divide what 128 and 256 do
// not.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_WGMMA_WIDTHS_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_WGMMA_WIDTHS_H_

#include "matmul/device/mma/wgmma_sm90.h"

namespace stridewise {

#define STRIDEWISE_REGISTERS_4 "%0, %1, %2, %3"
#define STRIDEWISE_REGISTERS_8 "%0, %1, %2, %3, %4, %5, %6, %7"
#define STRIDEWISE_REGISTERS_16 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define STRIDEWISE_REGISTERS_96                                                                \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, " \
  "%20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, " \
  "%38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, " \
  "%56, %57, %58, %59, %60, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, " \
  "%74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, " \
  "%92, %93, %94, %95"
#define STRIDEWISE_OUT_4(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define STRIDEWISE_OUT_8(d, i) STRIDEWISE_OUT_4(d, i), STRIDEWISE_OUT_4(d, i + 4)
#define STRIDEWISE_OUT_16(d, i) STRIDEWISE_OUT_8(d, i), STRIDEWISE_OUT_8(d, i + 8)
#define STRIDEWISE_OUT_32(d, i) STRIDEWISE_OUT_16(d, i), STRIDEWISE_OUT_16(d, i + 16)
#define STRIDEWISE_OUT_64(d, i) STRIDEWISE_OUT_32(d, i), STRIDEWISE_OUT_32(d, i + 32)
#define STRIDEWISE_OUT_96(d, i) STRIDEWISE_OUT_64(d, i), STRIDEWISE_OUT_32(d, i + 64)

#define STRIDEWISE_WGMMA(element, n, registers, type, a, b, scale, turn_a, turn_b)                 \
  template <OperandLayout kMajorA, OperandLayout kMajorB>                                          \
  struct Wgmma<element, n, kMajorA, kMajorB> {                                                     \
    __device__ static void Multiply(uint64_t descriptor_a, uint64_t descriptor_b, bool accumulate, \
                                    float (&d)[registers]) {                                       \
      asm volatile(                                                                                \
          "{\n"                                                                                    \
          ".reg .pred accumulate;\n"                                                               \
          "setp.ne.b32 accumulate, " scale                                                         \
          ", 0;\n"                                                                                 \
          "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32." type "." type                          \
          " {" STRIDEWISE_REGISTERS_##registers "}, " a ", " b ", accumulate, 1, 1, " turn_a       \
                                                ", " turn_b                                        \
                                                ";\n"                                              \
                                                "}\n"                                              \
          : STRIDEWISE_OUT_##registers(d, 0)                                                       \
          : "l"(descriptor_a), "l"(descriptor_b), "r"(static_cast<int>(accumulate)),               \
            "n"(kMajorA == OperandLayout::kMnMajor), "n"(kMajorB == OperandLayout::kMnMajor));     \
    }                                                                                              \
  };
STRIDEWISE_WGMMA(__nv_bfloat16, 8, 4, "bf16", "%4", "%5", "%6", "%7", "%8")
STRIDEWISE_WGMMA(__nv_bfloat16, 16, 8, "bf16", "%8", "%9", "%10", "%11", "%12")
STRIDEWISE_WGMMA(__nv_bfloat16, 32, 16, "bf16", "%16", "%17", "%18", "%19", "%20")
STRIDEWISE_WGMMA(__nv_bfloat16, 192, 96, "bf16", "%96", "%97", "%98", "%99", "%100")
STRIDEWISE_WGMMA(__half, 8, 4, "f16", "%4", "%5", "%6", "%7", "%8")
STRIDEWISE_WGMMA(__half, 16, 8, "f16", "%8", "%9", "%10", "%11", "%12")
STRIDEWISE_WGMMA(__half, 32, 16, "f16", "%16", "%17", "%18", "%19", "%20")

#undef STRIDEWISE_WGMMA
#undef STRIDEWISE_OUT_4
#undef STRIDEWISE_OUT_8
#undef STRIDEWISE_OUT_16
#undef STRIDEWISE_OUT_32
#undef STRIDEWISE_OUT_64
#undef STRIDEWISE_OUT_96
#undef STRIDEWISE_REGISTERS_4
#undef STRIDEWISE_REGISTERS_8
#undef STRIDEWISE_REGISTERS_16
#undef STRIDEWISE_REGISTERS_96

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_WGMMA_WIDTHS_H_
