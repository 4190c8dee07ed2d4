// For matrices whose rows start anywhere: 16-byte accesses on both sides, whatever the alignment.
//
// Loads: the chunks under a row's part of the tile are copied to shared memory as they are, so that
// no row needs to know its own misalignment (ragged_chunks.h).
//
// Stores: every out row begins its part of the tile where its own address is a multiple of 32, a
// sector, so that no sector is written by two blocks. The parts of neighbouring out rows are
// shifted against each other by less than a sector, and the tile holds that many more rows. A
// thread gathers the 16 bytes of one vector from one row of the tile for each element.
//
// On an H200 this reaches 0.95 of memcpy at 8193 x 8191 floats. Other designs: scalar accesses and
// a 64x64 tile, 0.81; two aligned loads and a funnel shift for each vector, 0.82; aligned loads
// whose elements are stored where they leave aligned, 0.90.

#include <algorithm>
#include <type_traits>

#include "common/gpu/launch.h"
#include "transpose/alignment.h"
#include "transpose/device/ragged_byte_stores.h"
#include "transpose/device/ragged_chunks.h"
#include "transpose/device/ragged_stores.h"
#include "transpose/device/ragged_tile.h"
#include "transpose/device/sector_piece.h"
#include "transpose/device/tile_grid.h"
#include "transpose/device/vectors.h"
#include "transpose/device/wide_tiles.h"

namespace stridewise {
namespace {

using ragged::Cut;
using ragged::LoadPart;
using ragged::Memory;
using ragged::MemoryOf;
using ragged::Part;
using ragged::StoreBytes;
using ragged::StoreRows;

constexpr int kSharedBytes = 228 * 1024;      // Shared memory of a multiprocessor of sm_90.
constexpr int kMostSharedBytes = 196 * 1024;  // Of it, that leave an L1 cache of 60 KB.

// The matrices that a shape of tile is for: those whose rows it holds whole, those whose columns it
// holds whole, batches of those whose out rows are whole sectors, those whose rows of `in` are
// whole lines, single ones of 15 to 60 MB that are not wide, tall ones of 100 MB and more, batches,
// large ones, large ones whose pitch in shared memory is little more than its chunks, and odd only
// of few or very many rows, other large ones whose rows are an odd distance apart, or all.
enum class Use {
  kNarrow,
  kLow,
  kSectors,
  kLines,
  kMiddle,
  kTall,
  kBatch,
  kLarge,
  kTight,
  kOdd,
  kAny
};
constexpr int64_t kMiddleBytes = 60000000;
constexpr int64_t kLargeBytes = 15000000;  // Less is cut into smaller tiles.

// A tile of kChunks x 16 bytes of kRowsHeld rows, or of less of more rows, of which at most
// kMostBlocks are resident on a multiprocessor. Blocks take 2^kSideBits columns of tiles together
// where that is not 0.
template <int kChunksOfRow, int kMostRows, int kThreadsOfBlock, int kMostBlocksResident,
          Use kUseOfShape = Use::kAny, unsigned kBitsOfSide = 0>
struct Shape {
  static constexpr unsigned kSideBits = kBitsOfSide;
  static constexpr int kMostBlocks = kMostBlocksResident;
  static constexpr Use kUse = kUseOfShape;
  static constexpr int kChunks = kChunksOfRow;
  static constexpr int kRowsHeld = kMostRows;
  static constexpr int kThreads = kThreadsOfBlock;
  static_assert(kThreads % 32 == 0 && kThreads >= kChunks, "whole warps, and a thread for a chunk");
  static constexpr int kBlockBytes = 1056;  // Beside its tile.
  static_assert(kMostBlocks * (kRowsHeld * (kChunks + 1) * kVectorBytes + kBlockBytes) <=
                    kMostSharedBytes,
                "L1 keeps what neighbouring rows share");
};

template <typename Shape, typename T>
__global__ void __launch_bounds__(Shape::kThreads)
    TileRagged(ConstMatrix<T> in, Matrix<T> out, TileBatch batch, Cut cut) {
  extern __shared__ Vector tile_memory[];
  auto* const tile = reinterpret_cast<unsigned char*>(tile_memory);
  const Memory memory = MemoryOf(in, batch);
  Part part = {EnterRaggedTile(batch, cut, &in, &out), 0};
  if (part.begin >= part.end || part.cols <= 0) return;
  const unsigned char* const loaded = LoadPart<Shape>(in, memory, cut, &part, tile);
  if (part.IsWhole(cut)) {
    StoreRows<Shape, true>(out, part, cut, loaded);
  } else {
    StoreRows<Shape, false>(out, part, cut, loaded);
  }
}

// The same for bytes. By itself nvcc takes fewer registers than two blocks leave, and loads less at
// once.
template <typename Shape, typename T>
__global__ void __launch_bounds__(Shape::kThreads, Shape::kMostBlocks)
    TileRaggedBytes(ConstMatrix<T> in, Matrix<T> out, TileBatch batch, Cut cut) {
  extern __shared__ Vector tile_memory[];
  auto* const tile = reinterpret_cast<unsigned char*>(tile_memory);
  const Memory memory = MemoryOf(in, batch);
  Part part = {EnterRaggedTile(batch, cut, &in, &out), 0};
  if (part.begin >= part.end || part.cols <= 0) return;
  const unsigned char* const loaded = LoadPart<Shape>(in, memory, cut, &part, tile);
  if (part.IsWhole(cut)) {
    StoreBytes<Shape, true>(out, part, cut, loaded);
  } else {
    StoreBytes<Shape, false>(out, part, cut, loaded);
  }
}

// Returns the bytes of a row that `chunks` chunks hold for certain: those of one chunk less where a
// row may begin inside its first chunk.
int64_t RowBytes(int chunks, const TransposeArgs& args) {
  return (chunks - (InRowsAreAt(args, kVectorBytes) ? 0 : 1)) * kVectorBytes;
}

// Returns the bytes from row to row in shared memory of tiles of `cols` columns.
template <typename T>
int PitchFor(const TransposeArgs& args, int64_t cols) {
  constexpr int kSize = sizeof(T);
  const int64_t inside = InRowsAreAt(args, kVectorBytes) ? 0 : kVectorBytes - kSize;
  const auto chunks = static_cast<int>(CeilDiv(cols * kSize + inside, int64_t{kVectorBytes}));
  const int remainder = static_cast<int>(args.ld_in * kSize % kVectorBytes);
  return chunks * kVectorBytes + (remainder == 0 ? kVectorBytes : remainder);
}

// Returns a cut into tiles of equal height and width, no larger than the shape's.
template <typename T, typename Shape>
Cut CutFor(const TransposeArgs& args) {
  constexpr int kSize = sizeof(T);
  constexpr int kMostBytes = Shape::kRowsHeld * (Shape::kChunks + 1) * kVectorBytes;
  static_assert(kLineBytes <= Shape::kChunks * kVectorBytes, "a row holds a cache line");
  // Aligned rows are cut at cache lines, others at vectors.
  const bool in_aligned = InRowsAreAt(args, kVectorBytes);
  const int64_t col_unit = (in_aligned ? kLineBytes : kVectorBytes) / kSize;
  const int64_t most_cols = RowBytes(Shape::kChunks, args) / kSize / col_unit * col_unit;
  // Tiles of fewer columns have more rows: on an H100 187979x282 bytes have 1.00 of a copy, and
  // 0.95 where narrow tiles leave half of the memory unused.
  const int64_t cols =
      CeilDiv(CeilDiv(args.cols, CeilDiv(args.cols, most_cols)), col_unit) * col_unit;
  // With elements of 1 and 2 bytes three waves instead of one, and tiles that are spread over all
  // multiprocessors: on an H100 32 matrices of 512x196 bytes have 0.84 of a copy instead of 0.73.
  // Single ones of bytes of 15 to 60 MB are not cut smaller.
  const bool spreads = kSize < 4;
  const int waves = kSize == 1 && Shape::kUse == Use::kMiddle ? 0 : spreads ? 3 : 2;
  const bool large = args.batch * args.rows * args.cols * kSize >= kLargeBytes;
  const RaggedLimits limits = {large ? kMostBytes / PitchFor<T>(args, cols) : Shape::kRowsHeld,
                               most_cols,
                               col_unit,
                               Shape::kMostBlocks,
                               waves,
                               spreads};
  Cut cut = {MakeRaggedCut(args, limits), 0, in_aligned};
  cut.pitch = PitchFor<T>(args, cut.cols);
  return cut;
}

template <typename T, typename Shape>
LaunchStatus Run(const TransposeArgs& args) {
  if (args.rows == 0 || args.cols == 0) return LaunchStatus();
  const Cut cut = CutFor<T, Shape>(args);
  const size_t tile_bytes = static_cast<size_t>(cut.rows_held) * cut.pitch + 2 * kVectorBytes;
  // With less, more than kMostBlocks blocks would fit on a multiprocessor.
  constexpr size_t kLeastBytes = kSharedBytes / (Shape::kMostBlocks + 1);
  const size_t shared_bytes = std::max(tile_bytes, kLeastBytes);
  const auto launch = [&](const TransposeArgs& part, const Grid& grid, const TileBatch& batch) {
    void (*kernel)(ConstMatrix<T>, Matrix<T>, TileBatch, Cut);
    if constexpr (sizeof(T) == 1) {
      kernel = TileRaggedBytes<Shape, T>;
    } else {
      kernel = TileRagged<Shape, T>;
    }
    return Launch(kernel, grid, Block{Shape::kThreads}, shared_bytes, part.stream, part.In<T>(),
                  part.Out<T>(), batch, cut);
  };
  const int64_t tile_rows = cut.TileRows(args);
  const int64_t tile_cols = cut.TileCols(args);
  // What a column of tiles moves. Half of the L2 cache holds it until the next column comes, which
  // shares lines of `in` with it: blocks then write whole rows of `out`. On an H200 24782x8248
  // bytes have 0.88 of a copy so and 0.84 in bands of 4, 50684x1318 bytes 0.88 and 0.91.
  constexpr int64_t kHeldBytes = 20000000;
  const int64_t column_bytes = 2 * args.rows * Shape::kChunks * kVectorBytes;
  // Of elements of 1 and 2 bytes lower bands, and of lower matrices, too: on an H100 43140x3217
  // bytes have 0.92 of a copy in bands of 4 tiles, and 0.84 in the order in which `out` is written.
  // Floats in the tiles of large matrices have 0.90 in bands of one, and 0.85 in others' (an H200,
  // 63570x5231). Rows of whole lines share none with their neighbours, and need no bands.
  // Of 15 to 60 MB bands of one: on an H100 7158x4828 bytes have 0.95 of a copy, and 0.88 in
  // the order in which `out` is written.
  constexpr int64_t kLow = 100;
  constexpr bool kTall = Shape::kUse == Use::kTall;
  constexpr bool kMiddle = Shape::kUse == Use::kMiddle;
  constexpr int64_t kLowBand = sizeof(T) == 2 || kTall || kMiddle ? 1 : 4;
  const bool whole = Shape::kUse == Use::kLines || (!kMiddle && column_bytes <= kHeldBytes);
  const bool low = kMiddle || (kTall && sizeof(T) >= 8) ||
                   ((sizeof(T) <= 2 || kTall) && tile_rows > kLow && tile_cols <= kLow);
  const int64_t band = whole ? tile_rows : low ? kLowBand : BandRows(tile_rows, tile_cols);
  if (Shape::kSideBits != 0) {
    return ForEachTileGrid(args, tile_rows, tile_cols, tile_rows, launch, Shape::kSideBits);
  }
  return ForEachTileGrid(args, tile_rows, tile_cols, band, launch);
}

template <typename T, typename Shape>
bool Applies(const TransposeArgs& args) {
  constexpr int64_t kSize = sizeof(T);
  if constexpr (Shape::kUse == Use::kNarrow) {
    return args.cols * kSize <= RowBytes(Shape::kChunks, args);
  } else if constexpr (Shape::kUse == Use::kLow) {
    return args.rows + kSectorBytes / kSize <= Shape::kRowsHeld;
  } else if constexpr (Shape::kUse == Use::kSectors) {
    return args.batch > 1 && OutRowsAreAt(args, kSectorBytes);
  } else if constexpr (Shape::kUse == Use::kLines) {
    return InRowsAreAt(args, kLineBytes);
  } else if constexpr (Shape::kUse == Use::kMiddle) {
    const int64_t bytes = args.rows * args.cols * kSize;
    return args.batch == 1 && args.cols < 4 * args.rows && bytes >= kLargeBytes &&
           bytes < kMiddleBytes;
  } else if constexpr (Shape::kUse == Use::kTall) {
    constexpr int64_t kLeastBytes = kSize >= 8 ? 200000000 : 100000000;
    return args.batch == 1 && args.rows >= 12000 && args.rows >= 4 * args.cols &&
           args.rows * args.cols * kSize >= kLeastBytes;
  } else if constexpr (Shape::kUse == Use::kBatch) {
    return args.batch > 1;
  } else if constexpr (Shape::kUse == Use::kLarge) {
    return args.rows * args.cols * kSize >= kLargeBytes;
  } else if constexpr (Shape::kUse == Use::kTight) {
    constexpr int64_t kFewRows = 1000;
    constexpr int64_t kManyRows = 60000;
    return args.rows * args.cols * kSize >= kLargeBytes && args.ld_in * kSize % kVectorBytes <= 6 &&
           (args.ld_in % 2 == 0 || args.rows <= kFewRows || args.rows >= kManyRows);
  } else if constexpr (Shape::kUse == Use::kOdd) {
    return args.rows * args.cols * kSize >= kLargeBytes && args.ld_in * kSize % 2 == 1;
  } else {
    return true;
  }
}

// The shapes of tile for one element size, in the order in which they are tried.
template <typename... All>
struct Shapes {};

// Runs with the first of the shapes that applies; the last always does.
template <typename T, typename First, typename... Others>
LaunchStatus RunFirst(const TransposeArgs& args, Shapes<First, Others...> /*shapes*/) {
  if constexpr (sizeof...(Others) > 0) {
    if (!Applies<T, First>(args)) return RunFirst<T>(args, Shapes<Others...>());
  } else {
    static_assert(First::kUse == Use::kAny, "the last is for all");
  }
  return Run<T, First>(args);
}

// The shapes were chosen by measurement on an H200. What matters most is how many blocks run at
// once: the best numbers leave L1 40 to 60 KB. With one block more, 0.96 of memcpy becomes 0.81.
// So it does with a few KB more: shared memory comes in steps, of which 196 KB is the last but one.
// Bytes whose out rows are whole sectors, of which no row is held twice, are faster in four narrow
// tiles than in two: 128x197 in a batch of 512 0.83 of a copy, and 0.77. Rows of 2 bytes that a
// tile holds whole are not cut in two: on an H100 162145x142 have 0.98 of a copy instead of 0.93.
// Those that the higher tiles hold stay there: 512 of 257x128 have 0.82, and 0.73 in low ones.
// Batches of bytes and large ones an odd distance apart, whose vectors need no rotation, are faster
// in four tiles of 256 columns of 128 rows: 83280x507 0.97 of a copy, and 0.92 in three of 192.
// Others are slower, 5397x61240 0.81 and 0.86: four blocks leave 32 registers. Few or very many
// odd rows take 512 columns of 128 where two tiles leave L1 92 KB (657466x1366 0.87 instead of
// 0.84). Of 2 bytes a tile has 416 bytes of an out row, a sector more than whole lines: see
// ragged_stores.h.
template <typename T>
struct ShapesFor;
template <>
struct ShapesFor<uint8_t>
    : Shapes<Shape<8, 288, 256, 4, Use::kNarrow>, Shape<24, 164, 512, 3, Use::kMiddle>,
             Shape<8, 288, 256, 4, Use::kSectors>, Shape<16, 288, 512, 2, Use::kNarrow>,
             Shape<16, 160, 512, 4, Use::kBatch>, Shape<32, 160, 512, 2, Use::kTight>,
             Shape<16, 160, 512, 4, Use::kOdd>, Shape<16, 224, 512, 3, Use::kLarge>,
             Shape<16, 288, 512, 2>> {};
template <>
struct ShapesFor<uint16_t>
    : Shapes<Shape<16, 224, 512, 3, Use::kMiddle>, Shape<8, 272, 256, 4, Use::kNarrow>,
             Shape<8, 272, 256, 4, Use::kSectors>, Shape<16, 208, 512, 3, Use::kNarrow>,
             Shape<32, 144, 512, 2, Use::kNarrow>, Shape<16, 224, 512, 3>> {};
template <>
struct ShapesFor<uint32_t>
    : Shapes<Shape<64, 40, 384, 4, Use::kLow>, Shape<16, 136, 384, 4, Use::kLines>,
             Shape<32, 72, 384, 4, Use::kMiddle>, Shape<8, 264, 512, 4, Use::kNarrow>,
             Shape<16, 200, 512, 3, Use::kNarrow>, Shape<32, 136, 512, 2, Use::kTall>,
             Shape<32, 72, 384, 4>> {};
template <>
struct ShapesFor<uint64_t>
    : Shapes<Shape<8, 264, 512, 4, Use::kNarrow>, Shape<16, 136, 512, 4, Use::kNarrow>,
             Shape<64, 20, 512, 4, Use::kLow>, Shape<32, 68, 384, 4, Use::kMiddle>,
             Shape<16, 260, 512, 2, Use::kTall>, Shape<32, 68, 512, 3>> {};
template <>
struct ShapesFor<Bits128> : Shapes<Shape<32, 68, 384, 4, Use::kMiddle>,
                                   Shape<32, 170, 512, 2, Use::kTall>, Shape<32, 68, 512, 3>> {};

// Tiles that a multiprocessor has one of, whose rows are 1 KB, eight columns of them together: for
// matrices of a GB, as tile_wide is for those of whole vectors. On an H100 45012x25133 bytes have
// 0.89 of a copy, and 0.82 in the tiles above; 27637x21980 of 2 bytes 0.90 and 0.87; 20001x20001
// floats 0.92 and 0.90. Of 500 MB and less, and with 8 bytes, they have less, and so they have on
// an H200, whose memory is faster beside equal multiprocessors: 31407x30651 bytes 0.76 and 0.86.
template <typename T>
using Wide = Shape<64,
                   sizeof(T) == 1   ? 144
                   : sizeof(T) == 2 ? 112
                                    : 136,
                   512, 1, Use::kAny, 3>;

}  // namespace

LaunchStatus TransposeTileWords(const TransposeArgs& args);

LaunchStatus TransposeTileRagged(const TransposeArgs& args) {
  if (args.element_bytes == 1 && args.cols >= kLineBytes && InRowsAreAt(args, kVectorBytes)) {
    return TransposeTileWords(args);
  }
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    return RunFirst<T>(args, ShapesFor<T>());
  });
}

LaunchStatus TransposeTileRaggedWide(const TransposeArgs& args) {
  constexpr int kMostTileBytes = 152 << 10;
  if (args.element_bytes > 4 || !GainsFromWideTiles(kMostTileBytes)) {
    return TransposeTileRagged(args);
  }
  switch (args.element_bytes) {
    case 1:
      return Run<uint8_t, Wide<uint8_t>>(args);
    case 2:
      return Run<uint16_t, Wide<uint16_t>>(args);
    default:
      return Run<uint32_t, Wide<uint32_t>>(args);
  }
}

}  // namespace stridewise
