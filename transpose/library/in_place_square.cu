// Transposes a square in place. Element (r, c) and element (c, r) change places, so a block takes a
// tile above the diagonal and the opposite one below it, transposes both into shared memory and
// stores each where the other was; tiles on the diagonal are taken alone. Nothing is moved twice
// and no memory is needed beside the matrix.
//
// Tiles are moved in pieces of 16 bytes, or of 4 bytes with elements of 1 and 2 bytes; matrices
// that are not made of them go to in_place_ragged.cu. A thread transposes a square of elements, one
// piece wide, in its registers, and shared memory transposes the squares: piece y of the tile's row
// x lies in column x ^ y, so that neither rows nor columns of pieces have bank conflicts.

#include <type_traits>

#include "common/gpu/launch.h"
#include "transpose/alignment.h"
#include "transpose/args.h"
#include "transpose/device/tile_pair.h"
#include "transpose/device/vectors.h"
#include "transpose/device/wide_tiles.h"

namespace stridewise {
namespace {

// A tile of kSide x kSide squares, each one piece wide, of which a thread takes kPasses.
template <typename T, typename PieceType, int kSideOfTile, int kThreadsOfBlock,
          int kBlocksOfMultiprocessor>
struct Shape {
  using Element = T;
  using Piece = PieceType;
  static constexpr int kElements = static_cast<int>(sizeof(Piece) / sizeof(T));
  static constexpr int kSide = kSideOfTile;
  static constexpr int kThreads = kThreadsOfBlock;
  static constexpr int kBlocks = kBlocksOfMultiprocessor;
  static constexpr int kExtent = kSide * kElements;
  static constexpr int kPasses = kSide * kSide / kThreads;
  static_assert(kPasses * kThreads == kSide * kSide, "each thread has the same number of squares");
  static_assert((kSide & (kSide - 1)) == 0, "x ^ y stays inside a row of a power of two");
  static constexpr int kBuffer = kExtent * kSide;  // In pieces.
};

template <typename T, typename Piece>
__device__ inline T ElementOfPiece(const Piece& piece, int k) {
  if constexpr (std::is_same_v<Piece, Vector>) {
    return ElementOf<T>(piece, k);
  } else {
    return static_cast<T>(piece >> (8 * sizeof(T) * k));
  }
}

template <typename Piece, typename T, int kElements>
__device__ inline Piece PieceOf(const T (&elements)[kElements]) {
  if constexpr (std::is_same_v<Piece, Vector>) {
    return VectorOf(elements);
  } else {
    Piece piece = elements[0];
#pragma unroll
    for (int k = 1; k < kElements; ++k) {
      piece |= static_cast<Piece>(elements[k]) << (8 * sizeof(T) * k);
    }
    return piece;
  }
}

// A tile in global memory, cut off where the matrix ends.
template <typename Shape>
struct Tile {
  using Piece = typename Shape::Piece;
  static constexpr int kElements = Shape::kElements;

  typename Shape::Element* data;
  int rows;
  int cols;
  int64_t ld;

  // Returns whether the matrix has the square. It is made of whole pieces, and so of whole squares.
  __device__ bool Has(int x, int y) const { return y * kElements < rows && x * kElements < cols; }
  __device__ Piece* At(int x, int row) const {
    return reinterpret_cast<Piece*>(data + row * ld) + x;
  }

  __device__ void Load(Piece (&pieces)[Shape::kPasses][kElements]) const {
#pragma unroll
    for (int i = 0; i < Shape::kPasses; ++i) {
      const int x = (threadIdx.x + i * Shape::kThreads) % Shape::kSide;
      const int y = (threadIdx.x + i * Shape::kThreads) / Shape::kSide;
      if (!Has(x, y)) continue;
#pragma unroll
      for (int k = 0; k < kElements; ++k) pieces[i][k] = *At(x, y * kElements + k);
    }
  }

  // Stores what TransposeSquares() left in shared memory.
  __device__ void Store(const Piece* transposed) const {
#pragma unroll
    for (int i = 0; i < Shape::kPasses; ++i) {
      const int x = (threadIdx.x + i * Shape::kThreads) % Shape::kSide;
      const int y = (threadIdx.x + i * Shape::kThreads) / Shape::kSide;
      if (!Has(x, y)) continue;
#pragma unroll
      for (int k = 0; k < kElements; ++k) {
        *At(x, y * kElements + k) = transposed[(y * kElements + k) * Shape::kSide + (x ^ y)];
      }
    }
  }
};

template <typename Shape>
__device__ void TransposeSquares(
    const typename Shape::Piece (&pieces)[Shape::kPasses][Shape::kElements],
    typename Shape::Piece* transposed) {
  using T = typename Shape::Element;
  constexpr int kElements = Shape::kElements;
#pragma unroll
  for (int i = 0; i < Shape::kPasses; ++i) {
    const int x = (threadIdx.x + i * Shape::kThreads) % Shape::kSide;
    const int y = (threadIdx.x + i * Shape::kThreads) / Shape::kSide;
#pragma unroll
    for (int k = 0; k < kElements; ++k) {
      T column[kElements];
#pragma unroll
      for (int r = 0; r < kElements; ++r) column[r] = ElementOfPiece<T>(pieces[i][r], k);
      transposed[(x * kElements + k) * Shape::kSide + (x ^ y)] =
          PieceOf<typename Shape::Piece>(column);
    }
  }
}

// Four blocks on a multiprocessor: 64 registers hold two squares of 4x4 floats and everything else.
// By itself nvcc uses 80, and three blocks are 1 point of memcpy slower at 8192 x 8192 floats, and
// 19 points with 2-byte elements. Half a block for each tile is slower too.
template <typename T, typename Piece>
using Usual = Shape<T, Piece, sizeof(Piece) == sizeof(Vector) ? 16 : 32, 256, 4>;

// The tile where rows are far apart: pieces of rows of 512 bytes instead of 256. Of groups of 64 x
// 64 pairs, blocks that run at the same time read neighbouring pieces. On an H100 32768 x 32768
// floats have 0.957 of memcpy with it, 0.953 without groups and 0.951 with the usual tile.
using Wide = Shape<uint32_t, Vector, 32, 512, 1>;
constexpr unsigned kWideGroupBits = 6;
constexpr int64_t kWidePitch = 64 << 10;
constexpr int64_t kWideRows = 1024;

template <typename Shape>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocks)
    InPlaceSquare(Matrix<typename Shape::Element> matrix, int64_t batch, int64_t stride,
                  unsigned group_bits) {
  using Piece = typename Shape::Piece;
  extern __shared__ Vector tile_memory[];
  auto* const transposed = reinterpret_cast<Piece*>(tile_memory);
  Piece* const second = transposed + Shape::kBuffer;
  const Pair pair = Pair::OfGroups(group_bits);
  const int64_t row = pair.i * Shape::kExtent;
  const int64_t col = pair.j * Shape::kExtent;
  if (pair.taken || row >= matrix.rows || col >= matrix.rows) return;
  const auto left = [&](int64_t first) {
    const int64_t extent = matrix.rows - first;
    return extent < Shape::kExtent ? static_cast<int>(extent) : Shape::kExtent;
  };
  const int rows = left(row);
  const int cols = left(col);
  for (int64_t i = blockIdx.z; i < batch; i += gridDim.z) {
    const Tile<Shape> upper = {&matrix(row, col) + i * stride, rows, cols, matrix.ld};
    const Tile<Shape> lower = {&matrix(col, row) + i * stride, cols, rows, matrix.ld};
    const bool two = row != col;
    Piece upper_pieces[Shape::kPasses][Shape::kElements];
    Piece lower_pieces[Shape::kPasses][Shape::kElements];
    upper.Load(upper_pieces);
    if (two) lower.Load(lower_pieces);
    TransposeSquares<Shape>(upper_pieces, transposed);
    if (two) TransposeSquares<Shape>(lower_pieces, second);
    __syncthreads();
    lower.Store(transposed);
    if (two) upper.Store(second);
    __syncthreads();  // Before the next matrix's tiles overwrite these.
  }
}

template <typename Shape>
constexpr int kBytesOfPair = 2 * Shape::kBuffer* static_cast<int>(sizeof(typename Shape::Piece));

// Takes pairs in groups of at most 2^group_bits x 2^group_bits.
template <typename Shape>
LaunchStatus LaunchPairs(const TransposeArgs& args, unsigned group_bits) {
  const int64_t tiles = CeilDiv(args.rows, Shape::kExtent);
  while (group_bits > 0 && tiles >> group_bits == 0) --group_bits;
  const int64_t groups = CeilDiv(tiles, int64_t{1} << group_bits);
  const int64_t matrices = args.batch < kMaxGridYZ ? args.batch : kMaxGridYZ;
  return Launch(InPlaceSquare<Shape>,
                Grid{(groups + 1) << (2 * group_bits), CeilDiv(groups, 2), matrices},
                Block{Shape::kThreads}, kBytesOfPair<Shape>, args.stream,
                args.Out<typename Shape::Element>(), args.batch, args.stride_out, group_bits);
}

}  // namespace

LaunchStatus TransposeInPlaceRagged(const TransposeArgs& args);

LaunchStatus TransposeInPlaceSquare(const TransposeArgs& args) {
  if (args.rows == 0 || args.batch == 0) return LaunchStatus();
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    // The squares of smaller elements in a vector, 8x8 and 16x16, would not fit into registers.
    using Widest = std::conditional_t<(sizeof(T) < 4), uint32_t, Vector>;
    if (!IsMadeOf(args, sizeof(Widest))) return TransposeInPlaceRagged(args);
    if constexpr (sizeof(T) == sizeof(uint32_t)) {
      if (args.ld_out * args.element_bytes >= kWidePitch && args.rows >= kWideRows &&
          GainsFromWideTiles(kBytesOfPair<Wide>)) {
        return LaunchPairs<Wide>(args, kWideGroupBits);
      }
    }
    return LaunchPairs<Usual<T, Widest>>(args, 0);
  });
}

}  // namespace stridewise
