// For matrices of a few rows: few_columns with loads and stores exchanged. A block takes a run of
// columns of all rows, loads each row's strip of it 16 bytes a thread, wherever the strip starts,
// and stores what is one contiguous piece of `out`.
//
// More than kMaxSkinnyWidth rows are taken in panels, and an `out` with gaps one element a thread.

#include "common/gpu/launch.h"
#include "transpose/alignment.h"
#include "transpose/args.h"
#include "transpose/device/skinny_chunk.h"
#include "transpose/device/strip.h"

namespace stridewise {
namespace {

constexpr int kThreads = 256;
// Blocks that a multiprocessor has registers for: of chunks of floats it has shared memory for
// five. Elements of 8 and 16 bytes are slower with few registers, and five blocks of 40 KB of large
// matrices of bytes leave L1 too little; those have no bound (0).
template <typename T>
[[maybe_unused]] inline constexpr int kBlocks = sizeof(T) == 4 ? 5 : 0;
constexpr int kInFlight = 4;  // Loads that a thread starts before it uses the first.

// Loads the strips of `piece` with all vectors that have an element of it. Vectors have elements of
// the matrix before and behind their strip, or, unless kInside, are loaded by elements where the
// matrix ends.
template <bool kInside, typename T>
__device__ void LoadStrips(const ConstMatrix<T>& piece, const T* begin, const T* end, int lead,
                           const SkinnyChunk<T>& chunk, T* tile) {
  constexpr int kElements = kVectorElements<T>;
  const int vectors = static_cast<int>(piece.rows) * chunk.strip_vectors();
  const int cols = static_cast<int>(piece.cols);
#pragma unroll 1
  for (int v = threadIdx.x; v < vectors; v += kInFlight * kThreads) {
    Vector loaded[kInFlight];
    typename SkinnyChunk<T>::VectorPlace place[kInFlight];
    bool has[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const auto [row, vector] = chunk.StripVectorOf(v + i * kThreads);
      const T* const strip = piece.data + row * piece.ld;
      const int first = vector * kElements - Strip<const T>::Lead(strip);
      has[i] = v + i * kThreads < vectors && first < cols;
      if (!has[i]) continue;
      place[i] = chunk.PlaceOf(first, row + lead);
      const T* const data = strip + first;
      if (kInside || (data >= begin && data + kElements <= end)) {
        loaded[i] = *reinterpret_cast<const Vector*>(data);
      } else {
        T elements[kElements] = {};
#pragma unroll
        for (int k = 0; k < kElements; ++k) {
          if (data + k >= begin && data + k < end) elements[k] = data[k];
        }
        loaded[i] = VectorOf(elements);
      }
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      if (!has[i]) continue;
      chunk.ForVector(place[i],
                      [&](int k, int offset) { tile[offset] = ElementOf<T>(loaded[i], k); });
    }
  }
}

template <typename T>
__device__ void StoreFlat(const void* shared, const SkinnyChunk<T>& chunk, T* piece, int elements) {
  using Unit = typename SkinnyChunk<T>::Unit;
  const Strip<T> strip(piece, elements);
  const int vectors = (elements + strip.lead()) / kVectorElements<T>;
  const unsigned turn = TurnOfThread(chunk.width());
#pragma unroll 2
  for (int v = threadIdx.x; v < vectors; v += kThreads) {
    if (v == 0 && strip.lead() != 0) continue;  // An end.
    StoreVector(&strip.At(v),
                GetUnits(static_cast<const Unit*>(shared) + chunk.OfFlatVector(v), turn));
  }
  if (threadIdx.x < Strip<T>::kEnds) {
    const int index = strip.End(threadIdx.x);
    if (index < 0) return;
    const int col = chunk.AlongOfFlat(index);
    strip[index] = static_cast<const T*>(
        shared)[chunk.OfElement(col, index - col * chunk.width() + strip.lead())];
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

// Takes a chunk of columns a block, along blockIdx.x, and a panel of rows of a matrix a row of
// blocks.
template <typename T>
__global__ void __launch_bounds__(kThreads, (kBlocks<T>))
    FewRows(ConstMatrix<T> in, Matrix<T> out, SkinnyChunk<T> chunk, SkinnyBatch batch, bool flat) {
  extern __shared__ Vector shared[];
  const auto [matrix, panel] = batch.PanelOf(BlockRow());
  if (matrix >= batch.matrices) return;
  const T* const begin = in.data + matrix * batch.stride_in;
  const T* const end = begin + (in.rows - 1) * in.ld + in.cols;
  T* const out_begin = out.data + matrix * batch.stride_out;
  const int64_t first_col = static_cast<int64_t>(blockIdx.x) * chunk.length();
  const int64_t first_row = static_cast<int64_t>(panel) * chunk.width();
  const int64_t rows_left = in.rows - first_row;
  const int64_t cols_left = in.cols - first_col;
  const int rows = rows_left < chunk.width() ? static_cast<int>(rows_left) : chunk.width();
  const int cols = cols_left < chunk.length() ? static_cast<int>(cols_left) : chunk.length();
  T* tile = reinterpret_cast<T*>(shared);
  T* const piece = out_begin + first_col * out.ld + first_row;
  const int lead = flat ? Strip<T>::Lead(piece) : 0;
  const ConstMatrix<T> strips = {begin + first_row * in.ld + first_col, rows, cols, in.ld};
  // All vectors lie inside the matrix if those of the first and of the last strip do.
  const bool inside = strips.data - begin >= kVectorElements<T> &&
                      end - (strips.data + (rows - 1) * in.ld) >=
                          static_cast<int64_t>(chunk.strip_vectors()) * kVectorElements<T>;
  if (inside) {
    LoadStrips<true>(strips, begin, end, lead, chunk, tile);
  } else {
    LoadStrips<false>(strips, begin, end, lead, chunk, tile);
  }
  __syncthreads();
  if (flat) {
    StoreFlat(shared, chunk, piece, rows * cols);
  } else {
    StoreRows(tile, chunk, {piece, cols, rows, out.ld});
  }
}

// Returns the most bytes of a chunk. Of little memory every multiprocessor must have some, and what
// counts is how soon the last chunk is done: on an H100 16 matrices of 49x2048 bytes have 0.85 of a
// copy in chunks of 12 KB, and 0.60 in chunks of 40 KB. Small elements in many rows take many
// instructions for each strip, which longer ones spread.
int MostBytes(const TransposeArgs& args) {
  constexpr int64_t kMegabyte = 1000000;
  const int64_t bytes = SkinnyBytes(args);
  const bool narrow = args.rows <= 20;
  if (bytes < (args.rows <= 4 ? 12 : 4) * kMegabyte) return 12 << 10;
  // A matrix that is cut where rows begin anywhere has vectors more: 2041 of 102x282 bytes have
  // 0.93 of a copy in chunks of 28 KB, and 0.75 in two.
  const bool whole =
      args.rows * args.cols * args.element_bytes <= 40 << 10 && !InRowsAreAt(args, kVectorBytes);
  if (bytes >= 8 * kMegabyte && args.batch >= 256 && whole) return 40 << 10;
  if (bytes < 8 * kMegabyte || (bytes < 60 * kMegabyte && (narrow || args.element_bytes >= 4))) {
    return 16 << 10;
  }
  return args.rows <= 4 ? 32 << 10 : 40 << 10;
}

}  // namespace

LaunchStatus TransposeFewRows(const TransposeArgs& args) {
  if (args.rows == 0 || args.cols == 0 || args.batch == 0) return LaunchStatus();
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    constexpr int kSize = sizeof(T);
    const int width = static_cast<int>(std::min<int64_t>(args.rows, kMaxSkinnyWidth));
    const int64_t most = MostBytes(args) / (width * kSize);
    const int length = ChunkLength(args.cols, most, kSize, kVectorElements<T>);
    // A strip that starts anywhere has a vector more.
    const int more = InRowsAreAt(args, kVectorBytes) ? 0 : 1;
    const SkinnyChunk<T> chunk(width, length, length / kVectorElements<T> + more);
    const bool flat = args.rows == width && args.ld_out == args.rows;
    const SkinnyBatch batch = {args.batch, args.stride_in, args.stride_out,
                               CeilDiv(args.rows, int64_t{width})};
    return Launch(FewRows<T>, TileGrid(batch.panels * args.batch, args.cols, 1, chunk.length()),
                  Block{kThreads, 1}, chunk.shared_bytes(), args.stream, args.In<T>(),
                  args.Out<T>(), chunk, batch, flat);
  });
}

}  // namespace stridewise
