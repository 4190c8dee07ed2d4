// For batches of matrices so small (16x16, 7x5) that the blocks of a tile kernel would be mostly
// empty. A block takes about 16 KB of whole matrices as one contiguous piece, 16 bytes a thread for
// loads and for stores; in between each thread picks its elements from shared memory.
//
// The cost here is not memory but index arithmetic: finding out where an element comes from takes
// more instructions than moving it. The piece therefore consists of several equal units, and a
// thread uses the offsets that it has computed for one unit for all of them.
//
// Matrices with gaps inside or between them are moved one element a thread through the same shared
// memory, and those of more than 48 KB in 32x32 tiles. Both paths are correct, and neither is what
// the kernel is for.

#include <type_traits>

#include "common/gpu/launch.h"
#include "transpose/args.h"
#include "transpose/device/small_divisor.h"
#include "transpose/device/strip.h"
#include "transpose/device/vectors.h"

namespace stridewise {
namespace {

constexpr int kThreads = 256;
constexpr int kUnitBytes = kVectorBytes * kThreads;  // One vector a thread.
constexpr int kPieceBytes = 16 << 10;
// The same where all matrices have so few bytes that they take about as long as a launch: on an
// H100 7041 matrices of 27x2 bytes have 0.85 of a copy, and 0.77 in larger pieces.
constexpr int kFewBytes = 2000000;
constexpr int kPieceBytesOfFew = 8 << 10;
constexpr int kMaxMatrixBytes = 48 << 10;
constexpr int kInFlight = 4;  // Loads that a thread starts before it uses the first.

// All matrices of `in` or of `out`.
template <typename T>
struct Side {
  T* data;
  int64_t ld;
  int64_t stride;
  bool flat;  // Whether they are one contiguous piece.
};

// The layout of a block's piece: units of equal numbers of matrices, in global and in shared
// memory.
template <typename T>
class Units {
 public:
  // The type that shared memory is accessed in: elements, but no smaller than a bank.
  using Word = std::conditional_t<(sizeof(T) < 4), uint32_t, T>;
  static constexpr int kWords = kVectorBytes / static_cast<int>(sizeof(Word));
  static constexpr int kPerWord = static_cast<int>(sizeof(Word) / sizeof(T));

  Units(int64_t matrix_rows, int64_t matrix_cols, int matrices_of_unit, int units_of_block,
        bool aligned)
      : rows(static_cast<int>(matrix_rows)),
        cols(static_cast<int>(matrix_cols)),
        matrices(matrices_of_unit),
        elements(matrices * rows * cols),
        // Where units do not start at a vector, two vectors more, of which a unit has a part.
        vectors(elements / kVectorElements<T> + (aligned ? 0 : 2)),
        units(units_of_block),
        by_rows_(rows),
        by_cols_(cols),
        by_vectors_(vectors) {}

  int rows;      // Rows of a matrix of `in`.
  int cols;      // Columns of a matrix of `in`.
  int matrices;  // Matrices of a unit.
  int elements;  // Elements of a unit.
  int vectors;   // Vectors of a unit.
  int units;     // Units of a block.

  size_t shared_bytes() const { return sizeof(Word) * pitch() * units; }
  // Returns the words of shared memory from one unit to the next.
  STRIDEWISE_HOST_DEVICE int pitch() const { return vectors * kWords + Padding(vectors); }
  // Returns the words that are left free before a vector, so that strides of powers of two spread
  // over the banks: loads and stores of up to 4 bytes then take one to three wavefronts.
  STRIDEWISE_HOST_DEVICE static int Padding(unsigned vector) {
    return static_cast<int>(vector / 2 + vector / 64);
  }
  // Returns the offset of an element of a unit in shared memory, in elements.
  STRIDEWISE_HOST_DEVICE int OffsetOf(int unit, int element) const {
    constexpr unsigned kElements = kVectorElements<T>;
    return element +
           (Padding(static_cast<unsigned>(element) / kElements) + unit * pitch()) * kPerWord;
  }

  // Element (row, col) of a matrix of a unit.
  struct Coordinate {
    int matrix, row, col;
  };
  // Returns the coordinate of element i of a unit in the order of `in`.
  STRIDEWISE_HOST_DEVICE Coordinate CoordinateInOrderOfIn(int i) const {
    const int row = by_cols_.Quotient(i);
    const int matrix = by_rows_.Quotient(row);
    return {matrix, row - matrix * rows, i - row * cols};
  }
  // Returns the same in the order of `out`.
  STRIDEWISE_HOST_DEVICE Coordinate CoordinateInOrderOfOut(int i) const {
    const int col = by_rows_.Quotient(i);
    const int matrix = by_cols_.Quotient(col);
    return {matrix, i - col * rows, col - matrix * cols};
  }
  // Returns the index in the order of `in` of element i in the order of `out`.
  STRIDEWISE_HOST_DEVICE int IndexInOrderOfIn(int i) const {
    const int col = by_rows_.Quotient(i);  // Counted through all matrices, side by side.
    const int matrix = by_cols_.Quotient(col);
    return (i - col * rows) * cols + col + matrix * (rows - 1) * cols;
  }

  STRIDEWISE_HOST_DEVICE int UnitOfVector(int vector) const {
    return units == 1 ? 0 : by_vectors_.Quotient(vector);
  }

 private:
  SmallDivisor by_rows_;
  SmallDivisor by_cols_;
  SmallDivisor by_vectors_;
};

// Returns the part of unit `unit` that the block's `count` elements reach.
template <typename T, typename Element>
__device__ Strip<Element> StripOf(const Units<T>& units, Element* piece, int unit, int count) {
  const int left = count - unit * units.elements;
  return {piece + unit * units.elements, left < units.elements ? left : units.elements};
}

template <typename T>
__device__ void LoadFlat(const Units<T>& units, const T* piece, int count, T* tile) {
  using Word = typename Units<T>::Word;
  const int vectors = units.vectors * units.units;
  for (int v = threadIdx.x; v < vectors; v += kInFlight * kThreads) {
    Vector loaded[kInFlight];
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const int unit = units.UnitOfVector(v + i * kThreads);
      const int vector = v + i * kThreads - unit * units.vectors;
      if (unit >= units.units) continue;
      const Strip<const T> strip = StripOf(units, piece, unit, count);
      if (strip.Fills(vector)) loaded[i] = strip.At(vector);
    }
#pragma unroll
    for (int i = 0; i < kInFlight; ++i) {
      const int unit = units.UnitOfVector(v + i * kThreads);
      const int vector = v + i * kThreads - unit * units.vectors;
      if (unit >= units.units || !StripOf(units, piece, unit, count).Fills(vector)) continue;
      Word* to = reinterpret_cast<Word*>(tile) + unit * units.pitch() + vector * Units<T>::kWords +
                 Units<T>::Padding(vector);
#pragma unroll
      for (int k = 0; k < Units<T>::kWords; ++k) to[k] = ElementOf<Word>(loaded[i], k);
    }
  }
  for (int i = threadIdx.x; i < units.units * Strip<T>::kEnds; i += kThreads) {
    const int unit = i / Strip<T>::kEnds;
    const Strip<const T> strip = StripOf(units, piece, unit, count);
    const int index = strip.End(i % Strip<T>::kEnds);
    if (index >= 0) tile[units.OffsetOf(unit, strip.lead() + index)] = strip[index];
  }
}

template <typename T>
__device__ void StoreFlat(const Units<T>& units, const T* tile, int lead_in, T* piece, int count) {
  const int matrix_elements = units.rows * units.cols;
  for (int vector = threadIdx.x; vector < units.vectors; vector += kThreads) {
    // The offset of each element in shared memory, walking down the columns.
    const int first = Strip<T>(piece, count).First(vector);
    if (first < 0) continue;
    int from[kVectorElements<T>];
    auto [matrix, row, col] = units.CoordinateInOrderOfOut(first);
    int index = (matrix * units.rows + row) * units.cols + col;
    int of_matrix = col * units.rows + row;
#pragma unroll
    for (int k = 0; k < kVectorElements<T>; ++k) {
      from[k] = units.OffsetOf(0, lead_in + index);
      const bool next_col = ++row == units.rows;
      const bool next_matrix = ++of_matrix == matrix_elements;
      index += next_matrix ? 1 : next_col ? units.cols + 1 - matrix_elements : units.cols;
      row = next_col ? 0 : row;
      of_matrix = next_matrix ? 0 : of_matrix;
    }
#pragma unroll 1
    for (int unit = 0; unit < units.units; ++unit) {
      const Strip<T> strip = StripOf(units, piece, unit, count);
      if (!strip.Fills(vector)) break;
      const T* of_unit = tile + units.OffsetOf(unit, 0);
      T elements[kVectorElements<T>];
#pragma unroll
      for (int k = 0; k < kVectorElements<T>; ++k) elements[k] = of_unit[from[k]];
      strip.At(vector) = VectorOf(elements);
    }
  }
  for (int i = threadIdx.x; i < units.units * Strip<T>::kEnds; i += kThreads) {
    const int unit = i / Strip<T>::kEnds;
    const Strip<T> strip = StripOf(units, piece, unit, count);
    const int index = strip.End(i % Strip<T>::kEnds);
    if (index < 0) continue;
    strip[index] = tile[units.OffsetOf(unit, lead_in + units.IndexInOrderOfIn(index))];
  }
}

template <typename T>
__global__ void __launch_bounds__(kThreads)
    BatchSmall(Side<const T> in, Side<T> out, int64_t batch, Units<T> units) {
  extern __shared__ Vector shared[];
  T* tile = reinterpret_cast<T*>(shared);
  const int64_t first = static_cast<int64_t>(blockIdx.x) * units.units * units.matrices;
  const int64_t most = static_cast<int64_t>(units.units) * units.matrices;
  const int matrices = static_cast<int>(batch - first < most ? batch - first : most);
  const int count = matrices * units.rows * units.cols;
  const T* in_piece = in.data + first * in.stride;
  T* out_piece = out.data + first * out.stride;
  int lead_in = 0;
  if (in.flat) {
    lead_in = Strip<T>::Lead(in_piece);
    LoadFlat(units, in_piece, count, tile);
  } else {
    for (int i = threadIdx.x; i < count; i += kThreads) {
      const auto [matrix, row, col] = units.CoordinateInOrderOfIn(i);
      tile[units.OffsetOf(0, i)] = in_piece[matrix * in.stride + row * in.ld + col];
    }
  }
  __syncthreads();
  if (out.flat) {
    StoreFlat(units, tile, lead_in, out_piece, count);
  } else {
    for (int i = threadIdx.x; i < count; i += kThreads) {
      const auto at = units.CoordinateInOrderOfOut(i);
      out_piece[at.matrix * out.stride + at.col * out.ld + at.row] =
          tile[units.OffsetOf(0, lead_in + units.IndexInOrderOfIn(i))];
    }
  }
}

constexpr int kTile = 32;
constexpr int kTileRows = kThreads / kTile;
static_assert(kTile % kTileRows == 0, "each thread moves a whole number of elements");

// Takes matrices that are not small: tile_swizzled with a loop over all tiles of all matrices.
template <typename T>
__global__ void __launch_bounds__(kThreads)
    Tiles(ConstMatrix<T> in, Matrix<T> out, int64_t stride_in, int64_t stride_out, Extent3 tiles) {
  __shared__ T tile[kTile][kTile];
  const int x = threadIdx.x % kTile;
  const int first_y = threadIdx.x / kTile;
  for (int64_t i = blockIdx.x; i < tiles.x * tiles.y * tiles.z; i += gridDim.x) {
    const int64_t row = i / tiles.x % tiles.y * kTile;
    const int64_t col = i % tiles.x * kTile;
    const int64_t matrix = i / (tiles.x * tiles.y);
#pragma unroll
    for (int y = first_y; y < kTile; y += kTileRows) {
      if (row + y < in.rows && col + x < in.cols) {
        tile[y][x ^ y] = (&in(row + y, col + x))[matrix * stride_in];
      }
    }
    __syncthreads();
#pragma unroll
    for (int y = first_y; y < kTile; y += kTileRows) {
      if (col + y < in.cols && row + x < in.rows) {
        (&out(col + y, row + x))[matrix * stride_out] = tile[x][y ^ x];
      }
    }
    __syncthreads();  // Before the next tile overwrites this one.
  }
}

template <typename T>
LaunchStatus LaunchTiles(const TransposeArgs& args) {
  const Extent3 tiles = {CeilDiv(args.cols, kTile), CeilDiv(args.rows, kTile), args.batch};
  const int64_t blocks = tiles.x * tiles.y * tiles.z;
  return Launch(Tiles<T>, Grid{blocks < kMaxGridX ? blocks : kMaxGridX}, Block{kThreads}, 0,
                args.stream, args.In<T>(), args.Out<T>(), args.stride_in, args.stride_out, tiles);
}

template <typename T>
LaunchStatus LaunchUnits(const TransposeArgs& args) {
  const int64_t elements = args.rows * args.cols;
  const Side<const T> in = {
      static_cast<const T*>(args.in), args.ld_in, args.stride_in,
      args.ld_in == args.cols && (args.batch == 1 || args.stride_in == elements)};
  const Side<T> out = {
      static_cast<T*>(args.out), args.ld_out, args.stride_out,
      args.ld_out == args.rows && (args.batch == 1 || args.stride_out == elements)};
  const auto bytes = static_cast<int>(elements * args.element_bytes);
  // The number of matrices after which one starts at a multiple of 16 bytes again.
  int step = 1;
  while (step * bytes % kVectorBytes != 0) step *= 2;
  int matrices = step * bytes < kUnitBytes ? kUnitBytes / (step * bytes) * step : step;
  const int piece_bytes = args.batch * bytes < kFewBytes ? kPieceBytesOfFew : kPieceBytes;
  int units = piece_bytes / (matrices * bytes);
  // Units share their offsets only where they are aligned alike.
  const bool repeat = in.flat && out.flat && units > 0;
  if (!repeat) {
    matrices = bytes < piece_bytes ? piece_bytes / bytes : 1;
    units = 1;
  }
  const bool aligned =
      matrices % step == 0 && Strip<T>::Lead(args.in) == 0 && Strip<T>::Lead(args.out) == 0;
  const Units<T> shape(args.rows, args.cols, matrices, units, aligned);
  return Launch(BatchSmall<T>, Grid{CeilDiv(args.batch, int64_t{1} * matrices * units)},
                Block{kThreads}, shape.shared_bytes(), args.stream, in, out, args.batch, shape);
}

}  // namespace

LaunchStatus TransposeBatchSmall(const TransposeArgs& args) {
  if (args.rows == 0 || args.cols == 0 || args.batch == 0) return LaunchStatus();
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    constexpr int64_t kMaxElements = kMaxMatrixBytes / sizeof(T);
    // In this order, which cannot overflow.
    const bool fits = args.rows <= kMaxElements && args.cols <= kMaxElements / args.rows;
    return fits ? LaunchUnits<T>(args) : LaunchTiles<T>(args);
  });
}

}  // namespace stridewise
