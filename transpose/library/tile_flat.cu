// For matrices of 1, 2 and 4 bytes with up to some hundred rows: a tile has all rows of some
// columns, so that what it stores is one piece of `out`. It is loaded as tile_ragged's, and each of
// its vectors is gathered from a column, or from the end of one and the beginning of the next:
// tile_ragged stores those ends element by element, which costs most where out rows are short and
// begin anywhere.

#include <algorithm>

#include "common/gpu/launch.h"
#include "transpose/alignment.h"
#include "transpose/args.h"
#include "transpose/device/flat_vectors.h"
#include "transpose/device/gather.h"
#include "transpose/device/matrix_offsets.h"
#include "transpose/device/ragged_chunks.h"
#include "transpose/device/small_divisor.h"
#include "transpose/device/vectors.h"

namespace stridewise {
namespace {

using ragged::LoadPart;
using ragged::Memory;
using ragged::Part;

constexpr int kGroups = kColumnsOfWarp;  // Vectors of a warp, kLanes each.

// A tile of kChunks x 16 bytes of every row, for at most kRows rows, of which a multiprocessor has
// room for kBlocks.
template <int kChunksOfRow, int kThreadsOfBlock, int kBlocksOfMultiprocessor, int kMostRows>
struct Shape {
  static constexpr int kChunks = kChunksOfRow;
  static constexpr int kThreads = kThreadsOfBlock;
  static constexpr int kBlocks = kBlocksOfMultiprocessor;
  static constexpr int kRows = kMostRows;
};

// Chosen by measurement on an H200. With a third block of the last shape, which leaves L1 24 KB,
// 250 x 95181 bytes have 0.90 of a copy instead of 0.95: its tiles take at least a third of the
// memory.
using FewRows = Shape<16, 256, 4, 120>;
using SomeRows = Shape<16, 384, 3, 221>;
using ManyRows = Shape<16, 512, 2, 360>;
constexpr size_t kLeastBytesOfTwo = 77 << 10;

// How a matrix is cut into tiles.
struct Flat : ragged::Cut {
  int strips;  // Tiles of a matrix.
  bool rotates;  // Whether vectors of a warp begin in the same bank.
  FlatTurns turns;
  SmallDivisor by_rows = SmallDivisor(1);
  BlockDivisor by_strips = BlockDivisor();
  MatrixOffsets offsets;
  int64_t span_in;  // Elements of all matrices.
};

// Returns the elements from `data` to the next sector.
template <typename T>
__device__ inline int ToSector(const T* data) {
  return static_cast<int>(-reinterpret_cast<intptr_t>(data) & (kSectorBytes - 1)) /
         static_cast<int>(sizeof(T));
}

// A tile writes whole sectors: from the first that begins in it to the one that ends behind it,
// which has elements of the next column. The matrix's ends are stored by elements.
template <typename Shape, bool kNested, typename T>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kBlocks)
    TileFlat(ConstMatrix<T> in, T* out, Flat flat) {
  extern __shared__ Vector tile_memory[];
  auto* const tile = reinterpret_cast<unsigned char*>(tile_memory);
  const auto memory_begin = reinterpret_cast<intptr_t>(in.data);
  const Memory memory = {memory_begin,
                         memory_begin + flat.span_in * static_cast<int64_t>(sizeof(T))};
  const uint32_t matrix = flat.by_strips.Quotient(blockIdx.x);
  const int first_col = static_cast<int>(blockIdx.x - matrix * flat.strips) * flat.cols;
  const int left = static_cast<int>(in.cols) - first_col;
  in.data += flat.offsets.In<kNested>(matrix);
  T* const piece =
      out + flat.offsets.Out<kNested>(matrix) + static_cast<int64_t>(first_col) * flat.rows;
  Part part = {{0, first_col, 0, flat.rows, left < flat.cols ? left : flat.cols}, 0};
  const unsigned char* const loaded = LoadPart<Shape>(in, memory, flat, &part, tile);

  const int elements = part.cols * flat.rows;
  const int first = ToSector(piece);
  const int end = part.cols == left ? elements : elements + ToSector(piece + elements);
  const int vectors = (end - first) / kVectorElements<T>;
  if (flat.rotates) {
    StoreFlatVectors<Shape::kThreads, true>(piece, first, vectors, flat.rows, flat.by_rows,
                                            flat.pitch, flat.turns, loaded);
  } else {
    StoreFlatVectors<Shape::kThreads, false>(piece, first, vectors, flat.rows, flat.by_rows,
                                             flat.pitch, flat.turns, loaded);
  }
  const int head = first_col == 0 ? first : 0;
  const int tail = end - first - vectors * kVectorElements<T>;
  for (int i = threadIdx.x; i < head + tail; i += Shape::kThreads) {
    const int at = i < head ? i : end - tail + i - head;
    const int col = flat.by_rows.Quotient(at);
    piece[at] = *reinterpret_cast<const T*>(loaded + (at - col * flat.rows) * flat.pitch +
                                            col * static_cast<int>(sizeof(T)));
  }
}

// Returns the turns of threads for tiles of `cols` columns.
template <typename T>
FlatTurns TurnsFor(int rows, int pitch, int cols, int threads) {
  constexpr int kSize = sizeof(T);
  constexpr int kElements = kVectorElements<T>;
  FlatTurns turns;
  turns.period = rows % 2 == 0 ? rows : 2 * rows;
  // The four places of a warp are so far apart that what its lanes load lies in different banks:
  // those of eight lanes are multiples of four apart, where the places' distance is one more.
  const int quarter = static_cast<int>(CeilDiv(turns.period, 2 * kGroups) * 2);
  int least = 1 << 30;
  for (int group = quarter; group <= quarter + 14; group += 2) {
    const int at = group * kElements;
    const int banks = (at % rows * pitch + at / rows * kSize) % kVectorBytes;
    const int cost = std::abs(banks % 8 - 4) * 4 + (group - quarter);
    if (cost < least) {
      least = cost;
      turns.group = group;
    }
  }
  turns.octets = static_cast<int>(CeilDiv(turns.group, kLanes));
  // Warps take equal parts, as far as possible. Places cost as much as one or two vectors.
  constexpr double kPlaces = 1.5;
  const int64_t warps = threads / 32;
  const int64_t vectors = CeilDiv(int64_t{cols} * rows, kElements);
  const int64_t periods = CeilDiv(vectors, turns.period);
  double best = 0;
  for (int at_once = 1; at_once <= 16; ++at_once) {
    const int64_t tasks = CeilDiv(periods, at_once) * turns.octets;
    const double cost = static_cast<double>(CeilDiv(tasks, warps)) *
                        (static_cast<double>(std::min<int64_t>(at_once, periods)) + kPlaces);
    if (best != 0 && cost >= best) continue;
    best = cost;
    turns.at_once = at_once;
  }
  turns.by_period = SmallDivisor(turns.period);
  turns.by_octets = SmallDivisor(turns.octets);
  return turns;
}

// Returns tiles of equal width. The column behind a tile's last lies in its last chunk.
template <typename T, typename Shape>
Flat FlatFor(const TransposeArgs& args, const MatrixOffsets& offsets) {
  constexpr int kSize = sizeof(T);
  constexpr int kElements = kVectorElements<T>;
  constexpr int64_t kMostCols = (Shape::kChunks - 1) * kElements;
  Flat flat = {};
  flat.rows = static_cast<int>(args.rows);
  flat.rows_held = flat.rows;
  const int64_t strips = CeilDiv(args.cols, kMostCols);
  flat.cols = static_cast<int>(CeilDiv(CeilDiv(args.cols, strips), kElements) * kElements);
  flat.strips = static_cast<int>(CeilDiv(args.cols, int64_t{flat.cols}));
  const int remainder = static_cast<int>(args.ld_in * kSize % kVectorBytes);
  flat.pitch = Shape::kChunks * kVectorBytes + (remainder == 0 ? kVectorBytes : remainder);
  flat.by_rows = SmallDivisor(args.rows);
  flat.by_strips = BlockDivisor(static_cast<uint32_t>(flat.strips));
  flat.offsets = offsets;
  flat.span_in = SpanOfIn(args, offsets);
  flat.rotates = kSize < 4 && flat.pitch / kSize % 2 == 0;
  flat.turns = TurnsFor<T>(flat.rows, flat.pitch, flat.cols, Shape::kThreads);
  return flat;
}

template <typename T, typename Shape>
LaunchStatus Run(const TransposeArgs& args, const MatrixOffsets& offsets) {
  static_assert(Shape::kRows * (Shape::kChunks + 1) * kVectorBytes <= 96 << 10,
                "tiles fit the shared memory of a block");
  const Flat flat = FlatFor<T, Shape>(args, offsets);
  const size_t tile_bytes = static_cast<size_t>(flat.rows) * flat.pitch + 2 * kVectorBytes;
  const size_t least_bytes = Shape::kBlocks == 2 ? kLeastBytesOfTwo : 0;
  return Launch(offsets.nested != 0 ? TileFlat<Shape, true, T> : TileFlat<Shape, false, T>,
                Grid{flat.strips * args.batch}, Block{Shape::kThreads},
                std::max(tile_bytes, least_bytes), args.stream, args.In<T>(),
                static_cast<T*>(args.out), flat);
}

template <typename T>
LaunchStatus RunShape(const TransposeArgs& args, const MatrixOffsets& offsets) {
  if (args.rows <= FewRows::kRows) return Run<T, FewRows>(args, offsets);
  if (args.rows <= SomeRows::kRows) return Run<T, SomeRows>(args, offsets);
  return Run<T, ManyRows>(args, offsets);
}

}  // namespace

LaunchStatus TransposeTileRagged(const TransposeArgs& args);

// REQUIRES: HasFlatTiles(args).
LaunchStatus NestedTileFlat(const TransposeArgs& args, const MatrixOffsets& offsets) {
  switch (args.element_bytes) {
    case 1:
      return RunShape<uint8_t>(args, offsets);
    case 2:
      return RunShape<uint16_t>(args, offsets);
    default:
      return Run<uint32_t, FewRows>(args, offsets);
  }
}

LaunchStatus TransposeTileFlat(const TransposeArgs& args) {
  if (args.rows == 0 || args.cols == 0 || args.batch == 0) return LaunchStatus();
  if (!HasFlatTiles(args)) return TransposeTileRagged(args);
  return NestedTileFlat(args, OffsetsOf(args));
}

}  // namespace stridewise
