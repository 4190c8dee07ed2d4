#include "common/executor/testdata/tensor_kernels.h"
#include "common/gpu/launch.h"

namespace stridewise::executor {
namespace {

constexpr int kWarp = 32;
constexpr int kWarpgroup = 128;

// The last block's sums of a thread: with g = lane / 4 and t = lane % 4, columns 2t and 2t + 1 of
// its warp's rows g and g + 8. Words of C and D hold one sum of 32 bits or two of FP16.
template <int kWords>
__device__ int64_t SumAt(int i, int64_t rows_before) {
  const int lane = threadIdx.x % kWarp;
  const int64_t row =
      rows_before + threadIdx.x / kWarp * 16 + lane / 4 + (kWords == 2 ? i : i / 2) * 8;
  return kWords == 2 ? row * 4 + lane % 4 : row * 8 + lane % 4 * 2 + i % 2;
}

// An instruction of one warp: k words of a row, sums in kWords words of a thread.
template <int kDepth, int kWords, void (*kMultiply)(uint32_t*, const uint32_t*, const uint32_t*)>
__global__ void MultiplyOfWarp(TensorOperands o) {
  constexpr int kOfA = kDepth / 2, kOfB = kDepth / 4;
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  const int64_t length = int64_t{kDepth} * o.steps;
  uint32_t d[kWords], a[kOfA], b[kOfB];
  for (int i = 0; i < kWords; ++i) d[i] = o.c[SumAt<kWords>(i, blockIdx.x * int64_t{16})];
  for (int step = 0; step < o.steps; ++step) {
    for (int i = 0; i < kOfA; ++i) {
      const int64_t row = blockIdx.x * int64_t{16} + g + i % 2 * 8;
      a[i] = o.a[row * length + step * kDepth + t + i / 2 * 4];
    }
    for (int i = 0; i < kOfB; ++i) {
      const int64_t col = blockIdx.x * int64_t{8} + g;
      b[i] = o.b[col * length + step * kDepth + t + i * 4];
    }
    kMultiply(d, a, b);
  }
  for (int i = 0; i < kWords; ++i) o.d[SumAt<kWords>(i, blockIdx.x * int64_t{16})] = d[i];
}

// Core matrices of 8 rows of 16 bytes, two along k.
__device__ int WordAt(int row, int word) {
  return row / 8 * 64 + word / 4 * 32 + row % 8 * 4 + word % 4;
}
__device__ uint64_t Descriptor(const uint32_t* tile) {
  return uint64_t{256 >> 4} << 32 | uint64_t{128 >> 4} << 16 |
         static_cast<unsigned>(__cvta_generic_to_shared(tile)) >> 4;
}

// An instruction of a warpgroup, with 32 bytes of k and 8 columns.
template <int kWords, void (*kMultiply)(uint32_t*, uint64_t, uint64_t)>
__global__ void MultiplyOfWarpgroup(TensorOperands o) {
#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
  constexpr int kDepth = 8, kRows = 64, kCols = 8, kMostSteps = 8;
  alignas(128) __shared__ uint32_t a[kMostSteps][kRows * kDepth];
  alignas(128) __shared__ uint32_t b[kMostSteps][kCols * kDepth];
  const int length = kDepth * o.steps;
  for (int i = threadIdx.x; i < kRows * length; i += kWarpgroup) {
    const int row = i / length, word = i % length;
    a[word / kDepth][WordAt(row, word % kDepth)] =
        o.a[(blockIdx.x * int64_t{kRows} + row) * length + word];
  }
  for (int i = threadIdx.x; i < kCols * length; i += kWarpgroup) {
    const int col = i / length, word = i % length;
    b[word / kDepth][WordAt(col, word % kDepth)] =
        o.b[(blockIdx.x * int64_t{kCols} + col) * length + word];
  }
  uint32_t d[kWords];
  for (int i = 0; i < kWords; ++i) d[i] = o.c[SumAt<kWords>(i, blockIdx.x * int64_t{kRows})];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  for (int step = 0; step < o.steps; ++step) kMultiply(d, Descriptor(a[step]), Descriptor(b[step]));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < kWords; ++i) o.d[SumAt<kWords>(i, blockIdx.x * int64_t{kRows})] = d[i];
#endif
}

#define MMA_OF_4_WORDS(name, k, sums, a_type, b_type)                                        \
  __device__ void name(uint32_t* d, const uint32_t* a, const uint32_t* b) {                  \
    asm volatile("mma.sync.aligned.m16n8k" k ".row.col." sums "." a_type "." b_type "." sums \
                 " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"                      \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                            \
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]));                                         \
  }
#define MMA_OF_8_WORDS(name, k, sums, a_type, b_type)                                        \
  __device__ void name(uint32_t* d, const uint32_t* a, const uint32_t* b) {                  \
    asm volatile("mma.sync.aligned.m16n8k" k ".row.col." sums "." a_type "." b_type "." sums \
                 " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"          \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                            \
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));        \
  }
#define WGMMA(name, k, sums, a_type, b_type, more)                                           \
  __device__ void name(uint32_t* d, uint64_t a, uint64_t b) {                                \
    asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n8k" k \
                 "." sums "." a_type "." b_type " {%0, %1, %2, %3}, %4, %5, p" more ";}"     \
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])                            \
                 : "l"(a), "l"(b));                                                          \
  }
#define WGMMA_OF_FP16_SUMS(name, k, a_type, b_type, more)                                    \
  __device__ void name(uint32_t* d, uint64_t a, uint64_t b) {                                \
    asm volatile("{.reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n8k" k \
                 ".f16." a_type "." b_type " {%0, %1}, %2, %3, p" more ";}"                  \
                 : "+r"(d[0]), "+r"(d[1])                                                    \
                 : "l"(a), "l"(b));                                                          \
  }

__device__ void MmaFp16K8Fp16(uint32_t* d, const uint32_t* a, const uint32_t* b) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
      : "+r"(d[0]), "+r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}
__device__ void MmaFp16K16Fp16(uint32_t* d, const uint32_t* a, const uint32_t* b) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, "
      "{%0, %1};"
      : "+r"(d[0]), "+r"(d[1])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
MMA_OF_4_WORDS(MmaFp16K8, "8", "f32", "f16", "f16")
MMA_OF_8_WORDS(MmaFp16K16, "16", "f32", "f16", "f16")
MMA_OF_4_WORDS(MmaBf16K8, "8", "f32", "bf16", "bf16")
MMA_OF_8_WORDS(MmaBf16K16, "16", "f32", "bf16", "bf16")
MMA_OF_4_WORDS(MmaTf32K4, "4", "f32", "tf32", "tf32")
MMA_OF_8_WORDS(MmaTf32K8, "8", "f32", "tf32", "tf32")
MMA_OF_8_WORDS(MmaE4m3, "32", "f32", "e4m3", "e4m3")
MMA_OF_8_WORDS(MmaE5m2, "32", "f32", "e5m2", "e5m2")
MMA_OF_8_WORDS(MmaE4m3E5m2, "32", "f32", "e4m3", "e5m2")
MMA_OF_4_WORDS(MmaS8K16, "16", "s32", "s8", "s8")
MMA_OF_8_WORDS(MmaS8, "32", "s32", "s8", "s8")
MMA_OF_8_WORDS(MmaS8U8, "32", "s32", "s8", "u8")
#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
WGMMA(WgmmaFp16, "16", "f32", "f16", "f16", ", 1, 1, 0, 0")
WGMMA(WgmmaBf16, "16", "f32", "bf16", "bf16", ", 1, 1, 0, 0")
WGMMA(WgmmaTf32, "8", "f32", "tf32", "tf32", ", 1, 1")
WGMMA(WgmmaE4m3, "32", "f32", "e4m3", "e4m3", ", 1, 1")
WGMMA(WgmmaE5m2, "32", "f32", "e5m2", "e5m2", ", 1, 1")
WGMMA(WgmmaE4m3E5m2, "32", "f32", "e4m3", "e5m2", ", 1, 1")
WGMMA(WgmmaS8, "32", "s32", "s8", "s8", "")
WGMMA(WgmmaS8U8, "32", "s32", "s8", "u8", "")
WGMMA_OF_FP16_SUMS(WgmmaFp16Fp16, "16", "f16", "f16", ", 1, 1, 0, 0")
WGMMA_OF_FP16_SUMS(WgmmaFp16E4m3, "32", "e4m3", "e4m3", ", 1, 1")
WGMMA_OF_FP16_SUMS(WgmmaFp16E5m2, "32", "e5m2", "e5m2", ", 1, 1")
#else
#define NONE(name) \
  __device__ void name(uint32_t*, uint64_t, uint64_t) {}
NONE(WgmmaFp16)
NONE(WgmmaBf16)
NONE(WgmmaTf32)
NONE(WgmmaE4m3)
NONE(WgmmaE5m2)
NONE(WgmmaE4m3E5m2)
NONE(WgmmaS8)
NONE(WgmmaS8U8)
NONE(WgmmaFp16Fp16)
NONE(WgmmaFp16E4m3)
NONE(WgmmaFp16E5m2)
#endif

template <int kDepth, int kWords, void (*kMultiply)(uint32_t*, const uint32_t*, const uint32_t*)>
LaunchStatus LaunchOfWarp(const TensorOperands& o, cudaStream_t stream) {
  return Launch(MultiplyOfWarp<kDepth, kWords, kMultiply>, Grid{o.products}, Block{kWarp}, 0,
                stream, o);
}
template <int kWords, void (*kMultiply)(uint32_t*, uint64_t, uint64_t)>
LaunchStatus LaunchOfWarpgroup(const TensorOperands& o, cudaStream_t stream) {
  return Launch(MultiplyOfWarpgroup<kWords, kMultiply>, Grid{o.products}, Block{kWarpgroup}, 0,
                stream, o);
}

}  // namespace

const std::vector<TensorKernel>& TensorKernels() {
  static const auto* const kernels = new std::vector<TensorKernel>{
      {"mma.m16n8k8", 16, 8, 4, "f32", "f16", "f16", LaunchOfWarp<4, 4, MmaFp16K8>},
      {"mma.m16n8k16", 16, 8, 8, "f32", "f16", "f16", LaunchOfWarp<8, 4, MmaFp16K16>},
      {"mma.m16n8k8", 16, 8, 4, "f16", "f16", "f16", LaunchOfWarp<4, 2, MmaFp16K8Fp16>},
      {"mma.m16n8k16", 16, 8, 8, "f16", "f16", "f16", LaunchOfWarp<8, 2, MmaFp16K16Fp16>},
      {"mma.m16n8k8", 16, 8, 4, "f32", "bf16", "bf16", LaunchOfWarp<4, 4, MmaBf16K8>},
      {"mma.m16n8k16", 16, 8, 8, "f32", "bf16", "bf16", LaunchOfWarp<8, 4, MmaBf16K16>},
      {"mma.m16n8k4", 16, 8, 4, "f32", "tf32", "tf32", LaunchOfWarp<4, 4, MmaTf32K4>},
      {"mma.m16n8k8", 16, 8, 8, "f32", "tf32", "tf32", LaunchOfWarp<8, 4, MmaTf32K8>},
      {"mma.m16n8k32", 16, 8, 8, "f32", "e4m3", "e4m3", LaunchOfWarp<8, 4, MmaE4m3>},
      {"mma.m16n8k32", 16, 8, 8, "f32", "e5m2", "e5m2", LaunchOfWarp<8, 4, MmaE5m2>},
      {"mma.m16n8k32", 16, 8, 8, "f32", "e4m3", "e5m2", LaunchOfWarp<8, 4, MmaE4m3E5m2>},
      {"mma.m16n8k16", 16, 8, 4, "s32", "s8", "s8", LaunchOfWarp<4, 4, MmaS8K16>},
      {"mma.m16n8k32", 16, 8, 8, "s32", "s8", "s8", LaunchOfWarp<8, 4, MmaS8>},
      {"mma.m16n8k32", 16, 8, 8, "s32", "s8", "u8", LaunchOfWarp<8, 4, MmaS8U8>},
      {"wgmma.m64n8k16", 64, 8, 8, "f32", "f16", "f16", LaunchOfWarpgroup<4, WgmmaFp16>},
      {"wgmma.m64n8k16", 64, 8, 8, "f16", "f16", "f16", LaunchOfWarpgroup<2, WgmmaFp16Fp16>},
      {"wgmma.m64n8k16", 64, 8, 8, "f32", "bf16", "bf16", LaunchOfWarpgroup<4, WgmmaBf16>},
      {"wgmma.m64n8k8", 64, 8, 8, "f32", "tf32", "tf32", LaunchOfWarpgroup<4, WgmmaTf32>},
      {"wgmma.m64n8k32", 64, 8, 8, "f32", "e4m3", "e4m3", LaunchOfWarpgroup<4, WgmmaE4m3>},
      {"wgmma.m64n8k32", 64, 8, 8, "f32", "e5m2", "e5m2", LaunchOfWarpgroup<4, WgmmaE5m2>},
      {"wgmma.m64n8k32", 64, 8, 8, "f32", "e4m3", "e5m2", LaunchOfWarpgroup<4, WgmmaE4m3E5m2>},
      {"wgmma.m64n8k32", 64, 8, 8, "f16", "e4m3", "e4m3", LaunchOfWarpgroup<2, WgmmaFp16E4m3>},
      {"wgmma.m64n8k32", 64, 8, 8, "f16", "e5m2", "e5m2", LaunchOfWarpgroup<2, WgmmaFp16E5m2>},
      {"wgmma.m64n8k32", 64, 8, 8, "s32", "s8", "s8", LaunchOfWarpgroup<4, WgmmaS8>},
      {"wgmma.m64n8k32", 64, 8, 8, "s32", "s8", "u8", LaunchOfWarpgroup<4, WgmmaS8U8>},
  };
  return *kernels;
}

}  // namespace stridewise::executor
