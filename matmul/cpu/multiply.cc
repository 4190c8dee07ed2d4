#include "matmul/cpu/multiply.h"

#include <utility>

#include "matmul/batch.h"
#include "matmul/cpu/host_product.h"
#include "matmul/cpu/scale.h"
#include "matmul/cpu/threads.h"

namespace stridewise {
namespace {

// A matrix of one row has no step between rows, one of one column none between columns: the step
// that makes it one without gaps is taken.
template <typename T>
Strided<T> StridedOf(const ConstMatrix<T>& matrix, bool transposed) {
  Strided<T> strided = {matrix.data, matrix.ld, 1};
  if (transposed) std::swap(strided.row_step, strided.col_step);
  return strided;
}

template <typename T>
HostProduct<T> HostProductOf(const MatMulArgs& args) {
  HostProduct<T> product;
  product.m = args.m;
  product.n = args.n;
  product.k = args.k;
  product.a = StridedOf(args.A<T>(), args.a.transposed);
  product.b = StridedOf(args.B<T>(), args.b.transposed);
  product.c = args.C<T>().data;
  product.ldc = args.c.ld;
  product.alpha = static_cast<T>(args.alpha);
  product.beta = static_cast<T>(args.beta);
  return product;
}

// Returns the part of the product that thread `index` of the grid computes.
template <typename T>
HostProduct<T> PartOf(const HostProduct<T>& whole, const ThreadGrid& grid, int64_t index) {
  const int64_t row = index / grid.cols;
  const int64_t col = index % grid.cols;
  const int64_t first_row = whole.m * row / grid.rows;
  const int64_t first_col = FirstOfPart(whole.n, col, grid.cols);
  HostProduct<T> part = whole;
  part.m = whole.m * (row + 1) / grid.rows - first_row;
  part.n = FirstOfPart(whole.n, col + 1, grid.cols) - first_col;
  part.a.data = whole.a.At(first_row, 0);
  part.b.data = whole.b.At(0, first_col);
  part.c = whole.c + first_row * whole.ldc + first_col;
  return part;
}

template <typename T>
void MultiplyOne(const MatMulArgs& args, int threads) {
  if (args.m == 0 || args.n == 0) return;
  if (args.k == 0 || static_cast<T>(args.alpha) == 0) return ScaleByBeta<T>(args);
  const HostProduct<T> product = HostProductOf<T>(args);
  const ThreadGrid grid =
      threads == 1 ? ThreadGrid() : ChooseThreadGrid(args.m, args.n, args.k, threads);
  const int64_t parts = grid.rows * grid.cols;
  if (parts == 1) return MultiplyOnOneCore(product);
#pragma omp parallel for num_threads(static_cast <int>(parts)) schedule(static, 1)
  for (int64_t i = 0; i < parts; ++i) MultiplyOnOneCore(PartOf(product, grid, i));
}

template <typename T>
void MultiplyBatch(const MatMulArgs& args, int threads) {
  // Whole products for each thread, if that leaves no thread idle for long.
  const ThreadGrid grid = ChooseThreadGrid(args.m, args.n * args.batch, args.k, threads);
  const int64_t parts = grid.rows * grid.cols;
  if (parts > 1 && (args.batch >= 2 * parts || args.batch % parts == 0)) {
#pragma omp parallel for num_threads(static_cast <int>(parts)) schedule(static)
    for (int64_t i = 0; i < args.batch; ++i) MultiplyOne<T>(OneOfBatch(args, i), 1);
    return;
  }
  for (int64_t i = 0; i < args.batch; ++i) MultiplyOne<T>(OneOfBatch(args, i), threads);
}

}  // namespace

void MultiplyOnHost(const MatMulArgs& args, int threads) {
  ForElementType<float, double>(args.c.type, [&](auto element) {
    using T = decltype(element);
    if (args.batch == 1) {
      MultiplyOne<T>(args, threads);
    } else {
      MultiplyBatch<T>(args, threads);
    }
  });
}

}  // namespace stridewise
