// For bytes of which the rows of `in` begin at multiples of 16, and those of `out` anywhere. There
// tile_ragged's loads from shared memory, one for each byte, conflict: eight vectors of a warp
// share two banks. Here a thread loads 16 bytes of each of four rows, exchanges rows and columns by
// byte permutes, and stores words of four bytes of an out row in shared memory, by columns. Out
// rows are stored as by tile_ragged, in whole sectors (sector_piece.h): the 16 bytes of a vector
// are shifted out of five words of a column.
//
// Columns are an odd number of words apart, and those of each vector 4 words more: eight lanes that
// store a word of eight neighbouring vectors access eight banks that are 4 apart, and the four
// groups of rows of a warp the banks between them.
//
// On an H200 this reaches 0.87 of a copy at 16383 x 16384, and tile_ragged 0.72. For rows of `in`
// that begin anywhere each vector was shifted out of two: 0.74 at 16383 x 16385, tile_ragged 0.87.

#include <algorithm>

#include "common/gpu/launch.h"
#include "transpose/alignment.h"
#include "transpose/device/ragged_tile.h"
#include "transpose/device/sector_piece.h"
#include "transpose/device/tile_grid.h"
#include "transpose/device/vectors.h"

namespace stridewise {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = 4;             // On a multiprocessor.
constexpr int kTileRowBytes = 128;     // Of `in`.
constexpr int kTileColumnBytes = 288;  // Of `out`, as a tile holds them.
constexpr int kLanes = 8;              // Lanes of a warp along a row, of `in` or `out`: 128 bytes.
constexpr int kRowsOfWarp = 32 / kLanes;
constexpr int kWarps = kThreads / 32;

struct Cut : RaggedCut {
  int pitch;  // Bytes from column to column in shared memory.
};

// Returns the selector with which __byte_perm() takes four bytes of two words, from byte `first`.
__device__ inline unsigned ShiftByBytes(int first) {
  return 0x3210 + 0x1111 * static_cast<unsigned>(first);
}

// Returns the offset in shared memory of column `col`, in bytes.
template <typename T>
__device__ inline int OffsetOfColumn(int col, int pitch) {
  return col * pitch + col / kVectorElements<T> * kVectorBytes;
}

// Loads the tile. Rows of `in` are cut at multiples of 16 bytes, so that only the last vector of a
// row may have less than 16, and that lies inside the memory from row to row unless `in` ends
// there.
template <typename T>
__device__ inline void LoadTile(const T* corner, int64_t ld, const T* end, const RaggedPart& part,
                                const Cut& cut, unsigned char* tile) {
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
#pragma unroll 2
  for (int i = threadIdx.x / 32; i < warps; i += kWarps) {
    const int down = i / across;
    const int vector = (i - down * across) * kLanes + lane;
    const int stack = down * kRowsOfWarp + row_of_warp;
    if (vector >= vectors || stack >= stacks) continue;
    const int first = (first_stack + stack) * kStack;
    Vector rows[kStack];
#pragma unroll
    for (int k = 0; k < kStack; ++k) {
      // A row that the matrix does not have is not stored: any other may stand for it.
      const int y = first + k < part.end ? first + k : part.end - 1;
      const T* const data = corner + y * ld + vector * kElements;
      if (end - data >= kElements) {
        rows[k] = *reinterpret_cast<const Vector*>(data);
      } else {
        T elements[kElements] = {};
        for (int e = 0; e < end - data; ++e) elements[e] = data[e];
        rows[k] = VectorOf(elements);
      }
    }
    typename Exchange::Piece columns[kElements];
    Exchange::Take(rows, columns);
    unsigned char* const to =
        tile + OffsetOfColumn<T>(vector * kElements, cut.pitch) + (first_stack + stack) * 4;
#pragma unroll
    for (int k = 0; k < kElements; ++k) {
      *reinterpret_cast<uint32_t*>(to + k * cut.pitch) = columns[k];
    }
  }
}

template <typename T, bool kInside>
__device__ inline void StoreTile(T* corner, int64_t ld, const RaggedPart& part, const Cut& cut,
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
      const unsigned shift = ShiftByBytes(y * kSize % 4);
      uint32_t word[5] = {};
#pragma unroll
      for (int w = 0; w < 4; ++w) word[w] = from[w];
      if (y * kSize % 4 != 0) word[4] = from[4];
      StoreVector(
          piece.At(y),
          make_uint4(__byte_perm(word[0], word[1], shift), __byte_perm(word[1], word[2], shift),
                     __byte_perm(word[2], word[3], shift), __byte_perm(word[3], word[4], shift)));
    }
  }
  if constexpr (!kInside) {
    SectorPiece<T>::StoreEnds(
        part.cols, part.begin > 0, part.end < cut.rows_held, kThreads,
        [&](int col) {
          return SectorPiece<T>(corner + col * ld, cut.shift, cut.rows, part.begin, part.end);
        },
        [&](int y, int col) {
          return *reinterpret_cast<const T*>(tile + OffsetOfColumn<T>(col, cut.pitch) + y * kSize);
        });
  }
}

template <typename T>
__global__ void __launch_bounds__(kThreads, kBlocks)
    TileWords(ConstMatrix<T> in, Matrix<T> out, TileBatch batch, Cut cut) {
  extern __shared__ Vector tile_memory[];
  auto* const tile = reinterpret_cast<unsigned char*>(tile_memory);
  const RaggedPart part = EnterRaggedTile(batch, cut, &in, &out);
  if (part.begin >= part.end) return;

  const T* const end = in.data + (in.rows - 1) * in.ld + in.cols;
  const T* const corner = in.data + part.first_row * in.ld + part.first_col;
  LoadTile(corner, in.ld, end, part, cut, tile);
  __syncthreads();
  T* const to = out.data + part.first_col * out.ld + part.first_row;
  if (part.IsWhole(cut)) {
    StoreTile<T, true>(to, out.ld, part, cut, tile);
  } else {
    StoreTile<T, false>(to, out.ld, part, cut, tile);
  }
}

// Returns a cut into tiles of equal height and width.
template <typename T>
Cut CutFor(const TransposeArgs& args) {
  constexpr int kSize = sizeof(T);
  Cut cut = {MakeRaggedCut(args, {kTileColumnBytes / kSize, kTileRowBytes / kSize,
                                  kVectorBytes / kSize, kBlocks, /*waves=*/1,
                                  /*spreads=*/false}),
             0};
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
  const int64_t tile_rows = cut.TileRows(args);
  const int64_t tile_cols = cut.TileCols(args);
  // Of a large matrix blocks that run at the same time read whole rows of `in`: on an H200 168272 x
  // 6672 bytes have 0.85 of a copy in bands of one tile, and 0.78 in those of BandRows(); 50257 x
  // 8192, 412 MB, 0.86 and 0.89.
  constexpr int64_t kLargeBytes = 500000000;
  const bool large = args.rows * args.cols * args.element_bytes >= kLargeBytes;
  const int64_t band = large ? 1 : BandRows(tile_rows, tile_cols);
  return ForEachTileGrid(args, tile_rows, tile_cols, band, launch);
}

}  // namespace

LaunchStatus TransposeTileWords(const TransposeArgs& args) {
  if (args.rows == 0 || args.cols == 0 || args.batch == 0) return LaunchStatus();
  return Run<uint8_t>(args);
}

}  // namespace stridewise
