// The general form for products so small that they last as long as a launch and one trip to memory:
// one element a thread, and all loads of a block in flight at once.
//
// At n = 64 the kernels with tiles of 32 x 32 and more spend their time on pipelines that never
// fill: 6 us, where an empty kernel takes 2.7 and one that loads and stores 3.4. Here a block loads
// 8 rows of op(A) and 8 columns of op(B) over all of k, two to four loads a thread with nothing to
// wait for between them, and multiplies from shared memory: several groups of threads compute the
// whole tile each, from a part of k (split-k slices). What is left is 4.1 us. Two things count here
// that count nowhere else:
//
// - The work of a multiprocessor: tiles of 16 x 16 without slices took 5.5 us.
// - Code and arguments, which are read from memory too. A loop over the batch, 64-bit divisions and
//   arguments of 140 bytes cost 0.3 us; hence a multiplication of a batch for each blockIdx.z,
//   kernels without a loop over k, and an argument type of its own.
//
// Up to 8 x 8 x 8 there is not even shared memory, see tiny_direct.h.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "common/base/return_if_error.h"
#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/tiny_direct.h"

namespace stridewise {
namespace {

// The argument; the fields that a thread reads first come first. m, n and k are at most some 2^19.
struct Product {
  const float* a;
  const float* b;
  int64_t lda, ldb;
  int m, n, k;
  float alpha;
  float* c;
  int64_t ldc;
  int64_t stride_a, stride_b, stride_c;
  float beta;
};

// A block computes kTile x kTile elements, from a k extent of kTileK at a time, of which each slice
// has a part.
template <int kTileOfBlock, int kExtentK, int kThreadsOfBlock>
struct TinyTile {
  static constexpr int kTile = kTileOfBlock;
  static constexpr int kTileK = kExtentK;
  static constexpr int kThreads = kThreadsOfBlock;
  static constexpr int kElements = kTile * kTile;
  static constexpr int kSlices = kThreads / kElements;
  static constexpr int kSliceK = kTileK / kSlices;
  static constexpr int kLoads = kTile * kTileK / kThreads;  // A thread's, from each operand.
  static_assert(kSlices * kElements == kThreads, "a slice has a thread for each element");
  static_assert(kSlices * kSliceK == kTileK, "slices have equal parts of k");
  static_assert(kLoads * kThreads == kTile * kTileK, "threads load equal parts");
};

// Where an element lies in an operand's tile.
struct LoadCoord {
  int mn;
  int k;
};

// Returns the coordinate of the thread's load number `i`.
template <typename Tile, bool kKMajor>
__device__ inline LoadCoord CoordOfLoad(int i) {
  // Unsigned: a division by a power of two is one shift then.
  const uint32_t number = threadIdx.x + i * Tile::kThreads;
  const auto mn = static_cast<int>(kKMajor ? number / Tile::kTileK : number % Tile::kTile);
  const auto k = static_cast<int>(kKMajor ? number % Tile::kTileK : number / Tile::kTile);
  return {mn, k};
}

// Loads the thread's part of the operand's tile at (first_mn, first_k); 0 outside the operand,
// which ends at (mn, k).
template <typename Tile, bool kKMajor>
__device__ inline void Load(const float* operand, int64_t ld, int first_mn, int mn, int first_k,
                            int k, float (&values)[Tile::kLoads]) {
#pragma unroll
  for (int i = 0; i < Tile::kLoads; ++i) {
    const LoadCoord coord = CoordOfLoad<Tile, kKMajor>(i);
    const int at_mn = first_mn + coord.mn;
    const int at_k = first_k + coord.k;
    const int64_t offset = kKMajor ? at_mn * ld + at_k : at_k * ld + at_mn;
    values[i] = at_mn < mn && at_k < k ? operand[offset] : 0.0f;
  }
}

// kOnce: k is at most kTileK.
template <typename Tile, bool kOnce, bool kKMajorA, bool kKMajorB>
__global__ void __launch_bounds__(Tile::kThreads) Tiny(Product product) {
  constexpr int kTile = Tile::kTile;
  // Pitches that keep what a warp stores, and what it loads, in different banks.
  __shared__ float a_tile[kTile][Tile::kTileK + 4];
  __shared__ float b_tile[Tile::kTileK][kTile + 1];
  __shared__ float sums[Tile::kSlices][Tile::kElements];
  const uint32_t thread = threadIdx.x;
  const int first_row = static_cast<int>(blockIdx.y) * kTile;
  const int first_col = static_cast<int>(blockIdx.x) * kTile;
  const float* const a = product.a + blockIdx.z * product.stride_a;
  const float* const b = product.b + blockIdx.z * product.stride_b;
  const auto row = static_cast<int>(thread % Tile::kElements / kTile);
  const auto col = static_cast<int>(thread % kTile);
  const auto slice = static_cast<int>(thread / Tile::kElements);
  float sum = 0;
  for (int first = 0; first == 0 || (!kOnce && first < product.k); first += Tile::kTileK) {
    float a_values[Tile::kLoads];
    float b_values[Tile::kLoads];
    Load<Tile, kKMajorA>(a, product.lda, first_row, product.m, first, product.k, a_values);
    Load<Tile, kKMajorB>(b, product.ldb, first_col, product.n, first, product.k, b_values);
#pragma unroll
    for (int i = 0; i < Tile::kLoads; ++i) {
      const LoadCoord in_a = CoordOfLoad<Tile, kKMajorA>(i);
      const LoadCoord in_b = CoordOfLoad<Tile, kKMajorB>(i);
      a_tile[in_a.mn][in_a.k] = a_values[i];
      b_tile[in_b.k][in_b.mn] = b_values[i];
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < Tile::kSliceK; ++i) {
      const int k = slice * Tile::kSliceK + i;
      sum = fma(a_tile[row][k], b_tile[k][col], sum);
    }
    if (!kOnce) __syncthreads();
  }
  if (Tile::kSlices > 1) {
    sums[slice][thread % Tile::kElements] = sum;
    __syncthreads();
    if (slice > 0) return;
#pragma unroll
    for (int other = 1; other < Tile::kSlices; ++other) sum += sums[other][thread];
  }
  if (first_row + row >= product.m || first_col + col >= product.n) return;
  const Epilogue<Float32> epilogue = {product.alpha, product.beta};
  epilogue.Store(sum, &product.c[blockIdx.z * product.stride_c + (first_row + row) * product.ldc +
                                 (first_col + col)]);
}

// REQUIRES: at most kMaxGridYZ rows of tiles and multiplications.
template <typename Tile, bool kOnce>
LaunchStatus LaunchTiny(const MatMulArgs& args, const Product& product, int64_t batch) {
  const Grid grid = {CeilDiv(product.n, Tile::kTile), CeilDiv(product.m, Tile::kTile), batch};
  return ForLayouts(args, [&](auto layout_a, auto layout_b) {
    return Launch(Tiny<Tile, kOnce, layout_a() == OperandLayout::kKMajor,
                       layout_b() == OperandLayout::kKMajor>,
                  grid, Block{Tile::kThreads}, 0, args.stream, product);
  });
}

LaunchStatus LaunchPart(const MatMulArgs& args, const Product& product, int64_t batch) {
  // Tiles of 8 x 8 read twice as much, which pays while no multiprocessor has more than two.
  constexpr int64_t kFewTiles = 264;
  if (product.k <= 128 && CeilDiv(product.m, 8) * CeilDiv(product.n, 8) * batch <= kFewTiles) {
    if (product.k <= 16) return LaunchTiny<TinyTile<8, 16, 128>, true>(args, product, batch);
    if (product.k <= 32) return LaunchTiny<TinyTile<8, 32, 256>, true>(args, product, batch);
    if (product.k <= 64) return LaunchTiny<TinyTile<8, 64, 256>, true>(args, product, batch);
    return LaunchTiny<TinyTile<8, 128, 512>, true>(args, product, batch);
  }
  if (product.k <= 16) return LaunchTiny<TinyTile<16, 16, 256>, true>(args, product, batch);
  if (product.k <= 64) return LaunchTiny<TinyTile<16, 64, 512>, true>(args, product, batch);
  if (product.k <= 160) return LaunchTiny<TinyTile<16, 160, 512>, true>(args, product, batch);
  return LaunchTiny<TinyTile<16, 160, 512>, false>(args, product, batch);
}

}  // namespace

// One launch for every size that this kernel is good for; a grid has no room for more rows than
// kPart, nor for more multiplications than kMaxGridYZ.
LaunchStatus MatMulTiny(const MatMulArgs& args) {
  if (FitsDirect(args)) return LaunchTinyDirect(args);
  constexpr int64_t kPart = 8 * kMaxGridYZ;  // Rows or columns.
  const Gemm<Float32> gemm = GemmOf<Float32>(args);
  for (int64_t row = 0; row < args.m; row += kPart) {
    for (int64_t col = 0; col < args.n; col += kPart) {
      for (int64_t index = 0; index < args.batch; index += kMaxGridYZ) {
        const Product product = {
            gemm.a.data + index * args.a.stride + (args.a.transposed ? row : row * args.a.ld),
            gemm.b.data + index * args.b.stride + (args.b.transposed ? col * args.b.ld : col),
            args.a.ld,
            args.b.ld,
            static_cast<int>(std::min(kPart, args.m - row)),
            static_cast<int>(std::min(kPart, args.n - col)),
            gemm.k,
            gemm.epilogue.alpha,
            gemm.c.data + index * args.c.stride + row * args.c.ld + col,
            args.c.ld,
            args.a.stride,
            args.b.stride,
            args.c.stride,
            gemm.epilogue.beta};
        RETURN_IF_ERROR(LaunchPart(args, product, std::min(kMaxGridYZ, args.batch - index)));
      }
    }
  }
  return LaunchStatus();
}

}  // namespace stridewise
