// For matrices of a few columns. A 32x32 tile would be mostly empty, and rows of so few elements
// cannot be loaded coalesced one by one; but all columns of a run of rows are one contiguous piece
// of memory. A block loads such a piece into shared memory, 16 bytes a thread, and stores it as
// strips of out rows, wherever those start. On an H200 this reaches 0.99 of memcpy at 3 columns of
// floats, 0.96 at 7 and 0.92 at 20; with stores of one element a thread it was 0.93 at 3 and 0.92
// at 7.
//
// More than 32 columns are taken in panels, and rows with gaps one element a thread: correct, and
// no longer fast.

#include "common/gpu/launch.h"
#include "transpose/args.h"
#include "transpose/device/skinny_chunk.h"
#include "transpose/device/strip.h"

namespace stridewise {
namespace {

constexpr int kThreads = 256;
constexpr int kStripBytes = 16 * kThreads;  // One vector a thread.
constexpr int kMaxBytes = 28 << 10;         // Six blocks or more on a multiprocessor.
constexpr int kInFlight = 4;                // Loads that a thread starts before it uses the first.

template <typename T>
__device__ void LoadFlat(const T* piece, int elements, const SkinnyChunk<T>& chunk, void* shared) {
  using Unit = typename SkinnyChunk<T>::Unit;
  constexpr int kUnits = SkinnyChunk<T>::kUnits;
  const int vectors = elements / kVectorElements<T>;
  for (int v = threadIdx.x; v < vectors; v += kInFlight * kThreads) {
    Vector loaded[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const int at = v + i * kThreads;
      if (at < vectors) loaded[i] = reinterpret_cast<const Vector*>(piece)[at];
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const int at = v + i * kThreads;
      if (at >= vectors) break;
      Unit* to = static_cast<Unit*>(shared) + chunk.OfFlatVector(at);
#pragma unroll
      for (int k = 0; k < kUnits; ++k) to[k] = ElementOf<Unit>(loaded[i], k);
    }
  }
  const int rest = vectors * kVectorElements<T> + threadIdx.x;
  if (rest < elements) {
    const int row = chunk.AlongOfFlat(rest);
    static_cast<T*>(shared)[chunk.OfElement(row, rest - row * chunk.width())] = piece[rest];
  }
}

template <typename T>
__device__ void LoadRows(const ConstMatrix<T>& piece, const SkinnyChunk<T>& chunk, void* shared) {
  const int elements = static_cast<int>(piece.rows) * chunk.width();
#pragma unroll 4
  for (int i = threadIdx.x; i < elements; i += kThreads) {
    const int row = chunk.AlongOfFlat(i);
    const int col = i - row * chunk.width();
    if (col < piece.cols) static_cast<T*>(shared)[chunk.OfElement(row, col)] = piece(row, col);
  }
}

// Takes a chunk of rows a block, along blockIdx.x, and a panel of columns a row of blocks.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    FewColumns(ConstMatrix<T> in, Matrix<T> out, SkinnyChunk<T> chunk, bool flat) {
  extern __shared__ Vector shared[];
  const int64_t first_row = static_cast<int64_t>(blockIdx.x) * chunk.length();
  const int64_t first_col = BlockRow() * chunk.width();
  if (first_col >= in.cols) return;
  const int64_t rows_left = in.rows - first_row;
  const int64_t cols_left = in.cols - first_col;
  const int rows = rows_left < chunk.length() ? static_cast<int>(rows_left) : chunk.length();
  const int cols = cols_left < chunk.width() ? static_cast<int>(cols_left) : chunk.width();
  if (flat) {
    LoadFlat(&in(first_row, 0), rows * cols, chunk, shared);
  } else {
    LoadRows({&in(first_row, first_col), rows, cols, in.ld}, chunk, shared);
  }
  __syncthreads();

  const T* tile = reinterpret_cast<const T*>(shared);
  const int vector = chunk.VectorOfThread(threadIdx.x);
  const int step = chunk.StripOfThread(kThreads);
  for (int col = chunk.StripOfThread(threadIdx.x); col < cols; col += step) {
    const Strip<T> strip(&out(first_col + col, first_row), rows);
    if (!strip.Fills(vector)) continue;
    T elements[kVectorElements<T>];
    chunk.ForVector(strip.First(vector), col,
                    [&](int k, int offset) { elements[k] = tile[offset]; });
    strip.At(vector) = VectorOf(elements);
  }
  for (int i = threadIdx.x; i < cols * Strip<T>::kEnds; i += kThreads) {
    const int col = i / Strip<T>::kEnds;
    const Strip<T> strip(&out(first_col + col, first_row), rows);
    const int row = strip.End(i % Strip<T>::kEnds);
    if (row >= 0) strip[row] = tile[chunk.OfElement(row, col)];
  }
}

}  // namespace

LaunchStatus TransposeFewColumns(const TransposeArgs& args) {
  if (args.rows == 0 || args.cols == 0) return LaunchStatus();
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    const SkinnyChunk<T> chunk(args.cols, kStripBytes, kMaxBytes);
    const bool flat =
        args.cols == chunk.width() && args.ld_in == args.cols && Strip<T>::Lead(args.in) == 0;
    return Launch(FewColumns<T>, TileGrid(args.cols, args.rows, chunk.width(), chunk.length()),
                  Block{kThreads, 1}, chunk.shared_bytes(), args.stream, args.In<T>(),
                  args.Out<T>(), chunk, flat);
  });
}

}  // namespace stridewise
