#include "common/launch.h"
#include "common/launch_test_kernels.h"

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

}  // namespace

absl::Status CountRows(int32_t* counts, int64_t rows, cudaStream_t stream) {
  return Launch(CountRowsKernel, TileGrid(rows, 1, 1, 1), Block{1}, 0, stream, counts, rows);
}

absl::Status WriteThroughShared(int32_t* out, int32_t value, const Grid& grid, const Block& block,
                                size_t shared_bytes, cudaStream_t stream) {
  return Launch(WriteThroughSharedKernel, grid, block, shared_bytes, stream, out, value,
                shared_bytes);
}

}  // namespace stridewise
