// For matrices of a few rows: few_columns with loads and stores exchanged. A block takes a run of
// columns of all rows, loads each row's strip of it 16 bytes a thread, wherever the strip starts,
// and stores what is one contiguous piece of `out`. On an H200 this reaches 1.00 of memcpy at 3
// rows of floats, 0.99 at 7 and 0.89 at 20; with loads of one element a thread it was 0.96 at 3 and
// 0.90 at 7.
//
// More than 32 rows are taken in panels, and an `out` with gaps one element a thread.

#include "common/gpu/launch.h"
#include "transpose/args.h"
#include "transpose/device/skinny_chunk.h"
#include "transpose/device/strip.h"

namespace stridewise {
namespace {

constexpr int kThreads = 128;
constexpr int kStripBytes = 16 * kThreads;  // One vector a thread.
constexpr int kMaxBytes = 28 << 10;
constexpr int kInFlight = 4;  // Loads that a thread starts before it uses the first.

template <typename T>
__device__ void LoadStrips(const ConstMatrix<T>& piece, const SkinnyChunk<T>& chunk, T* tile) {
  const int rows = static_cast<int>(piece.rows);
  const auto strip_of = [&](int row) {
    return Strip<const T>(&piece(row, 0), static_cast<int>(piece.cols));
  };
  const int vector = chunk.VectorOfThread(threadIdx.x);
  const int step = chunk.StripOfThread(kThreads);
  for (int row = chunk.StripOfThread(threadIdx.x); row < rows; row += kInFlight * step) {
    Vector loaded[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const int at = row + i * step;
      if (at < rows && strip_of(at).Fills(vector)) loaded[i] = strip_of(at).At(vector);
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const int at = row + i * step;
      if (at >= rows || !strip_of(at).Fills(vector)) continue;
      chunk.ForVector(strip_of(at).First(vector), at,
                      [&](int k, int offset) { tile[offset] = ElementOf<T>(loaded[i], k); });
    }
  }
  for (int i = threadIdx.x; i < rows * Strip<T>::kEnds; i += kThreads) {
    const int row = i / Strip<T>::kEnds;
    const int col = strip_of(row).End(i % Strip<T>::kEnds);
    if (col >= 0) tile[chunk.OfElement(col, row)] = strip_of(row)[col];
  }
}

template <typename T>
__device__ void StoreFlat(const void* shared, const SkinnyChunk<T>& chunk, T* piece, int elements) {
  using Unit = typename SkinnyChunk<T>::Unit;
  constexpr int kUnits = SkinnyChunk<T>::kUnits;
  const int vectors = elements / kVectorElements<T>;
#pragma unroll 4
  for (int v = threadIdx.x; v < vectors; v += kThreads) {
    const Unit* from = static_cast<const Unit*>(shared) + chunk.OfFlatVector(v);
    Unit units[kUnits];
#pragma unroll
    for (int k = 0; k < kUnits; ++k) units[k] = from[k];
    reinterpret_cast<Vector*>(piece)[v] = VectorOf(units);
  }
  const int rest = vectors * kVectorElements<T> + threadIdx.x;
  if (rest < elements) {
    const int col = chunk.AlongOfFlat(rest);
    piece[rest] = static_cast<const T*>(shared)[chunk.OfElement(col, rest - col * chunk.width())];
  }
}

// Stores to rows with gaps. The rows of `piece` are the columns of the chunk.
template <typename T>
__device__ void StoreRows(const T* tile, const SkinnyChunk<T>& chunk, const Matrix<T>& piece) {
  const int elements = static_cast<int>(piece.rows) * chunk.width();
#pragma unroll 4
  for (int i = threadIdx.x; i < elements; i += kThreads) {
    const int col = chunk.AlongOfFlat(i);
    const int row = i - col * chunk.width();
    if (row < piece.cols) piece(col, row) = tile[chunk.OfElement(col, row)];
  }
}

// Takes a chunk of columns a block, along blockIdx.x, and a panel of rows a row of blocks.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    FewRows(ConstMatrix<T> in, Matrix<T> out, SkinnyChunk<T> chunk, bool flat) {
  extern __shared__ Vector shared[];
  const int64_t first_col = static_cast<int64_t>(blockIdx.x) * chunk.length();
  const int64_t first_row = BlockRow() * chunk.width();
  if (first_row >= in.rows) return;
  const int64_t rows_left = in.rows - first_row;
  const int64_t cols_left = in.cols - first_col;
  const int rows = rows_left < chunk.width() ? static_cast<int>(rows_left) : chunk.width();
  const int cols = cols_left < chunk.length() ? static_cast<int>(cols_left) : chunk.length();
  T* tile = reinterpret_cast<T*>(shared);
  LoadStrips({&in(first_row, first_col), rows, cols, in.ld}, chunk, tile);
  __syncthreads();
  if (flat) {
    StoreFlat(shared, chunk, &out(first_col, 0), rows * cols);
  } else {
    StoreRows(tile, chunk, {&out(first_col, first_row), cols, rows, out.ld});
  }
}

}  // namespace

LaunchStatus TransposeFewRows(const TransposeArgs& args) {
  if (args.rows == 0 || args.cols == 0) return LaunchStatus();
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    const SkinnyChunk<T> chunk(args.rows, kStripBytes, kMaxBytes);
    const bool flat =
        args.rows == chunk.width() && args.ld_out == args.rows && Strip<T>::Lead(args.out) == 0;
    return Launch(FewRows<T>, TileGrid(args.rows, args.cols, chunk.width(), chunk.length()),
                  Block{kThreads, 1}, chunk.shared_bytes(), args.stream, args.In<T>(),
                  args.Out<T>(), chunk, flat);
  });
}

}  // namespace stridewise
