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

constexpr int kSharedBytes = 228 * 1024;  // Of a multiprocessor of sm_90.
constexpr int kBlockBytes = 1056;         // Of a block, beside its tile.
constexpr int kGroups = kColumnsOfWarp;   // Vectors of a warp, kLanes each.

// Blocks of kThreads, of which a multiprocessor has room for kBlocks.
template <int kThreadsOfBlock, int kBlocksOfMultiprocessor>
struct Shape {
  static constexpr int kThreads = kThreadsOfBlock;
  static constexpr int kBlocks = kBlocksOfMultiprocessor;
};

// How a matrix is cut into tiles.
struct Flat : ragged::Cut {
  int strips;  // Tiles of a matrix.
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
  const BankOrder order =
      AvoidBankConflicts<T>(flat.pitch, flat.rows, threadIdx.x % kLanes, threadIdx.x % 32 / kLanes);
  if (order.rotates) {
    StoreFlatVectors<Shape::kThreads, true>(piece, first, vectors, flat.rows, flat.by_rows,
                                            flat.pitch, flat.turns, order, loaded);
  } else {
    StoreFlatVectors<Shape::kThreads, false>(piece, first, vectors, flat.rows, flat.by_rows,
                                             flat.pitch, flat.turns, order, loaded);
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
  // The places of a warp are `stride` columns apart, by which they begin in different banks: see
  // BankOrder. Where its rotation sees to that, they are a quarter of a period apart.
  const int columns = turns.period * kElements / rows;
  const int quarter = columns / kGroups;
  const int apart = ColumnsApart<T>(pitch, rows);
  const bool turned = kSize < 4 && (apart & 7) == 0;
  const int stride = turned ? quarter : std::min(1 << Log2Stride(apart), quarter);
  turns.group = static_cast<int>(CeilDiv(int64_t{stride} * rows, 2 * kElements) * 2);
  turns.of_place = static_cast<int>(CeilDiv(columns, kGroups * stride)) * turns.group;
  const int64_t vectors = CeilDiv(int64_t{cols} * rows, kElements);
  turns.periods = static_cast<int>(CeilDiv(vectors, turns.period));
  const int64_t octets = CeilDiv(turns.of_place, kLanes);
  turns.of_warp = static_cast<int>(CeilDiv(octets * turns.periods, threads / 32));
  turns.by_period = SmallDivisor(turns.period);
  turns.by_group = SmallDivisor(turns.group);
  turns.by_periods = SmallDivisor(turns.periods);
  return turns;
}

// The most that a tile may have.
struct FlatLimits {
  int64_t chunks;  // 16 bytes of a row.
  int64_t bytes;
};

// Returns tiles of equal width. The column behind a tile's last lies in its last chunk.
template <typename T, typename Shape>
Flat FlatFor(const TransposeArgs& args, const MatrixOffsets& offsets, const FlatLimits& limits) {
  constexpr int kSize = sizeof(T);
  constexpr int kElements = kVectorElements<T>;
  const int remainder = static_cast<int>(args.ld_in * kSize % kVectorBytes);
  const int slack = remainder == 0 ? kVectorBytes : remainder;
  const int64_t most_chunks =
      std::clamp((limits.bytes / args.rows - slack) / kVectorBytes, int64_t{2}, limits.chunks);
  Flat flat = {};
  flat.rows = static_cast<int>(args.rows);
  flat.rows_held = flat.rows;
  const int64_t strips = CeilDiv(args.cols, (most_chunks - 1) * kElements);
  flat.cols = static_cast<int>(CeilDiv(CeilDiv(args.cols, strips), kElements) * kElements);
  flat.strips = static_cast<int>(CeilDiv(args.cols, int64_t{flat.cols}));
  flat.pitch = (flat.cols / kElements + 1) * kVectorBytes + slack;
  flat.by_rows = SmallDivisor(args.rows);
  flat.by_strips = BlockDivisor(static_cast<uint32_t>(flat.strips));
  flat.offsets = offsets;
  flat.span_in = SpanOfIn(args, offsets);
  flat.turns = TurnsFor<T>(flat.rows, flat.pitch, flat.cols, Shape::kThreads);
  return flat;
}

template <typename T, typename Shape>
LaunchStatus Run(const TransposeArgs& args, const MatrixOffsets& offsets, int64_t chunks) {
  // Of all blocks of a multiprocessor: what is left is its L1 cache. With 204 KB 284x564961 bytes
  // have 0.80 of a copy, and 0.93 in other tiles (an H100).
  constexpr int64_t kAllBytes = 180 << 10;
  const Flat flat =
      FlatFor<T, Shape>(args, offsets, {chunks, kAllBytes / Shape::kBlocks - kBlockBytes});
  const size_t tile_bytes = static_cast<size_t>(flat.rows) * flat.pitch + 2 * kVectorBytes;
  // With less, blocks of more than that would fit.
  const auto blocks = static_cast<int64_t>(kAllBytes / (tile_bytes + kBlockBytes));
  const size_t least_bytes = kSharedBytes / (std::max<int64_t>(blocks, 1) + 1);
  return Launch(offsets.nested != 0 ? TileFlat<Shape, true, T> : TileFlat<Shape, false, T>,
                Grid{flat.strips * args.batch}, Block{Shape::kThreads},
                std::max(tile_bytes, least_bytes), args.stream, args.In<T>(),
                static_cast<T*>(args.out), flat);
}

// The shapes were chosen at 134 random matrices on an H100. Tiles of some MB in all are narrower,
// so that there are enough of them, and small whole matrices have few threads.
template <typename T>
LaunchStatus RunShape(const TransposeArgs& args, const MatrixOffsets& offsets) {
  constexpr bool kBytes = sizeof(T) == 1;
  constexpr int64_t kFewBytes = 12000000;
  constexpr int64_t kSmallBytes = 24 << 10;
  const int64_t bytes = args.rows * args.cols * args.element_bytes;
  const bool few = args.batch * bytes < kFewBytes;
  if (args.rows <= 100 && sizeof(T) == 4 && args.batch > 1) {
    return Run<T, Shape<256, 4>>(args, offsets, 16);
  }
  if (args.rows <= 75) return Run<T, Shape<256, 4>>(args, offsets, few ? 24 : 32);
  if ((few && args.rows <= 210) || bytes <= kSmallBytes) {
    return Run<T, Shape<256, 4>>(args, offsets, kBytes ? 12 : 16);
  }
  if (args.rows <= 100) return Run<T, Shape<256, 4>>(args, offsets, kBytes ? 16 : 24);
  if (args.rows <= 210) return Run<T, Shape<384, 3>>(args, offsets, kBytes ? 16 : 24);
  if (args.rows <= 270) {
    return kBytes ? Run<T, Shape<384, 3>>(args, offsets, 12)
                  : Run<T, Shape<256, 4>>(args, offsets, 9);
  }
  if (kBytes && args.rows <= 420) return Run<T, Shape<384, 3>>(args, offsets, 16);
  if (sizeof(T) == 4 || args.rows <= 340) return Run<T, Shape<384, 4>>(args, offsets, 12);
  return Run<T, Shape<512, 2>>(args, offsets, 12);
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
      return RunShape<uint32_t>(args, offsets);
  }
}

LaunchStatus TransposeTileFlat(const TransposeArgs& args) {
  if (args.rows == 0 || args.cols == 0 || args.batch == 0) return LaunchStatus();
  if (!HasFlatTiles(args)) return TransposeTileRagged(args);
  return NestedTileFlat(args, OffsetsOf(args));
}

}  // namespace stridewise
