#include "common/gpu/device_ops.h"
#include "common/gpu/launch.h"
#include "common/verify/fill.h"

namespace stridewise {
namespace {

constexpr int kThreads = 256;
constexpr int kTileRows = 8;
constexpr int kTileCols = 32;

// One thread for each element; rows beyond 65535 blocks continue in z.
template <typename T>
__global__ void FillUniformKernel(Matrix<T> matrix, uint64_t seed) {
  const int64_t r = BlockRow() * kTileRows + threadIdx.y;
  const int64_t c = static_cast<int64_t>(blockIdx.x) * kTileCols + threadIdx.x;
  if (r >= matrix.rows || c >= matrix.cols) return;
  matrix(r, c) = UniformAt<T>(seed, r * matrix.cols + c);
}

template <typename T>
__global__ void WidenKernel(ConstMatrix<T> in, bool absolute, double* out) {
  const int64_t r = BlockRow() * kTileRows + threadIdx.y;
  const int64_t c = static_cast<int64_t>(blockIdx.x) * kTileCols + threadIdx.x;
  if (r >= in.rows || c >= in.cols) return;
  const auto value = static_cast<double>(in(r, c));
  out[r * in.cols + c] = absolute ? fabs(value) : value;
}

__global__ void CopyVectorisedKernel(uint4* to, const uint4* from, int64_t vectors,
                                     int64_t tail_bytes) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i < vectors) to[i] = from[i];
  if (i < tail_bytes) {
    reinterpret_cast<uint8_t*>(to + vectors)[i] =
        reinterpret_cast<const uint8_t*>(from + vectors)[i];
  }
}

__global__ void ReadThroughL2Kernel(const uint4* buffer, int64_t vectors) {
  uint32_t all = 0;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < vectors;
       i += stride) {
    const uint4 v = buffer[i];
    all |= v.x ^ v.y ^ v.z ^ v.w;
  }
  // Keeps the loads: the compiler cannot know that this is never true.
  if (all == 0xfeedbeefu) asm volatile("trap;");
}

__device__ inline uint64_t GlobalTimerNs() {
  uint64_t ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

// The flags are volatile: each comparison loads from host memory, past the caches.
__global__ void HoldStreamKernel(HoldFlags* flags, uint64_t ticket, uint64_t timeout_ns) {
  const uint64_t start = GlobalTimerNs();
  while (flags->released < ticket) {
    if (GlobalTimerNs() - start < timeout_ns) continue;
    flags->timed_out = ticket;
    return;
  }
}

__global__ void EmptyKernel() {}

template <typename T>
absl::Status Fill(Matrix<T> matrix, uint64_t seed, cudaStream_t stream) {
  return Launch(FillUniformKernel<T>, TileGrid(matrix.rows, matrix.cols, kTileRows, kTileCols),
                Block{kTileCols, kTileRows}, 0, stream, matrix, seed);
}

template <typename T>
absl::Status Widen(ConstMatrix<T> in, bool absolute, double* out, cudaStream_t stream) {
  return Launch(WidenKernel<T>, TileGrid(in.rows, in.cols, kTileRows, kTileCols),
                Block{kTileCols, kTileRows}, 0, stream, in, absolute, out);
}

}  // namespace

absl::Status FillUniformOnDevice(Matrix<float> matrix, uint64_t seed, cudaStream_t stream) {
  return Fill(matrix, seed, stream);
}

absl::Status FillUniformOnDevice(Matrix<double> matrix, uint64_t seed, cudaStream_t stream) {
  return Fill(matrix, seed, stream);
}

template <typename T>
absl::Status WidenOnDevice(ConstMatrix<T> in, bool absolute, double* out, cudaStream_t stream) {
  return Widen(in, absolute, out, stream);
}
#define STRIDEWISE_INSTANTIATE(T) \
  template absl::Status WidenOnDevice(ConstMatrix<T>, bool, double*, cudaStream_t)
STRIDEWISE_INSTANTIATE(float);
STRIDEWISE_INSTANTIATE(double);
STRIDEWISE_INSTANTIATE(Bf16);
STRIDEWISE_INSTANTIATE(Fp16);
STRIDEWISE_INSTANTIATE(int8_t);
STRIDEWISE_INSTANTIATE(int32_t);
STRIDEWISE_INSTANTIATE(E4m3);
STRIDEWISE_INSTANTIATE(E5m2);
#undef STRIDEWISE_INSTANTIATE

absl::Status CopyVectorised(void* to, const void* from, size_t bytes, cudaStream_t stream) {
  const int64_t vectors = static_cast<int64_t>(bytes / sizeof(uint4));
  const int64_t tail_bytes = static_cast<int64_t>(bytes % sizeof(uint4));
  const int64_t threads = vectors > tail_bytes ? vectors : tail_bytes;
  return Launch(CopyVectorisedKernel, Grid{CeilDiv(threads, kThreads)}, Block{kThreads}, 0, stream,
                static_cast<uint4*>(to), static_cast<const uint4*>(from), vectors, tail_bytes);
}

absl::Status ReadThroughL2(const void* buffer, size_t bytes, cudaStream_t stream) {
  constexpr int64_t kBlocks = 1056;  // 8 a multiprocessor of an H200: enough loads in flight.
  return Launch(ReadThroughL2Kernel, Grid{kBlocks}, Block{kThreads}, 0, stream,
                static_cast<const uint4*>(buffer), static_cast<int64_t>(bytes / sizeof(uint4)));
}

absl::Status HoldStream(HoldFlags* flags, uint64_t ticket, uint64_t timeout_ns,
                        cudaStream_t stream) {
  return Launch(HoldStreamKernel, Grid{1}, Block{1}, 0, stream, flags, ticket, timeout_ns);
}

absl::Status LaunchEmptyKernel(cudaStream_t stream) {
  return Launch(EmptyKernel, Grid{1}, Block{1}, 0, stream);
}

}  // namespace stridewise
