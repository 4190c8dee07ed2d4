// Step 2: one thread for each element of C, with neighbouring threads down a column of C.
//
// This is faster than one thread a block (step 1) because all 32 lanes of a warp have work. It is
// still slow because accesses are not coalesced: neighbouring threads read elements of A and write
// elements of C that lie a row apart. Memory is read and written in sectors of 32 bytes, and here a
// warp touches a different sector for each of its 16 or 32 rows and uses 4 or 8 bytes of it. The
// arithmetic is that of `naive`; the only difference is which thread computes which element.

#include "common/gpu/launch.h"
#include "matmul/args.h"

namespace stridewise {
namespace {

template <typename T>
__global__ void NaiveUncoalesced(ConstMatrix<T> a, ConstMatrix<T> b, Matrix<T> c) {
  const int64_t row = BlockRow() * blockDim.x + threadIdx.x;
  const int64_t col = static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  if (row >= c.rows || col >= c.cols) return;
  T sum = 0;
  const int depth = static_cast<int>(a.cols);
  for (int i = 0; i < depth; ++i) sum = fma(a(row, i), b(i, col), sum);
  c(row, col) = sum;
}

}  // namespace

LaunchStatus MatMulNaiveUncoalesced(const MatMulArgs& args) {
  const Block& block = args.block;
  return ForElementType(args, [&](auto element) {
    using T = decltype(element);
    return Launch(NaiveUncoalesced<T>, TileGrid(args.m, args.n, block.x, block.y), block, 0,
                  args.stream, args.A<T>(), args.B<T>(), args.C<T>());
  });
}

}  // namespace stridewise
