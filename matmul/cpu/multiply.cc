#include "matmul/cpu/multiply.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <type_traits>
#include <utility>

#include "common/base/crew.h"
#include "common/base/element_type.h"
#include "common/base/half_types.h"
#include "matmul/batch.h"
#include "matmul/cpu/host_product.h"
#include "matmul/cpu/pack_buffers.h"
#include "matmul/cpu/scale.h"
#include "matmul/cpu/team.h"
#include "matmul/cpu/threads.h"

namespace stridewise {
namespace {

// Items of work that others have not taken, for each thread of theirs, that repay helping them.
constexpr int64_t kMinItemsOfHelp = 4;

// Multiply-adds that repay taking rows in turn, between cubes of 384 and of 512: those of shorter
// products are over before threads differ.
constexpr double kMinWorkOfTeams = 1e8;

// A product of fewer steps along k takes its time for C, whose lines stay where they are if each
// thread has the same rows in every call: 3826x1067x34 takes 1.4 times as long by teams.
constexpr int64_t kMinDepthOfTeams = 64;

// A matrix of one row has no step between rows, one of one column none between columns: the step
// that makes it one without gaps is taken.
template <typename T>
Strided<T> StridedOf(const ConstMatrix<T>& matrix, bool transposed) {
  Strided<T> strided = {matrix.data, matrix.ld, 1};
  if (transposed) std::swap(strided.row_step, strided.col_step);
  return strided;
}

template <typename T, typename Out>
HostProduct<T, Out> HostProductOf(const MatMulArgs& args) {
  HostProduct<T, Out> product;
  product.m = args.m;
  product.n = args.n;
  product.k = args.k;
  product.a = StridedOf(args.A<T>(), args.a.transposed);
  product.b = StridedOf(args.B<T>(), args.b.transposed);
  product.c = args.C<Out>().data;
  product.ldc = args.c.ld;
  product.alpha = static_cast<ScaleOf<T>>(args.alpha);
  product.beta = static_cast<ScaleOf<T>>(args.beta);
  return product;
}

ProductShape ShapeOf(const MatMulArgs& args) {
  const bool is_bf16 = args.a.type == ElementType::kBf16;
  return {args.m, args.n, args.k, args.a.transposed, args.b.transposed, is_bf16};
}

// Returns the part of the product that thread `index` of the grid computes.
template <typename T, typename Out>
HostProduct<T, Out> PartOf(const HostProduct<T, Out>& whole, const ThreadGrid& grid,
                           int64_t index) {
  const int64_t row = index / grid.cols;
  const int64_t col = index % grid.cols;
  const int64_t first_row = whole.m * row / grid.rows;
  const int64_t first_col = FirstOfPart(whole.n, col, grid.cols);
  HostProduct<T, Out> part = whole;
  part.m = whole.m * (row + 1) / grid.rows - first_row;
  part.n = FirstOfPart(whole.n, col + 1, grid.cols) - first_col;
  part.a.data = whole.a.At(first_row, 0);
  part.b.data = whole.b.At(0, first_col);
  part.c = whole.c + first_row * whole.ldc + first_col;
  return part;
}

// Returns the columns of the product that team `index` of `teams` computes.
template <typename T, typename Out>
HostProduct<T, Out> ColumnsOf(const HostProduct<T, Out>& whole, int64_t teams, int64_t index) {
  return PartOf(whole, {1, teams}, index);
}

// Elements of sums that are kept apart from a C of another type, 16 MB: a part that stays in the
// L3 cache.
constexpr int64_t kMaxSums = 4 << 20;

// Computes the product by teams of threads (team.h), one for each column of the grid.
template <typename T, typename Out>
void MultiplyRowsInTeams(const HostProduct<T, Out>& product, const ThreadGrid& grid, int threads,
                         CacheBlocks blocks) {
  using Sum = ScaleOf<T>;
  Sum* sums = nullptr;
  if (!std::is_same_v<Out, Sum> && blocks.k < product.k) {
    sums = PackBuffers<Sum>::OfThread().sums.AtLeast(product.m * product.n);
  }
  blocks.m = ChunkRows(product.m, blocks.n * blocks.k, grid.rows, blocks.panel);
  std::deque<TeamWork<T, Out>> works;
  for (int64_t i = 0; i < grid.cols; ++i) {
    const HostProduct<T, Out> part = ColumnsOf(product, grid.cols, i);
    works.emplace_back(part, blocks, sums);
    if (sums != nullptr) sums += part.m * part.n;
  }
  RunInCrew(threads, threads, [&](int64_t thread) {
    const int64_t team = thread * grid.cols / threads;
    for (int64_t i = 0; i < grid.cols; ++i) {
      TeamWork<T, Out>& work = works[static_cast<size_t>((team + i) % grid.cols)];
      // Others are helped only where there is more to do than a copy of B costs.
      const bool helps = work.left() >= kMinItemsOfHelp * work.threads();
      if (i > 0 && work.threads() > 0 && !helps) continue;
      work.Enter();
      WorkOnHost(&work);
    }
  });
}

// Computes the product by teams. Returns whether it did: products that no core would pack, or of
// few rows, gain nothing by it.
template <typename T, typename Out>
bool MultiplyInTeams(const HostProduct<T, Out>& product, const ThreadGrid& grid, int threads) {
  CacheBlocks blocks;
  const double work = static_cast<double>(product.m) * static_cast<double>(product.n) *
                      static_cast<double>(product.k);
  if (work < kMinWorkOfTeams || product.k < kMinDepthOfTeams || grid.rows == 1) return false;
  if (!IsPackedOnHost(ColumnsOf(product, grid.cols, 0), &blocks)) return false;
  const bool has_sums = !std::is_same_v<Out, ScaleOf<T>> && blocks.k < product.k;
  const int64_t most = has_sums ? std::max<int64_t>(kMaxSums / product.n, 64) : product.m;
  for (int64_t first = 0; first < product.m; first += most) {
    HostProduct<T, Out> part = product;
    part.m = std::min(most, product.m - first);
    part.a.data = product.a.At(first, 0);
    part.c = product.c + first * product.ldc;
    MultiplyRowsInTeams(part, grid, threads, blocks);
  }
  return true;
}

// Adds elements [first, end) of C from sums that are `step` elements apart.
template <typename T, typename Out, typename Sum>
void AddSums(const HostProduct<T, Out>& product, Sum* sums, int64_t step, int64_t parts,
             int64_t first, int64_t end) {
  for (int64_t i = 1; i < parts; ++i) {
    const Sum* const from = sums + i * step;
    for (int64_t at = first; at < end; ++at) sums[at] += from[at];
  }
  for (int64_t at = first; at < end;) {
    const int64_t row = at / product.n;
    Out* const c = product.c + row * product.ldc - row * product.n;
    const int64_t end_of_row = std::min(end, (row + 1) * product.n);
    for (; at < end_of_row; ++at) {
      c[at] = static_cast<Out>(
          product.beta == 0 ? sums[at] : sums[at] + product.beta * static_cast<Sum>(c[at]));
    }
  }
}

// Computes the product in parts along k, each of them divided as C is, and adds them up.
template <typename T, typename Out>
void MultiplyAlongK(const HostProduct<T, Out>& product, const ThreadGrid& grid, int threads) {
  using Sum = ScaleOf<T>;
  const int64_t count = product.m * product.n;
  // Parts along k begin with cache lines of their own.
  const int64_t step = (count + kPartUnit - 1) / kPartUnit * kPartUnit + kPartUnit;
  Sum* const sums = PackBuffers<Sum>::OfThread().parts.AtLeast(grid.depth * step);
  const int64_t parts = grid.parts();
  RunInCrew(threads, parts, [&](int64_t i) {
    const int64_t at = i % grid.depth;
    const int64_t first = FirstOfPart(product.k, at, grid.depth);
    HostProduct<T, Sum> slice;
    slice.m = product.m;
    slice.n = product.n;
    slice.k = FirstOfPart(product.k, at + 1, grid.depth) - first;
    slice.a = product.a;
    slice.a.data = product.a.At(0, first);
    slice.b = product.b;
    slice.b.data = product.b.At(first, 0);
    slice.c = sums + at * step;
    slice.ldc = product.n;
    slice.alpha = product.alpha;
    MultiplyOnOneCore(PartOf(slice, grid, i / grid.depth));
  });
  RunInCrew(threads, parts, [&](int64_t i) {
    AddSums(product, sums, step, grid.depth, FirstOfPart(count, i, parts),
            FirstOfPart(count, i + 1, parts));
  });
}

template <typename T, typename Out>
void MultiplyOne(const MatMulArgs& args, int threads) {
  if (args.m == 0 || args.n == 0) return;
  if (args.k == 0 || static_cast<ScaleOf<T>>(args.alpha) == 0) return ScaleByBeta<Out>(args);
  const HostProduct<T, Out> product = HostProductOf<T, Out>(args);
  const ProductShape shape = ShapeOf(args);
  const ThreadGrid grid = threads == 1 ? ThreadGrid() : ChooseThreadGrid(shape, threads);
  const int64_t parts = grid.parts();
  if (parts == 1) return MultiplyOnOneCore(product);
  const ThreadGrid depth_grid = ChooseDepthGrid(shape, grid, threads);
  if (depth_grid.depth > 1) return MultiplyAlongK(product, depth_grid, threads);
  if (MultiplyInTeams(product, grid, threads)) return;
  RunInCrew(threads, parts, [&](int64_t i) { MultiplyOnOneCore(PartOf(product, grid, i)); });
}

// Computes the products in parts that threads take in turn, one core for each.
template <typename T, typename Out>
void MultiplyInTurn(const MatMulArgs& args, int64_t threads) {
  const ThreadGrid grid = ChooseBatchGrid(args.m, args.n, args.batch, threads);
  const int64_t parts = grid.rows * grid.cols;
  RunInCrew(static_cast<int>(threads), args.batch * parts, [&](int64_t i) {
    const HostProduct<T, Out> product = HostProductOf<T, Out>(OneOfBatch(args, i / parts));
    MultiplyOnOneCore(PartOf(product, grid, i % parts));
  });
}

template <typename T, typename Out>
void MultiplyBatch(const MatMulArgs& args, int threads) {
  if (args.batch == 1) return MultiplyOne<T, Out>(args, threads);
  ProductShape all = ShapeOf(args);
  all.n *= args.batch;
  const int64_t parts = ChooseThreadGrid(all, threads).parts();
  // Whole products for each thread, if that leaves no thread idle for long.
  if (parts > 1 && (args.batch >= 2 * parts || args.batch % parts == 0)) {
    return RunInCrew(static_cast<int>(parts), args.batch,
                     [&](int64_t i) { MultiplyOne<T, Out>(OneOfBatch(args, i), 1); });
  }
  // Else parts of them, so that threads wait for each other once and not for each product. Large
  // products do without: their teams help each other.
  const double work =
      static_cast<double>(args.m) * static_cast<double>(args.n) * static_cast<double>(args.k);
  const bool has_products = work > 0 && static_cast<ScaleOf<T>>(args.alpha) != 0;
  if (parts > 1 && has_products && work < kMinWorkOfTeams) {
    return MultiplyInTurn<T, Out>(args, parts);
  }
  for (int64_t i = 0; i < args.batch; ++i) MultiplyOne<T, Out>(OneOfBatch(args, i), threads);
}

}  // namespace

void MultiplyOnHost(const MatMulArgs& args, int threads) {
  if (args.a.type == ElementType::kBf16) {
    return ForElementType<float, Bf16>(
        args.c.type, [&](auto element) { MultiplyBatch<Bf16, decltype(element)>(args, threads); });
  }
  ForElementType<float, double>(args.c.type, [&](auto element) {
    using T = decltype(element);
    MultiplyBatch<T, T>(args, threads);
  });
}

}  // namespace stridewise
