#include "common/base/status_macros.h"
#include "common/gpu/cuda_status.h"
#include "common/gpu/launch.h"
#include "common/gpu/launch_test_kernels.h"

namespace stridewise {
namespace {

__global__ void CountRowsKernel(int32_t* counts, int64_t rows) {
  if (BlockRow() < rows) atomicAdd(&counts[BlockRow()], 1);
}

__global__ void WriteThroughSharedKernel(int32_t* out, int32_t value, size_t shared_bytes) {
  extern __shared__ int32_t shared[];
  const size_t last = shared_bytes / sizeof(int32_t) - 1;
  shared[last] = value;
  __syncthreads();
  *out = shared[last];
}

__global__ void WriteThroughBothKernel(int32_t* out, int32_t value, size_t shared_bytes) {
  extern __shared__ int32_t shared[];
  __shared__ int32_t own[kStaticSharedBytes / sizeof(int32_t)];
  const size_t last = shared_bytes / sizeof(int32_t) - 1;
  shared[last] = value;
  own[threadIdx.x] = value;
  __syncthreads();
  *out = shared[last] == own[value % 1024] ? value : -1;
}

__global__ void DoubleKernel(const int32_t* values, int64_t count, int32_t* between) {
  const int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
#ifdef __CUDA_ARCH__
  for (unsigned pause = blockIdx.x % 32; pause > 0; --pause) __nanosleep(1000);
#endif
  if (i < count) between[i] = 2 * values[i];
}

__global__ void AddOneKernel(const int32_t* between, int64_t count, int32_t* out) {
  WaitForPreviousKernel();
  const int64_t i = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  if (i < count) out[i] = between[i] + 1;
}

}  // namespace

absl::Status CountRows(int32_t* counts, int64_t rows, cudaStream_t stream) {
  return Launch(CountRowsKernel, TileGrid(rows, 1, 1, 1), Block{1}, 0, stream, counts, rows);
}

absl::Status WriteThroughShared(int32_t* out, int32_t value, const Grid& grid, const Block& block,
                                size_t shared_bytes, cudaStream_t stream) {
  return Launch(WriteThroughSharedKernel, grid, block, shared_bytes, stream, out, value,
                shared_bytes);
}

absl::Status WriteThroughBoth(int32_t* out, int32_t value, size_t shared_bytes,
                              cudaStream_t stream) {
  constexpr int64_t kThreads = kStaticSharedBytes / sizeof(int32_t);
  return Launch(WriteThroughBothKernel, Grid{}, Block{kThreads}, shared_bytes, stream, out, value,
                shared_bytes);
}

absl::Status LoseSharedLimit() {
  return CUDA_STATUS(cudaFuncSetAttribute(WriteThroughSharedKernel,
                                          cudaFuncAttributeMaxDynamicSharedMemorySize, 0));
}

absl::Status DoubleAndAddOne(const int32_t* values, int64_t count, int32_t* between, int32_t* out,
                             cudaStream_t stream) {
  const Grid grid = {CeilDiv(count, 128)};
  RETURN_IF_ERROR(Launch(DoubleKernel, grid, Block{128}, 0, stream, values, count, between));
  return LaunchDependent(AddOneKernel, grid, Block{128}, 0, stream, between, count, out);
}

}  // namespace stridewise
