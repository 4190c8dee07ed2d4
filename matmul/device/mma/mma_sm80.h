// The warp matrix instructions of compute capability 8.0: D += A * B for 16 x 8 elements of D and
// 32 bytes of k, all in registers. PTX ISA: "mma.m16n8k16", "mma.m16n8k8", "mma.m16n8k32",
// "ldmatrix".
//
// With g = lane / 4 and t = lane % 4, a lane holds of 16-bit A the pairs (g, 2t), (g + 8, 2t), (g,
// 2t + 8), (g + 8, 2t + 8), neighbours along k; of B the pairs (2t, g), (2t + 8, g), neighbours
// along k; and of D the pairs (g, 2t) and (g + 8, 2t), neighbours along n. Where elements have one
// or four bytes, such a pair is four of them or one: ldmatrix loads the same bytes. fma.h has the
// interface.

#ifndef STRIDEWISE_MATMUL_DEVICE_MMA_MMA_SM80_H_
#define STRIDEWISE_MATMUL_DEVICE_MMA_MMA_SM80_H_

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

namespace stridewise {

constexpr int kMmaM = 16;
constexpr int kMmaN = 8;
constexpr int kMmaDepth = 16;  // Of 16-bit elements: 32 bytes.

__device__ inline void MultiplyAdd(const uint32_t (&a)[4], const uint32_t (&b)[2], float (&d)[4],
                                   __nv_bfloat16) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}
__device__ inline void MultiplyAdd(const uint32_t (&a)[4], const uint32_t (&b)[2], float (&d)[4],
                                   __half) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

__device__ inline void MultiplyAdd(const uint32_t (&a)[4], const uint32_t (&b)[2], int (&d)[4],
                                   int8_t) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}
// TF32: floats of which the last 13 bits are 0.
__device__ inline void MultiplyAdd(const uint32_t (&a)[4], const uint32_t (&b)[2], float (&d)[4],
                                   float) {
#if __CUDA_ARCH__ >= 800
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

// The instruction for operands of one type: 16-bit ones, int8_t, or float for TF32.
template <typename Element>
struct WarpMma {
  static constexpr int kM = kMmaM;
  static constexpr int kN = kMmaN;
  static constexpr int kK = 32 / sizeof(Element);
  using FragmentA = uint32_t[4];
  using FragmentB = uint32_t[2];
  using Accumulator = std::conditional_t<std::is_same_v<Element, int8_t>, int, float>[4];

  __device__ static void Multiply(const FragmentA& a, const FragmentB& b, Accumulator& d) {
    MultiplyAdd(a, b, d, Element());
  }
};

// Loads four 8x8 matrices of 16-bit elements from shared memory: lanes 8i to 8i + 7 give the
// addresses of the rows of matrix i, multiples of 16 bytes.
__device__ inline void LoadMatrices(uint32_t row, uint32_t (&to)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row));
}

// The same matrices transposed: a lane gets the pairs that are neighbours down a column.
__device__ inline void LoadTransposedMatrices(uint32_t row, uint32_t (&to)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(row));
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_MMA_MMA_SM80_H_
