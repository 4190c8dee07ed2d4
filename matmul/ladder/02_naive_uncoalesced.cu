// One thread an element of C, neighbouring threads down a column: a warp reads 16 or 32 elements of
// A, each in a row and so in a sector of its own, and writes C in the same way. The arithmetic is
// that of `naive`; only which thread does which element has changed.

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

absl::Status MatMulNaiveUncoalesced(const MatMulArgs& args) {
  const Block& block = args.block;
  return ForElementType(args, [&](auto element) {
    using T = decltype(element);
    return Launch(NaiveUncoalesced<T>, TileGrid(args.m, args.n, block.x, block.y), block, 0,
                  args.stream, args.A<T>(), args.B<T>(), args.C<T>());
  });
}

}  // namespace stridewise
