// nvcuda::wmma: fragments of 16x16x16 FP16 or BF16 elements and of 16x16x8 TF32 elements.
//
// CUDA does not say which lane holds which element. Here as on an H200 it is the layout of
// mma.sync, of which one call takes two, for the first and the last eight columns: a load is four
// loads of 32 bits of each lane, and of a matrix that lies the other way its 8x8 parts are
// transposed then; a store is four of 64 bits.

#ifndef STRIDEWISE_COMMON_EXECUTOR_SHIM_MMA_H_
#define STRIDEWISE_COMMON_EXECUTOR_SHIM_MMA_H_

#include <type_traits>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

namespace nvcuda {
namespace wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32 {};
}  // namespace precision

// What a lane holds of a fragment: elements of type Element, two or one to a register.
template <typename Element, int kElements>
struct SimtFragment {
  using element_type = Element;
  static constexpr int num_elements = kElements;
  static constexpr int kRegisters = kElements * static_cast<int>(sizeof(Element)) / 4;
  alignas(4) Element x[kElements];

  SIMT_INLINE unsigned Register(int i) const { return reinterpret_cast<const unsigned*>(x)[i]; }
  SIMT_INLINE void SetRegister(int i, unsigned bits) { reinterpret_cast<unsigned*>(x)[i] = bits; }
};

template <typename Use, int kM, int kN, int kK, typename T, typename Layout = void>
struct fragment {
  static_assert(sizeof(T) == 0, "the host executor has no wmma fragments of this shape and type");
};
template <typename Layout>
struct fragment<matrix_a, 16, 16, 16, __half, Layout> : SimtFragment<__half, 8> {};
template <typename Layout>
struct fragment<matrix_b, 16, 16, 16, __half, Layout> : SimtFragment<__half, 8> {};
template <typename Layout>
struct fragment<matrix_a, 16, 16, 16, __nv_bfloat16, Layout> : SimtFragment<__nv_bfloat16, 8> {};
template <typename Layout>
struct fragment<matrix_b, 16, 16, 16, __nv_bfloat16, Layout> : SimtFragment<__nv_bfloat16, 8> {};
template <typename Layout>
struct fragment<matrix_a, 16, 16, 8, precision::tf32, Layout> : SimtFragment<float, 4> {};
template <typename Layout>
struct fragment<matrix_b, 16, 16, 8, precision::tf32, Layout> : SimtFragment<float, 4> {};
template <>
struct fragment<accumulator, 16, 16, 16, float> : SimtFragment<float, 8> {};
template <>
struct fragment<accumulator, 16, 16, 8, float> : SimtFragment<float, 8> {};
template <>
struct fragment<accumulator, 16, 16, 16, __half> : SimtFragment<__half, 8> {};

SIMT_INLINE float __float_to_tf32(float value) {
  float rounded;
  asm volatile("cvt.rna.tf32.f32 %0, %1;" : "=f"(rounded) : "f"(value));
  return rounded;
}

template <typename Element, int kElements, typename Value>
SIMT_INLINE void fill_fragment(SimtFragment<Element, kElements>& fragment, Value value) {
#pragma unroll
  for (int i = 0; i < kElements; ++i) fragment.x[i] = static_cast<Element>(value);
}

// Where a lane's register i lies: `outer` counts rows of A or columns of B, which the layout of
// mma.sync has in groups of eight.
SIMT_INLINE int SimtLane() {
  return static_cast<int>((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) % 32;
}

// Loads the four registers of an operand. Of A the second register is eight rows below the first,
// of B it is half of k further. `along_k`: neighbours in memory are neighbours along k.
template <typename Element, int kElements>
SIMT_INLINE void SimtLoad(SimtFragment<Element, kElements>& to, const void* from, unsigned ld,
                          bool along_k, bool is_a) {
  constexpr int kOfRegister = 4 / static_cast<int>(sizeof(Element));
  const int group = SimtLane() / 4;
  const int in_group = SimtLane() % 4;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int outer = (is_a ? i % 2 : i / 2) * 8;
    const int k = (is_a ? i / 2 : i % 2) * 4 * kOfRegister;
    const auto* const matrix = static_cast<const Element*>(from);
    if (along_k) {
      to.SetRegister(i, *reinterpret_cast<const unsigned*>(
                            &matrix[(outer + group) * ld + k + in_group * kOfRegister]));
    } else if constexpr (kOfRegister == 1) {
      to.SetRegister(
          i, *reinterpret_cast<const unsigned*>(&matrix[(k + in_group) * ld + outer + group]));
    } else {
      const unsigned pair =
          *reinterpret_cast<const unsigned*>(&matrix[(k + group) * ld + outer + in_group * 2]);
      unsigned transposed;
      asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(transposed) : "r"(pair));
      to.SetRegister(i, transposed);
    }
  }
}

template <int kM, int kN, int kK, typename T, typename Layout, typename Element>
SIMT_INLINE void load_matrix_sync(fragment<matrix_a, kM, kN, kK, T, Layout>& to,
                                  const Element* from, unsigned ld) {
  SimtLoad(to, from, ld, std::is_same<Layout, row_major>::value, /*is_a=*/true);
}
template <int kM, int kN, int kK, typename T, typename Layout, typename Element>
SIMT_INLINE void load_matrix_sync(fragment<matrix_b, kM, kN, kK, T, Layout>& to,
                                  const Element* from, unsigned ld) {
  SimtLoad(to, from, ld, std::is_same<Layout, col_major>::value, /*is_a=*/false);
}

// Elements 2i and 2i + 1 of an accumulator are neighbours of a row: of rows 8 apart, then of
// columns 8 apart.
template <int kK, typename T>
SIMT_INLINE void load_matrix_sync(fragment<accumulator, 16, 16, kK, T>& to, const T* from,
                                  unsigned ld, layout_t layout) {
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const unsigned row = SimtLane() / 4 + i / 2 % 2 * 8;
    const unsigned col = SimtLane() % 4 * 2 + i / 4 * 8 + i % 2;
    to.x[i] = from[layout == mem_row_major ? row * ld + col : col * ld + row];
  }
}
template <int kK, typename T>
SIMT_INLINE void store_matrix_sync(T* to, const fragment<accumulator, 16, 16, kK, T>& from,
                                   unsigned ld, layout_t layout) {
  struct alignas(2 * sizeof(T)) Pair {
    T x, y;
  };
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const unsigned row = SimtLane() / 4 + i % 2 * 8;
    const unsigned col = SimtLane() % 4 * 2 + i / 2 * 8;
    if (layout == mem_row_major) {
      using Bits = std::conditional_t<sizeof(T) == 4, uint64_t, unsigned>;
      *reinterpret_cast<Bits*>(&to[row * ld + col]) =
          __builtin_bit_cast(Bits, Pair{from.x[2 * i], from.x[2 * i + 1]});
    } else {
      to[col * ld + row] = from.x[2 * i];
      to[(col + 1) * ld + row] = from.x[2 * i + 1];
    }
  }
}

// The two calls of mma.sync, each with its half of the registers of B and of the sums.
#define SIMT_WMMA_FLOAT(shape, types, T, kDepth)                                               \
  template <typename LayoutA, typename LayoutB>                                                \
  SIMT_INLINE void mma_sync(fragment<accumulator, 16, 16, kDepth, float>& d,                   \
                            const fragment<matrix_a, 16, 16, kDepth, T, LayoutA>& a,           \
                            const fragment<matrix_b, 16, 16, kDepth, T, LayoutB>& b,           \
                            const fragment<accumulator, 16, 16, kDepth, float>& c) {           \
    _Pragma("unroll") for (int i = 0; i < 2; ++i) {                                            \
      asm volatile(                                                                            \
          "mma.sync.aligned." shape ".row.col.f32." types                                      \
          ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};"           \
          : "=f"(d.x[4 * i]), "=f"(d.x[4 * i + 1]), "=f"(d.x[4 * i + 2]), "=f"(d.x[4 * i + 3]) \
          : "r"(a.Register(0)), "r"(a.Register(1)), "r"(a.Register(2)), "r"(a.Register(3)),    \
            "r"(b.Register(2 * i)), "r"(b.Register(2 * i + 1)), "f"(c.x[4 * i]),               \
            "f"(c.x[4 * i + 1]), "f"(c.x[4 * i + 2]), "f"(c.x[4 * i + 3]));                    \
    }                                                                                          \
  }
SIMT_WMMA_FLOAT("m16n8k16", "bf16.bf16", __nv_bfloat16, 16)
SIMT_WMMA_FLOAT("m16n8k16", "f16.f16", __half, 16)
SIMT_WMMA_FLOAT("m16n8k8", "tf32.tf32", precision::tf32, 8)
#undef SIMT_WMMA_FLOAT

template <typename LayoutA, typename LayoutB>
SIMT_INLINE void mma_sync(fragment<accumulator, 16, 16, 16, __half>& d,
                          const fragment<matrix_a, 16, 16, 16, __half, LayoutA>& a,
                          const fragment<matrix_b, 16, 16, 16, __half, LayoutB>& b,
                          const fragment<accumulator, 16, 16, 16, __half>& c) {
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    unsigned low, high;
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 "
        "{%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%8, %9};"
        : "=r"(low), "=r"(high)
        : "r"(a.Register(0)), "r"(a.Register(1)), "r"(a.Register(2)), "r"(a.Register(3)),
          "r"(b.Register(2 * i)), "r"(b.Register(2 * i + 1)), "r"(c.Register(2 * i)),
          "r"(c.Register(2 * i + 1)));
    d.SetRegister(2 * i, low);
    d.SetRegister(2 * i + 1, high);
  }
}

}  // namespace wmma
}  // namespace nvcuda

#endif  // STRIDEWISE_COMMON_EXECUTOR_SHIM_MMA_H_
