// Step 3: one thread for each element of C, with neighbouring threads along a row of C.
//
// This is faster than step 2 because accesses are coalesced: for each k a warp reads 32
// neighbouring elements of B (4 sectors of 32 bytes for float), all of which it uses, and a single
// element of A, which all its lanes share. What limits it now is reuse. Every element of A is
// fetched n times and every element of B m times, so the caches set the pace and not the
// arithmetic.
//
// Beside it `global_accumulation`: the same threads with their sums in global memory instead of
// registers, which adds a load and a store of C for each k.

#include "common/gpu/launch.h"
#include "matmul/args.h"

namespace stridewise {
namespace {

template <typename T>
__global__ void Naive(ConstMatrix<T> a, ConstMatrix<T> b, Matrix<T> c) {
  const int64_t row = BlockRow() * blockDim.y + threadIdx.y;
  const int64_t col = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= c.rows || col >= c.cols) return;
  T sum = 0;
  // A 32-bit counter: with a 64-bit one the compiler unrolls by 4 and not by 16, keeps fewer loads
  // in flight, and loses 40 % at n = 4096.
  const int depth = static_cast<int>(a.cols);
  for (int i = 0; i < depth; ++i) sum = fma(a(row, i), b(i, col), sum);
  c(row, col) = sum;
}

LaunchStatus LaunchNaive(const MatMulArgs& args) {
  const Block& block = args.block;
  return ForElementType(args, [&](auto element) {
    using T = decltype(element);
    return Launch(Naive<T>, TileGrid(args.m, args.n, block.y, block.x), block, 0, args.stream,
                  args.A<T>(), args.B<T>(), args.C<T>());
  });
}

template <typename T>
__global__ void GlobalAccumulation(ConstMatrix<T> a, ConstMatrix<T> b, Matrix<T> c) {
  const int64_t row = BlockRow() * blockDim.y + threadIdx.y;
  const int64_t col = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (row >= c.rows || col >= c.cols) return;
  // Volatile, so that every access reaches memory. Without it nvcc 13.0 keeps a copy of the sum in
  // a register and drops the loads. It cannot drop the stores, since C might overlap A or B.
  volatile T& sum = c(row, col);
  sum = 0;
  const int depth = static_cast<int>(a.cols);
  for (int i = 0; i < depth; ++i) sum = fma(a(row, i), b(i, col), sum);
}

}  // namespace

LaunchStatus MatMulNaive(const MatMulArgs& args) { return LaunchNaive(args); }

// Step 1: the same kernel launched with one thread a block, as a first attempt often is. The
// hardware runs threads in warps of 32 lanes whether or not they have work, so 31 of 32 lanes idle.
LaunchStatus MatMulNaiveOneThreadBlocks(const MatMulArgs& args) { return LaunchNaive(args); }

LaunchStatus MatMulGlobalAccumulation(const MatMulArgs& args) {
  const Block& block = args.block;
  return ForElementType(args, [&](auto element) {
    using T = decltype(element);
    return Launch(GlobalAccumulation<T>, TileGrid(args.m, args.n, block.y, block.x), block, 0,
                  args.stream, args.A<T>(), args.B<T>(), args.C<T>());
  });
}

}  // namespace stridewise
