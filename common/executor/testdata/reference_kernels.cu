// Written for their access patterns: no bounds, as every extent is a multiple of every tile.

#include <cuda_pipeline.h>

#include "common/executor/testdata/reference_kernels.h"
#include "common/gpu/launch.h"

#ifndef REFERENCE_KERNELS_NAMESPACE
#define REFERENCE_KERNELS_NAMESPACE as_usual
#endif

namespace stridewise::executor::REFERENCE_KERNELS_NAMESPACE {
namespace {

constexpr int kExtent = kReferenceExtent;  // Of a transpose.
constexpr int kDepth = 128;                // All three extents of a product.
constexpr int kTile = 32;

__device__ int X() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ int Y() { return blockIdx.y * blockDim.y + threadIdx.y; }

__global__ void CopyRow(float* out, const float* in) {
  out[Y() * kExtent + X()] = in[Y() * kExtent + X()];
}

__global__ void CopyCol(float* out, const float* in) {
  out[X() * kExtent + Y()] = in[X() * kExtent + Y()];
}

__global__ void CopyFloat4(float* out, const float* in) {
  reinterpret_cast<float4*>(out)[X()] = reinterpret_cast<const float4*>(in)[X()];
}

__global__ void NaiveRow(float* out, const float* in) {
  out[X() * kExtent + Y()] = in[Y() * kExtent + X()];
}

__global__ void NaiveCol(float* out, const float* in) {
  out[Y() * kExtent + X()] = in[X() * kExtent + Y()];
}

__global__ void Unroll4Row(float* out, const float* in) {
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int x = (blockIdx.x * 4 + i) * blockDim.x + threadIdx.x;
    out[x * kExtent + Y()] = in[Y() * kExtent + x];
  }
}

__global__ void DiagonalRow(float* out, const float* in) {
  const int x = (blockIdx.x + blockIdx.y) % gridDim.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.x * blockDim.y + threadIdx.y;
  out[x * kExtent + y] = in[y * kExtent + x];
}

template <int kPad>
__global__ void Tile(float* out, const float* in) {
  __shared__ float tile[kTile][kTile + kPad];
  const int first_x = blockIdx.x * kTile;
  const int first_y = blockIdx.y * kTile;
  const int x = threadIdx.x;
#pragma unroll
  for (int y = threadIdx.y; y < kTile; y += 8) {
    tile[y][x] = in[(first_y + y) * kExtent + first_x + x];
  }
  __syncthreads();
#pragma unroll
  for (int y = threadIdx.y; y < kTile; y += 8) {
    out[(first_x + y) * kExtent + first_y + x] = tile[x][y];
  }
}

// Tiles of 16 rows of 64, written as 64 rows of 16.
template <int kPad>
__global__ void TileUnroll2(float* out, const float* in) {
  extern __shared__ float tile[];
  constexpr int kPitch = 2 * kTile + kPad;
  const int first_x = blockIdx.x * 2 * kTile;
#pragma unroll
  for (int x = threadIdx.x; x < 2 * kTile; x += kTile) {
    tile[threadIdx.y * kPitch + x] = in[Y() * kExtent + first_x + x];
  }
  __syncthreads();
  const int thread = threadIdx.y * kTile + threadIdx.x;
  const int x = thread % 16;
#pragma unroll
  for (int y = thread / 16; y < 2 * kTile; y += kTile) {
    out[(first_x + y) * kExtent + blockIdx.y * 16 + x] = tile[x * kPitch + y];
  }
}

__global__ void MatMulNaive(float* c, const float* a, const float* b) {
  float sum = 0;
  for (int i = 0; i < kDepth; ++i) sum = fmaf(a[Y() * kDepth + i], b[i * kDepth + X()], sum);
  c[Y() * kDepth + X()] = sum;
}

__global__ void MatMulTiled(float* c, const float* a, const float* b) {
  __shared__ float a_tile[kTile][kTile];
  __shared__ float b_tile[kTile][kTile];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  float sum = 0;
  for (int first = 0; first < kDepth; first += kTile) {
    a_tile[y][x] = a[Y() * kDepth + first + x];
    b_tile[y][x] = b[(first + y) * kDepth + X()];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum = fmaf(a_tile[y][i], b_tile[i][x], sum);
    __syncthreads();
  }
  c[Y() * kDepth + X()] = sum;
}

// The same with the next tile on its way while this one is used.
__global__ void MatMulTiledAsync(float* c, const float* a, const float* b) {
  __shared__ float a_tile[2][kTile][kTile];
  __shared__ float b_tile[2][kTile][kTile];
  const int x = threadIdx.x;
  const int y = threadIdx.y;
  const auto fetch = [&](int first, int stage) {
    __pipeline_memcpy_async(&a_tile[stage][y][x], &a[Y() * kDepth + first + x], sizeof(float));
    __pipeline_memcpy_async(&b_tile[stage][y][x], &b[(first + y) * kDepth + X()], sizeof(float));
    __pipeline_commit();
  };
  float sum = 0;
  fetch(0, 0);
  for (int first = 0; first < kDepth; first += kTile) {
    const int stage = first / kTile % 2;
    const bool more = first + kTile < kDepth;
    if (more) fetch(first + kTile, 1 - stage);
    __pipeline_wait_prior(more ? 1 : 0);
    __syncthreads();
#pragma unroll
    for (int i = 0; i < kTile; ++i) sum = fmaf(a_tile[stage][y][i], b_tile[stage][i][x], sum);
    __syncthreads();
  }
  c[Y() * kDepth + X()] = sum;
}

template <void (*kKernel)(float*, const float*), size_t kSharedBytes = 0>
absl::Status Move(const ReferenceArgs& args) {
  return Launch(kKernel, args.grid, args.block, kSharedBytes, args.stream, args.out, args.in);
}

template <void (*kKernel)(float*, const float*, const float*)>
absl::Status Multiply(const ReferenceArgs& args) {
  return Launch(kKernel, args.grid, args.block, 0, args.stream, args.out, args.in,
                args.in + kDepth * kDepth);
}

}  // namespace

std::vector<ReferenceKernel> ReferenceKernels() {
  return {
      {"copyRow", Move<CopyRow>},
      {"copyCol", Move<CopyCol>},
      {"copyFloat4", Move<CopyFloat4>},
      {"transposeNaiveRow", Move<NaiveRow>},
      {"transposeNaiveCol", Move<NaiveCol>},
      {"transposeUnroll4Row", Move<Unroll4Row>},
      {"transposeDiagonalRow", Move<DiagonalRow>},
      {"transposeSmem<0>", Move<Tile<0>>},
      {"transposeSmem<1>", Move<Tile<1>>},
      {"transposeSmemUnrollPadDyn<1>", Move<TileUnroll2<1>, 16 * 65 * sizeof(float)>},
      {"transposeSmemUnrollPadDyn<2>", Move<TileUnroll2<2>, 16 * 66 * sizeof(float)>},
      {"matmulNaive", Multiply<MatMulNaive>},
      {"matmulTiled32", Multiply<MatMulTiled>},
      {"matmulTiled32Async", Multiply<MatMulTiledAsync>},
  };
}

}  // namespace stridewise::executor::REFERENCE_KERNELS_NAMESPACE
