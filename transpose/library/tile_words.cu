// For elements of 1 and 2 bytes whose rows start anywhere. tile_ragged gathers the 16 bytes of a
// vector with an instruction for each element, and with 16 of them instructions are what it waits
// for. Here no instruction moves less than 4 bytes.
//
// Loads: a thread takes 16 bytes of each of the 4 (or 2) rows whose elements make a word of an out
// row. It loads the two aligned vectors under them, shifts them into place, exchanges rows and
// columns by byte permutes and stores the words in shared memory, by columns.
//
// Stores: as tile_ragged's, whole sectors of out rows (sector_piece.h). The 16 bytes of a vector are
// shifted out of five words of a column.
//
// Columns are an odd number of words apart, and those of each vector 4 words more: eight lanes that
// store a word of eight neighbouring vectors access eight banks that are 4 apart, and the four
// groups of rows of a warp the banks between them.

#include <algorithm>

#include "common/gpu/launch.h"
#include "transpose/alignment.h"
#include "transpose/device/sector_piece.h"
#include "transpose/device/tile_grid.h"
#include "transpose/device/vectors.h"

namespace stridewise {
namespace {

#ifdef PROTO_WORDS
#if PROTO_WORDS == 1
constexpr int kThreads = 512, kBlocks = 2, kTileRowBytes = 256, kTileColumnBytes = 416;
#elif PROTO_WORDS == 2
constexpr int kThreads = 256, kBlocks = 4, kTileRowBytes = 128, kTileColumnBytes = 288;
#elif PROTO_WORDS == 3
constexpr int kThreads = 512, kBlocks = 2, kTileRowBytes = 512, kTileColumnBytes = 160;
#elif PROTO_WORDS == 4
constexpr int kThreads = 128, kBlocks = 8, kTileRowBytes = 64, kTileColumnBytes = 96;
#else
constexpr int kThreads = 256, kBlocks = 5, kTileRowBytes = 256, kTileColumnBytes = 160;
#endif
#else
constexpr int kThreads = 512;
constexpr int kBlocks = 2;               // On a multiprocessor.
constexpr int kTileRowBytes = 256;       // Of `in`.
constexpr int kTileColumnBytes = 288;    // Of `out`, as a tile holds them.
#endif
constexpr int kLineBytes = 128;
constexpr int kLanes = 8;  // Lanes of a warp along a row, of `in` or `out`: 128 bytes.
constexpr int kRowsOfWarp = 32 / kLanes;
constexpr int kWarps = kThreads / 32;

// How the matrix is cut into tiles.
struct Cut {
  int cols;       // Columns of `in` that a tile covers.
  int rows;       // Rows of `in` that a tile writes.
  int rows_held;  // Rows of `in` that a tile holds: rows + shift.
  int shift;      // Rows that a tile holds before the first that it writes.
  int pitch;      // Bytes from column to column in shared memory.
};

// The block's part of the matrix.
struct Part {
  int64_t first_row;  // Row of `in` that is the tile's row 0; negative at the upper edge.
  int64_t first_col;  // Column of `in` that is the tile's column 0.
  int begin;          // The tile's first row that the matrix has.
  int end;            // One past the tile's last row that the matrix has.
  int cols;           // Columns of the tile that the matrix has.
};

// Returns 16 of the 32 bytes of two vectors, from byte `first`, 0 to 15.
__device__ inline Vector Shifted(const Vector& low, const Vector& high, int first) {
  const bool one = (first & 4) != 0;
  const bool two = (first & 8) != 0;
  const uint32_t a[6] = {two ? low.z : low.x,   two ? low.w : low.y,  two ? high.x : low.z,
                         two ? high.y : low.w, two ? high.z : high.x, two ? high.w : high.y};
  const uint32_t b[5] = {one ? a[1] : a[0], one ? a[2] : a[1], one ? a[3] : a[2], one ? a[4] : a[3],
                         one ? a[5] : a[4]};
  const int bits = first % 4 * 8;
  return make_uint4(__funnelshift_r(b[0], b[1], bits), __funnelshift_r(b[1], b[2], bits),
                    __funnelshift_r(b[2], b[3], bits), __funnelshift_r(b[3], b[4], bits));
}

// Returns the aligned vector at `data`, of which only what lies between begin and end is read.
template <typename T, bool kInside>
__device__ inline Vector LoadAligned(const T* data, const T* begin, const T* end) {
  if (kInside || (data >= begin && data + kVectorElements<T> <= end)) {
    return *reinterpret_cast<const Vector*>(data);
  }
  T elements[kVectorElements<T>] = {};
#pragma unroll
  for (int k = 0; k < kVectorElements<T>; ++k) {
    if (data + k >= begin && data + k < end) elements[k] = data[k];
  }
  return VectorOf(elements);
}

// Returns the offset in shared memory of column `col`, in bytes.
template <typename T>
__device__ inline int OffsetOfColumn(int col, int pitch) {
  return col * pitch + col / kVectorElements<T> * kVectorBytes;
}

template <typename T, bool kInside>
__device__ inline void LoadTile(const T* corner, int64_t ld, const T* begin, const T* end,
                                const Part& part, const Cut& cut, unsigned char* tile) {
  constexpr int kStack = 4 / static_cast<int>(sizeof(T));  // Rows of a word.
  constexpr int kElements = kVectorElements<T>;
  using Exchange = Columns<T, kStack>;
  const int vectors = (part.cols + kElements - 1) / kElements;
  const int across = (vectors + kLanes - 1) / kLanes;  // Warps side by side.
  const int first_stack = part.begin / kStack;
  const int stacks = (part.end - first_stack * kStack + kStack - 1) / kStack;
  const int warps = (stacks + kRowsOfWarp - 1) / kRowsOfWarp * across;
  const int lane = threadIdx.x % kLanes;
  const int row_of_warp = threadIdx.x % 32 / kLanes;
#pragma unroll 1
  for (int i = threadIdx.x / 32; i < warps; i += kWarps) {
    const int down = i / across;
    const int vector = (i - down * across) * kLanes + lane;
    const int stack = down * kRowsOfWarp + row_of_warp;
    if (vector >= vectors || stack >= stacks) continue;
    const int first = (first_stack + stack) * kStack;
    Vector low[kStack];
    Vector high[kStack];
    int misaligned[kStack];
#pragma unroll
    for (int k = 0; k < kStack; ++k) {
      const int y = first + k < part.end ? first + k : part.end - 1;
      const T* const row = corner + y * ld;
      misaligned[k] = static_cast<int>(reinterpret_cast<uintptr_t>(row) % kVectorBytes);
      const T* const aligned =
          row - misaligned[k] / static_cast<int>(sizeof(T)) + vector * kElements;
      low[k] = LoadAligned<T, kInside>(aligned, begin, end);
      if (misaligned[k] != 0) {
        high[k] = LoadAligned<T, kInside>(aligned + kElements, begin, end);
      } else {
        high[k] = low[k];
      }
    }
    Vector rows[kStack];
#pragma unroll
    for (int k = 0; k < kStack; ++k) rows[k] = Shifted(low[k], high[k], misaligned[k]);
    typename Exchange::Piece columns[kElements];
    Exchange::Take(rows, columns);
    unsigned char* const to = tile + OffsetOfColumn<T>(vector * kElements, cut.pitch) +
                              (first_stack + stack) * 4;
#pragma unroll
    for (int k = 0; k < kElements; ++k) {
      *reinterpret_cast<uint32_t*>(to + k * cut.pitch) = columns[k];
    }
  }
}

template <typename T, bool kInside>
__device__ inline void StoreTile(T* corner, int64_t ld, const Part& part, const Cut& cut,
                                 const unsigned char* tile) {
  constexpr int kSize = sizeof(T);
  constexpr int kElements = kVectorElements<T>;
  const int lane = threadIdx.x % kLanes;
  for (int col = static_cast<int>(threadIdx.x) / kLanes; col < part.cols;
       col += kThreads / kLanes) {
    const SectorPiece<T> piece(corner + col * ld, cut.shift, cut.rows, part.begin, part.end);
    const unsigned char* const column = tile + OffsetOfColumn<T>(col, cut.pitch);
#pragma unroll 2
    for (int vector = lane; vector * kElements < cut.rows; vector += kLanes) {
      const int y = piece.First(vector);
      if (!kInside && !piece.Fills(y)) continue;
      const auto* const from = reinterpret_cast<const uint32_t*>(column + (y * kSize & -4));
      const int bits = y * kSize % 4 * 8;
      uint32_t word[5];
#pragma unroll
      for (int w = 0; w < 5; ++w) word[w] = from[w];
      StoreVector(piece.At(y), make_uint4(__funnelshift_r(word[0], word[1], bits),
                                          __funnelshift_r(word[1], word[2], bits),
                                          __funnelshift_r(word[2], word[3], bits),
                                          __funnelshift_r(word[3], word[4], bits)));
    }
  }
  if constexpr (!kInside) {
    for (int i = threadIdx.x; i < part.cols * SectorPiece<T>::kEnds; i += kThreads) {
      const int col = i / SectorPiece<T>::kEnds;
      const SectorPiece<T> piece(corner + col * ld, cut.shift, cut.rows, part.begin, part.end);
      const int y = piece.End(i % SectorPiece<T>::kEnds);
      if (y < 0) continue;
      *piece.At(y) =
          *reinterpret_cast<const T*>(tile + OffsetOfColumn<T>(col, cut.pitch) + y * kSize);
    }
  }
}

template <typename T>
__global__ void __launch_bounds__(kThreads, kBlocks)
    TileWords(ConstMatrix<T> in, Matrix<T> out, TileBatch batch, Cut cut) {
  extern __shared__ Vector tile_memory[];
  auto* const tile = reinterpret_cast<unsigned char*>(tile_memory);
  const TileCoordinate coordinate = EnterTile(batch, &in, &out);
  Part part;
  part.first_col = coordinate.col * cut.cols;
  part.first_row = coordinate.row * cut.rows - cut.shift;
  part.begin = part.first_row < 0 ? static_cast<int>(-part.first_row) : 0;
  const int64_t below = in.rows - part.first_row;
  part.end = below < cut.rows_held ? static_cast<int>(below) : cut.rows_held;
  const int64_t right = in.cols - part.first_col;
  part.cols = right < cut.cols ? static_cast<int>(right) : cut.cols;
  if (part.begin >= part.end) return;

  const T* const begin = in.data;
  const T* const end = begin + (in.rows - 1) * in.ld + in.cols;
  const T* const corner = begin + part.first_row * in.ld + part.first_col;
  // All vectors lie inside the matrix if the first of the first row and the last of the last row do.
  constexpr int kElements = kVectorElements<T>;
  const bool inside =
      corner + part.begin * in.ld - begin >= kElements &&
      end - (corner + (part.end - 1) * in.ld) >= part.cols + 2 * kElements;
  if (inside) {
    LoadTile<T, true>(corner, in.ld, begin, end, part, cut, tile);
  } else {
    LoadTile<T, false>(corner, in.ld, begin, end, part, cut, tile);
  }
  __syncthreads();
  T* const to = out.data + part.first_col * out.ld + part.first_row;
  if (part.begin == 0 && part.end == cut.rows_held) {
    StoreTile<T, true>(to, out.ld, part, cut, tile);
  } else {
    StoreTile<T, false>(to, out.ld, part, cut, tile);
  }
}

// Returns a cut into tiles of equal height and width.
template <typename T>
Cut CutFor(const TransposeArgs& args) {
  constexpr int kSize = sizeof(T);
  const auto even = [](int64_t extent, int64_t most, int64_t unit) {
    const int64_t tiles = CeilDiv(extent, most / unit * unit);
    return static_cast<int>(CeilDiv(CeilDiv(extent, tiles), unit) * unit);
  };
  Cut cut;
  const bool out_aligned = OutRowsAreAt(args, kSectorBytes);
  cut.shift = out_aligned ? 0 : kSectorBytes / kSize;
  cut.rows = even(args.rows + cut.shift, kTileColumnBytes / kSize - cut.shift,
                  (out_aligned ? kLineBytes : kSectorBytes) / kSize);
  cut.rows_held = cut.rows + cut.shift;
  cut.cols = even(args.cols, kTileRowBytes / kSize, kVectorBytes / kSize);
  cut.pitch = (CeilDiv(cut.rows_held * kSize, 4) | 1) * 4;
  return cut;
}

template <typename T>
LaunchStatus Run(const TransposeArgs& args) {
  const Cut cut = CutFor<T>(args);
  const size_t shared_bytes = static_cast<size_t>(cut.cols) * cut.pitch +
                              cut.cols / kVectorElements<T> * kVectorBytes + 2 * kVectorBytes;
  const auto launch = [&](const TransposeArgs& part, const Grid& grid, const TileBatch& batch) {
    return Launch(TileWords<T>, grid, Block{kThreads}, shared_bytes, part.stream, part.In<T>(),
                  part.Out<T>(), batch, cut);
  };
  const int64_t tile_rows = CeilDiv(args.rows + cut.shift, cut.rows);
  const int64_t tile_cols = CeilDiv(args.cols, cut.cols);
#ifdef PROTO
  const int64_t band = ::g_band_ragged;
#else
  const int64_t band = BandRows(tile_rows, tile_cols);
#endif
  return ForEachTileGrid(args, tile_rows, tile_cols, band, launch);
}

}  // namespace

LaunchStatus TransposeTileWords(const TransposeArgs& args) {
  if (args.rows == 0 || args.cols == 0 || args.batch == 0) return LaunchStatus();
  if (args.element_bytes == 1) return Run<uint8_t>(args);
  if (args.element_bytes == 2) return Run<uint16_t>(args);
  return ElementSizeNotAllowed(args.element_bytes);
}

}  // namespace stridewise
