// The warpgroup matrix instructions of compute capability 9.0a: D += A * B with both operands in
// shared memory, D in the registers of four warps. PTX ISA: "wgmma.mma_async".
//
// D is 64 x kN. Thread t of the warpgroup holds, for j < kN / 8, d[4j] and d[4j + 1], the elements
// of row t / 32 * 16 + t % 32 / 4 in columns 8j + t % 4 * 2 and the next; and d[4j + 2] and
// d[4j + 3], those eight rows below.
//
// The products of an instruction are aligned to the largest of them and cut off at 25 fractional
// bits, toward zero.
//
// fma.h has the interface; a fragment is the descriptor of a tile in shared memory.

#ifndef STRIDEWISE_MATMUL_DEVICE_MMA_WGMMA_SM90_H_
#define STRIDEWISE_MATMUL_DEVICE_MMA_WGMMA_SM90_H_

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>

#include "matmul/device/operand.h"

namespace stridewise {

// Rows of an operand's tile in shared memory have this many bytes, but for those of split_tile.h,
// and their 16-byte pieces are exchanged as the TMA's 128-byte swizzle does: piece p of row r lies
// at p ^ (r % 8).
constexpr int kSwizzleBytes = 128;
constexpr int kSwizzleRows = 8;

// Orders accesses to the accumulators' registers before the next multiplications.
__device__ inline void FenceWgmma() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
// Ends a group of multiplications.
__device__ inline void CommitWgmma() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Waits until at most kPending groups are running.
template <int kPending>
__device__ inline void WaitForWgmma() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}

// Describes a tile in shared memory whose swizzled rows begin at `address`, a multiple of 1024 (of
// 512 where rows have 64 bytes; their pieces are exchanged in pairs of rows).
// OperandLayout::kKMajor: rows are those of the tile, 128 bytes of k each. OperandLayout::kMnMajor:
// a row is one k and 128 bytes of m or n; such panels of `panel_bytes` follow each other.
template <OperandLayout kMajor, int kRowBytes = kSwizzleBytes>
__device__ inline uint64_t TileDescriptor(uint32_t address, uint32_t panel_bytes) {
  static_assert(kRowBytes == 128 || (kRowBytes == 64 && kMajor == OperandLayout::kKMajor));
  constexpr uint64_t kSwizzle = uint64_t{kRowBytes == 128 ? 1 : 2} << 62;
  constexpr uint64_t kGroupBytes = kSwizzleRows * kRowBytes;
  const uint64_t panel = kMajor == OperandLayout::kKMajor ? 1 : panel_bytes >> 4;
  return kSwizzle | (kGroupBytes >> 4) << 32 | panel << 16 | (address & 0x3ffff) >> 4;
}

// What to add to a descriptor for the next kBytesOfK bytes of k, 32 for each instruction.
template <OperandLayout kMajor, typename Element>
__host__ __device__ constexpr uint64_t DescriptorStep() {
  // A K-major row goes on; an MN-major tile has one row for each k.
  return (kMajor == OperandLayout::kKMajor ? 32 : 32 / sizeof(Element) * kSwizzleBytes) >> 4;
}

// Lists of operands for the instructions below.
#define STRIDEWISE_REGISTERS_4 "%0, %1, %2, %3"
#define STRIDEWISE_REGISTERS_8 STRIDEWISE_REGISTERS_4 ", %4, %5, %6, %7"
#define STRIDEWISE_REGISTERS_16 STRIDEWISE_REGISTERS_8 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define STRIDEWISE_REGISTERS_32 \
  STRIDEWISE_REGISTERS_16       \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define STRIDEWISE_REGISTERS_44 \
  STRIDEWISE_REGISTERS_32       \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43"
#define STRIDEWISE_REGISTERS_48 STRIDEWISE_REGISTERS_44 ", %44, %45, %46, %47"
#define STRIDEWISE_REGISTERS_56 STRIDEWISE_REGISTERS_48 ", %48, %49, %50, %51, %52, %53, %54, %55"
#define STRIDEWISE_REGISTERS_64 \
  STRIDEWISE_REGISTERS_56       \
  ", %56, %57, %58, %59, %60, %61, %62, %63"
#define STRIDEWISE_REGISTERS_72 STRIDEWISE_REGISTERS_64 ", %64, %65, %66, %67, %68, %69, %70, %71"
#define STRIDEWISE_REGISTERS_80 STRIDEWISE_REGISTERS_72 ", %72, %73, %74, %75, %76, %77, %78, %79"
#define STRIDEWISE_REGISTERS_96 \
  STRIDEWISE_REGISTERS_80       \
  ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define STRIDEWISE_REGISTERS_112 \
  STRIDEWISE_REGISTERS_96        \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"
#define STRIDEWISE_REGISTERS_128                                                                 \
  STRIDEWISE_REGISTERS_112                                                                       \
  ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, " \
  "%127"
// `in` is the constraint of a register's type, "+f" or "+r".
#define STRIDEWISE_OUT_4(in, d, i) in(d[i]), in(d[i + 1]), in(d[i + 2]), in(d[i + 3])
#define STRIDEWISE_OUT_8(in, d, i) STRIDEWISE_OUT_4(in, d, i), STRIDEWISE_OUT_4(in, d, i + 4)
#define STRIDEWISE_OUT_16(in, d, i) STRIDEWISE_OUT_8(in, d, i), STRIDEWISE_OUT_8(in, d, i + 8)
#define STRIDEWISE_OUT_32(in, d, i) STRIDEWISE_OUT_16(in, d, i), STRIDEWISE_OUT_16(in, d, i + 16)
#define STRIDEWISE_OUT_44(in, d, i) \
  STRIDEWISE_OUT_32(in, d, i), STRIDEWISE_OUT_8(in, d, i + 32), STRIDEWISE_OUT_4(in, d, i + 40)
#define STRIDEWISE_OUT_48(in, d, i) STRIDEWISE_OUT_32(in, d, i), STRIDEWISE_OUT_16(in, d, i + 32)
#define STRIDEWISE_OUT_56(in, d, i) STRIDEWISE_OUT_48(in, d, i), STRIDEWISE_OUT_8(in, d, i + 48)
#define STRIDEWISE_OUT_64(in, d, i) STRIDEWISE_OUT_32(in, d, i), STRIDEWISE_OUT_32(in, d, i + 32)
#define STRIDEWISE_OUT_72(in, d, i) STRIDEWISE_OUT_64(in, d, i), STRIDEWISE_OUT_8(in, d, i + 64)
#define STRIDEWISE_OUT_80(in, d, i) STRIDEWISE_OUT_64(in, d, i), STRIDEWISE_OUT_16(in, d, i + 64)
#define STRIDEWISE_OUT_96(in, d, i) STRIDEWISE_OUT_64(in, d, i), STRIDEWISE_OUT_32(in, d, i + 64)
#define STRIDEWISE_OUT_112(in, d, i) STRIDEWISE_OUT_96(in, d, i), STRIDEWISE_OUT_16(in, d, i + 96)
#define STRIDEWISE_OUT_128(in, d, i) STRIDEWISE_OUT_64(in, d, i), STRIDEWISE_OUT_64(in, d, i + 64)

// Elements of 8-bit floating-point operands that differ: A's type and B's. As elements of a matrix
// they are bytes.
struct E4m3TimesE5m2 {
  uint8_t bits;
};
struct E5m2TimesE4m3 {
  uint8_t bits;
};

// D = A * B, or D += A * B where `accumulate`, for 32 bytes of k. kN is 64 to 256; with 16-bit
// operands also 8, 16 and 32, for products with few rows or columns. 88, 96, 112, 144, 160, 192 and
// 224 are for tiles that divide what 128 and 256 do not.
template <typename Element, int kN, OperandLayout kMajorA, OperandLayout kMajorB>
struct Wgmma;

// The same for FP16 with sums in FP16, rounded after each instruction. D has pairs of neighbours
// along n: d[2j] is what d[4j] and d[4j + 1] are above, d[2j + 1] the pair eight rows below.
template <int kN, OperandLayout kMajorA, OperandLayout kMajorB>
struct WgmmaFp16Sums;

// Defines the struct that the last arguments name, for 16-bit operands of any layout. `a` to
// `turn_b` are the operands of the instruction that follow the registers of D.
#define STRIDEWISE_WGMMA_16BIT(n, registers, sum, in, types, a, b, add, turn_a, turn_b, ...)       \
  template <OperandLayout kMajorA, OperandLayout kMajorB>                                          \
  struct __VA_ARGS__ {                                                                             \
    static constexpr int kM = 64, kN = n, kK = 16;                                                 \
    using FragmentA = uint64_t;                                                                    \
    using FragmentB = uint64_t;                                                                    \
    using Accumulator = sum[registers];                                                            \
    __device__ static void Multiply(uint64_t descriptor_a, uint64_t descriptor_b, bool accumulate, \
                                    sum (&d)[registers]) {                                         \
      asm volatile(                                                                                \
          "{\n"                                                                                    \
          ".reg .pred accumulate;\n"                                                               \
          "setp.ne.b32 accumulate, " add                                                           \
          ", 0;\n"                                                                                 \
          "wgmma.mma_async.sync.aligned.m64n" #n "k16." types                                      \
          " {" STRIDEWISE_REGISTERS_##registers "}, " a ", " b ", accumulate, 1, 1, " turn_a       \
                                                ", " turn_b                                        \
                                                ";\n"                                              \
                                                "}\n"                                              \
          : STRIDEWISE_OUT_##registers(in, d, 0)                                                   \
          : "l"(descriptor_a), "l"(descriptor_b), "r"(static_cast<int>(accumulate)),               \
            "n"(kMajorA == OperandLayout::kMnMajor), "n"(kMajorB == OperandLayout::kMnMajor));     \
    }                                                                                              \
  };
#define STRIDEWISE_WGMMA_SUMS(element, types, n, registers, a, b, add, turn_a, turn_b) \
  STRIDEWISE_WGMMA_16BIT(n, registers, float, "+f", types, a, b, add, turn_a, turn_b,  \
                         Wgmma<element, n, kMajorA, kMajorB>)
#define STRIDEWISE_WGMMA_EACH_TYPE(n, registers, ...)                              \
  STRIDEWISE_WGMMA_SUMS(__nv_bfloat16, "f32.bf16.bf16", n, registers, __VA_ARGS__) \
  STRIDEWISE_WGMMA_SUMS(__half, "f32.f16.f16", n, registers, __VA_ARGS__)
STRIDEWISE_WGMMA_EACH_TYPE(8, 4, "%4", "%5", "%6", "%7", "%8")
STRIDEWISE_WGMMA_EACH_TYPE(16, 8, "%8", "%9", "%10", "%11", "%12")
STRIDEWISE_WGMMA_EACH_TYPE(32, 16, "%16", "%17", "%18", "%19", "%20")
STRIDEWISE_WGMMA_EACH_TYPE(64, 32, "%32", "%33", "%34", "%35", "%36")
STRIDEWISE_WGMMA_EACH_TYPE(96, 48, "%48", "%49", "%50", "%51", "%52")
STRIDEWISE_WGMMA_EACH_TYPE(112, 56, "%56", "%57", "%58", "%59", "%60")
STRIDEWISE_WGMMA_EACH_TYPE(128, 64, "%64", "%65", "%66", "%67", "%68")
STRIDEWISE_WGMMA_EACH_TYPE(144, 72, "%72", "%73", "%74", "%75", "%76")
STRIDEWISE_WGMMA_EACH_TYPE(160, 80, "%80", "%81", "%82", "%83", "%84")
STRIDEWISE_WGMMA_EACH_TYPE(192, 96, "%96", "%97", "%98", "%99", "%100")
STRIDEWISE_WGMMA_EACH_TYPE(224, 112, "%112", "%113", "%114", "%115", "%116")
STRIDEWISE_WGMMA_EACH_TYPE(256, 128, "%128", "%129", "%130", "%131", "%132")

#define STRIDEWISE_WGMMA_FP16_SUMS(n, registers, ...)                              \
  STRIDEWISE_WGMMA_16BIT(n, registers, uint32_t, "+r", "f16.f16.f16", __VA_ARGS__, \
                         WgmmaFp16Sums<n, kMajorA, kMajorB>)
STRIDEWISE_WGMMA_FP16_SUMS(128, 32, "%32", "%33", "%34", "%35", "%36")
STRIDEWISE_WGMMA_FP16_SUMS(256, 64, "%64", "%65", "%66", "%67", "%68")

// Types whose operands are both K-major. `scales` follows the predicate: ", 1, 1" but for integers.
#define STRIDEWISE_WGMMA_K_MAJOR(element, n, registers, sum, in, depth, types, scales, a, b, add)  \
  template <>                                                                                      \
  struct Wgmma<element, n, OperandLayout::kKMajor, OperandLayout::kKMajor> {                       \
    static constexpr int kM = 64, kN = n, kK = depth;                                              \
    using FragmentA = uint64_t;                                                                    \
    using FragmentB = uint64_t;                                                                    \
    using Accumulator = sum[registers];                                                            \
    __device__ static void Multiply(uint64_t descriptor_a, uint64_t descriptor_b, bool accumulate, \
                                    sum (&d)[registers]) {                                         \
      asm volatile(                                                                                \
          "{\n"                                                                                    \
          ".reg .pred accumulate;\n"                                                               \
          "setp.ne.b32 accumulate, " add                                                           \
          ", 0;\n"                                                                                 \
          "wgmma.mma_async.sync.aligned.m64n" #n "k" #depth "." types                              \
          " {" STRIDEWISE_REGISTERS_##registers "}, " a ", " b ", accumulate" scales               \
                                                ";\n"                                              \
                                                "}\n"                                              \
          : STRIDEWISE_OUT_##registers(in, d, 0)                                                   \
          : "l"(descriptor_a), "l"(descriptor_b), "r"(static_cast<int>(accumulate)));              \
    }                                                                                              \
  };
#define STRIDEWISE_WGMMA_8BIT(element, sum, in, types, scales)                                \
  STRIDEWISE_WGMMA_K_MAJOR(element, 88, 44, sum, in, 32, types, scales, "%44", "%45", "%46")  \
  STRIDEWISE_WGMMA_K_MAJOR(element, 96, 48, sum, in, 32, types, scales, "%48", "%49", "%50")  \
  STRIDEWISE_WGMMA_K_MAJOR(element, 128, 64, sum, in, 32, types, scales, "%64", "%65", "%66") \
  STRIDEWISE_WGMMA_K_MAJOR(element, 192, 96, sum, in, 32, types, scales, "%96", "%97", "%98") \
  STRIDEWISE_WGMMA_K_MAJOR(element, 256, 128, sum, in, 32, types, scales, "%128", "%129", "%130")
STRIDEWISE_WGMMA_8BIT(int8_t, int, "+r", "s32.s8.s8", "")
STRIDEWISE_WGMMA_8BIT(__nv_fp8_e4m3, float, "+f", "f32.e4m3.e4m3", ", 1, 1")
STRIDEWISE_WGMMA_8BIT(__nv_fp8_e5m2, float, "+f", "f32.e5m2.e5m2", ", 1, 1")
STRIDEWISE_WGMMA_8BIT(E4m3TimesE5m2, float, "+f", "f32.e4m3.e5m2", ", 1, 1")
STRIDEWISE_WGMMA_8BIT(E5m2TimesE4m3, float, "+f", "f32.e5m2.e4m3", ", 1, 1")
// TF32: of each float the 13 last bits are not looked at.
STRIDEWISE_WGMMA_K_MAJOR(float, 64, 32, float, "+f", 8, "f32.tf32.tf32", ", 1, 1", "%32", "%33",
                         "%34")
STRIDEWISE_WGMMA_K_MAJOR(float, 128, 64, float, "+f", 8, "f32.tf32.tf32", ", 1, 1", "%64", "%65",
                         "%66")
STRIDEWISE_WGMMA_K_MAJOR(float, 192, 96, float, "+f", 8, "f32.tf32.tf32", ", 1, 1", "%96", "%97",
                         "%98")
STRIDEWISE_WGMMA_K_MAJOR(float, 256, 128, float, "+f", 8, "f32.tf32.tf32", ", 1, 1", "%128", "%129",
                         "%130")

// TF32 with A in registers, where A's tile is MN-major in shared memory, which the instruction does
// not take: a[0] and a[1] are the elements (lane / 4, lane % 4) of a warp's 16 rows and 8 of k, and
// that eight rows below; a[2] and a[3] are four further along k.
#define STRIDEWISE_WGMMA_A_IN_REGISTERS(n, registers, a0, a1, a2, a3, b, add)             \
  template <>                                                                             \
  struct Wgmma<float, n, OperandLayout::kMnMajor, OperandLayout::kKMajor> {               \
    static constexpr int kM = 64, kN = n, kK = 8;                                         \
    using FragmentA = uint32_t[4];                                                        \
    using FragmentB = uint64_t;                                                           \
    using Accumulator = float[registers];                                                 \
    __device__ static void Multiply(const uint32_t (&a)[4], uint64_t descriptor_b,        \
                                    bool accumulate, float (&d)[registers]) {             \
      asm volatile(                                                                       \
          "{\n"                                                                           \
          ".reg .pred accumulate;\n"                                                      \
          "setp.ne.b32 accumulate, " add                                                  \
          ", 0;\n"                                                                        \
          "wgmma.mma_async.sync.aligned.m64n" #n                                          \
          "k8.f32.tf32.tf32"                                                              \
          " {" STRIDEWISE_REGISTERS_##registers "}, {" a0 ", " a1 ", " a2 ", " a3 "}, " b \
                                                ", accumulate, 1, 1;\n"                   \
                                                "}\n"                                     \
          : STRIDEWISE_OUT_##registers("+f", d, 0)                                        \
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(descriptor_b),                \
            "r"(static_cast<int>(accumulate)));                                           \
    }                                                                                     \
  };
STRIDEWISE_WGMMA_A_IN_REGISTERS(128, 64, "%64", "%65", "%66", "%67", "%68", "%69")
STRIDEWISE_WGMMA_A_IN_REGISTERS(256, 128, "%128", "%129", "%130", "%131", "%132", "%133")

#undef STRIDEWISE_WGMMA_16BIT
#undef STRIDEWISE_WGMMA_SUMS
#undef STRIDEWISE_WGMMA_EACH_TYPE
#undef STRIDEWISE_WGMMA_FP16_SUMS
#undef STRIDEWISE_WGMMA_A_IN_REGISTERS
#undef STRIDEWISE_WGMMA_8BIT
#undef STRIDEWISE_WGMMA_K_MAJOR
#undef STRIDEWISE_OUT_4
#undef STRIDEWISE_OUT_8
#undef STRIDEWISE_OUT_16
#undef STRIDEWISE_OUT_32
#undef STRIDEWISE_OUT_44
#undef STRIDEWISE_OUT_48
#undef STRIDEWISE_OUT_56
#undef STRIDEWISE_OUT_64
#undef STRIDEWISE_OUT_72
#undef STRIDEWISE_OUT_80
#undef STRIDEWISE_OUT_96
#undef STRIDEWISE_OUT_112
#undef STRIDEWISE_OUT_128
#undef STRIDEWISE_REGISTERS_4
#undef STRIDEWISE_REGISTERS_8
#undef STRIDEWISE_REGISTERS_16
#undef STRIDEWISE_REGISTERS_32
#undef STRIDEWISE_REGISTERS_44
#undef STRIDEWISE_REGISTERS_48
#undef STRIDEWISE_REGISTERS_56
#undef STRIDEWISE_REGISTERS_64
#undef STRIDEWISE_REGISTERS_72
#undef STRIDEWISE_REGISTERS_80
#undef STRIDEWISE_REGISTERS_96
#undef STRIDEWISE_REGISTERS_112
#undef STRIDEWISE_REGISTERS_128

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_MMA_WGMMA_SM90_H_
