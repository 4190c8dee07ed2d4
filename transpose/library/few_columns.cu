// For matrices of a few columns. A 32x32 tile would be mostly empty, and rows of so few elements
// cannot be loaded coalesced one by one; but all columns of a run of rows are one contiguous piece
// of memory. A block loads such a piece into shared memory, 16 bytes a thread, and stores it as
// strips of out rows, each from a sector that it has for itself: see sector_piece.h.
//
// More than kMaxSkinnyWidth columns are taken in panels, and rows with gaps one element a thread:
// correct, and no longer fast.

#include "common/gpu/launch.h"
#include "transpose/alignment.h"
#include "transpose/args.h"
#include "transpose/device/sector_piece.h"
#include "transpose/device/skinny_chunk.h"
#include "transpose/device/strip.h"

namespace stridewise {
namespace {

constexpr int kThreads = 256;
constexpr int kInFlight = 4;  // Loads that a thread starts before it uses the first.

// Loads the vectors of the flat side that have elements of rows `begin` to `end` of the chunk,
// whose row 0 would be at `piece`. Unless kInside, vectors that the matrix has only a part of are
// loaded by elements.
template <bool kInside, typename T>
__device__ void LoadFlat(const T* piece, int begin, int end, const T* matrix_begin,
                         const T* matrix_end, const SkinnyChunk<T>& chunk, void* shared) {
  using Unit = typename SkinnyChunk<T>::Unit;
  constexpr int kElements = kVectorElements<T>;
  const unsigned turn = TurnOfThread(chunk.width());
  const int lead = Strip<T>::Lead(piece);
  const T* const from = piece - lead;
  const int vectors = (end * chunk.width() + lead + kElements - 1) / kElements;
  const int first = (begin * chunk.width() + lead) / kElements + static_cast<int>(threadIdx.x);
  for (int v = first; v < vectors; v += kInFlight * kThreads) {
    Vector loaded[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const int at = v + i * kThreads;
      if (at >= vectors) break;
      const T* const data = from + at * kElements;
      if (kInside || (data >= matrix_begin && data + kElements <= matrix_end)) {
        loaded[i] = reinterpret_cast<const Vector*>(from)[at];
      } else {
        T elements[kElements] = {};
#pragma unroll
        for (int k = 0; k < kElements; ++k) {
          if (data + k >= matrix_begin && data + k < matrix_end) elements[k] = data[k];
        }
        loaded[i] = VectorOf(elements);
      }
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const int at = v + i * kThreads;
      if (at >= vectors) break;
      PutUnits(loaded[i], turn, static_cast<Unit*>(shared) + chunk.OfFlatVector(at));
    }
  }
}

template <typename T>
__device__ void LoadRows(const ConstMatrix<T>& piece, int begin, int end,
                         const SkinnyChunk<T>& chunk, void* shared) {
#pragma unroll 4
  for (int i = begin * chunk.width() + static_cast<int>(threadIdx.x); i < end * chunk.width();
       i += kThreads) {
    const int row = chunk.AlongOfFlat(i);
    const int col = i - row * chunk.width();
    if (col < piece.cols) static_cast<T*>(shared)[chunk.OfElement(row, col)] = piece(row, col);
  }
}

// Takes a chunk of rows a block, along blockIdx.x, and a panel of columns of a matrix a row of
// blocks. A chunk writes `shift` rows less than it holds.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    FewColumns(ConstMatrix<T> in, Matrix<T> out, SkinnyChunk<T> chunk, SkinnyBatch batch, int shift,
               bool flat) {
  extern __shared__ Vector shared[];
  const auto [matrix, panel] = batch.PanelOf(BlockRow());
  if (matrix >= batch.matrices) return;
  const int written = chunk.length() - shift;
  const T* const in_begin = in.data + matrix * batch.stride_in;
  const int64_t first_row = static_cast<int64_t>(blockIdx.x) * written - shift;
  const int64_t first_col = panel * chunk.width();
  const int64_t rows_left = in.rows - first_row;
  const int64_t cols_left = in.cols - first_col;
  const int begin = first_row < 0 ? static_cast<int>(-first_row) : 0;
  const int end = rows_left < chunk.length() ? static_cast<int>(rows_left) : chunk.length();
  const int cols = cols_left < chunk.width() ? static_cast<int>(cols_left) : chunk.width();
  const T* const piece = in_begin + first_row * in.ld + first_col;
  const T* const in_end = in_begin + in.rows * in.ld;
  if (flat && first_row > 0 && in_end - (piece + end * in.ld) >= kVectorElements<T>) {
    LoadFlat<true>(piece, begin, end, in_begin, in_end, chunk, shared);
  } else if (flat) {
    LoadFlat<false>(piece, begin, end, in_begin, in_end, chunk, shared);
  } else {
    LoadRows({piece, end, cols, in.ld}, begin, end, chunk, shared);
  }
  __syncthreads();

  const T* tile = reinterpret_cast<const T*>(shared);
  const int lead = flat ? Strip<T>::Lead(piece) : 0;
  T* const corner = out.data + matrix * batch.stride_out + first_col * out.ld + first_row;
  const auto piece_of = [&](int col) {
    return SectorPiece<T>(corner + col * out.ld, shift, written, begin, end);
  };
  const bool whole = begin == 0 && end == chunk.length();
#pragma unroll 2
  for (int i = threadIdx.x; i < cols * chunk.strip_vectors(); i += kThreads) {
    const auto [col, vector] = chunk.StripVectorOf(i);
    const SectorPiece<T> strip = piece_of(col);
    const int first = strip.First(vector);
    if (!whole && !strip.Fills(first)) continue;
    T elements[kVectorElements<T>];
    chunk.ForVector(chunk.PlaceOf(first, col + lead),
                    [&](int k, int offset) { elements[k] = tile[offset]; });
    StoreVector(strip.At(first), VectorOf(elements));
  }
  if (whole) return;
  SectorPiece<T>::StoreEnds(
      cols, begin > 0, end < chunk.length(), kThreads, piece_of,
      [&](int row, int col) { return tile[chunk.OfElement(row, col + lead)]; });
}

// Returns the most bytes of a chunk; see few_rows.cu.
int MostBytes(const TransposeArgs& args) {
  if (SkinnyBytes(args) < 8000000) return 12 << 10;
  // A matrix that is cut where out rows begin inside a sector has rows twice.
  const bool whole = args.rows * args.cols * args.element_bytes <= 31 << 10;
  return args.batch >= 256 && whole && !OutRowsAreAt(args, kSectorBytes) ? 32 << 10 : 16 << 10;
}

}  // namespace

LaunchStatus TransposeFewColumns(const TransposeArgs& args) {
  if (args.rows == 0 || args.cols == 0 || args.batch == 0) return LaunchStatus();
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    constexpr int kSize = sizeof(T);
    const int width = static_cast<int>(std::min<int64_t>(args.cols, kMaxSkinnyWidth));
    const int shift = OutRowsAreAt(args, kSectorBytes) ? 0 : kSectorBytes / kSize;
    const int64_t most = MostBytes(args) / (width * kSize) - shift;
    const int written = ChunkLength(args.rows + shift, most, kSize, kSectorBytes / kSize);
    const SkinnyChunk<T> chunk(width, written + shift, written / kVectorElements<T>);
    const bool flat = args.cols == width && args.ld_in == args.cols;
    const SkinnyBatch batch = {args.batch, args.stride_in, args.stride_out,
                               CeilDiv(args.cols, int64_t{width})};
    return Launch(FewColumns<T>, TileGrid(batch.panels * args.batch, args.rows + shift, 1, written),
                  Block{kThreads, 1}, chunk.shared_bytes(), args.stream, args.In<T>(),
                  args.Out<T>(), chunk, batch, shift, flat);
  });
}

}  // namespace stridewise
