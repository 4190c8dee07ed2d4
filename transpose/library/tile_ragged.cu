// For matrices whose rows start anywhere: 16-byte accesses on both sides, whatever the alignment.
//
// Loads: the 16-byte chunks that lie under a row's part of the tile are copied to shared memory as
// they are, including the bytes before and behind the part. The distance between two rows in shared
// memory is congruent modulo 16 to their distance in `in`, so that chunks remain whole chunks and
// element (r, c) of the tile lies at lead + r * pitch + c * size: no row needs to know its own
// misalignment.
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
#include "transpose/device/async_copy.h"
#include "transpose/device/gather.h"
#include "transpose/device/ragged_tile.h"
#include "transpose/device/sector_piece.h"
#include "transpose/device/tile_grid.h"
#include "transpose/device/vectors.h"

namespace stridewise {
namespace {

constexpr int kSharedBytes = 228 * 1024;  // Shared memory of a multiprocessor of sm_90.

struct Cut : RaggedCut {
  int pitch;        // Bytes from row to row in shared memory.
  bool in_aligned;  // Whether all rows of `in` begin with a chunk.
};

// The matrices that a shape of tile is for: those whose rows it holds whole, those whose columns it
// holds whole, or all.
enum class Use { kNarrow, kLow, kAny };

// A tile of kChunks x 16 bytes of at most kRowsHeld rows, of which at most kMostBlocks are resident
// on a multiprocessor.
template <int kChunksOfRow, int kMostRows, int kThreadsOfBlock, int kMostBlocksResident,
          Use kUseOfShape = Use::kAny>
struct Shape {
  static constexpr int kMostBlocks = kMostBlocksResident;
  static constexpr Use kUse = kUseOfShape;
  static constexpr int kChunks = kChunksOfRow;
  static constexpr int kRowsHeld = kMostRows;
  static constexpr int kThreads = kThreadsOfBlock;
  static_assert(kThreads % kChunks == 0, "a thread loads the same chunk of every row");
  static_assert(kThreads % 32 == 0, "whole warps");
};

struct Part : RaggedPart {
  int chunks;  // Chunks that lie under a row.
};

// Loads the chunks under the rows. A thread loads the same chunk of each of its rows, so that a
// chunk costs two additions and a mask. A chunk may have bytes of other rows, or between rows.
template <typename Shape, typename T>
__device__ inline void LoadRows(const T* corner, int64_t row_bytes, const Part& part, int pitch,
                                unsigned char* tile) {
  constexpr int kStep = Shape::kThreads / Shape::kChunks;  // Rows from one chunk to the next.
  const int chunk = static_cast<int>(threadIdx.x) % Shape::kChunks;
  if (chunk >= part.chunks) return;
  const int first = part.begin + static_cast<int>(threadIdx.x) / Shape::kChunks;
  const auto* from = reinterpret_cast<const unsigned char*>(corner) + first * row_bytes;
  int to =
      static_cast<int>(reinterpret_cast<intptr_t>(corner) & (kVectorBytes - 1)) + first * pitch;
#pragma unroll 4
  for (int y = first; y < part.end; y += kStep) {
    const auto misaligned = static_cast<int>(reinterpret_cast<intptr_t>(from) & (kVectorBytes - 1));
    CopyAsync16(tile + (to & -kVectorBytes) + chunk * kVectorBytes,
                from - misaligned + chunk * kVectorBytes);
    from += kStep * row_bytes;
    to += kStep * pitch;
  }
}

// Does the same where a chunk may begin before the matrix or end behind it: from there only
// elements of the matrix are copied.
template <typename Shape, typename T>
__device__ inline void LoadRowsAtEnds(const ConstMatrix<T>& in, const Part& part, int pitch,
                                      unsigned char* tile) {
  constexpr int kSize = sizeof(T);
  const int64_t row_bytes = static_cast<int64_t>(in.ld) * kSize;
  const auto begin = reinterpret_cast<intptr_t>(in.data);
  const intptr_t end = begin + (in.rows - 1) * row_bytes + static_cast<int64_t>(in.cols) * kSize;
  const intptr_t corner = begin + part.first_row * row_bytes + part.first_col * kSize;
#pragma unroll 1
  for (int i = threadIdx.x; i < (part.end - part.begin) * part.chunks; i += Shape::kThreads) {
    const int y = part.begin + i / part.chunks;
    const int chunk = i % part.chunks * kVectorBytes;
    const intptr_t global = ((corner + y * row_bytes) & -kVectorBytes) + chunk;
    const int to = static_cast<int>(corner & (kVectorBytes - 1)) + y * pitch;
    unsigned char* const shared = tile + (to & -kVectorBytes) + chunk;
    if (global >= begin && global + kVectorBytes <= end) {
      CopyAsync16(shared, reinterpret_cast<const void*>(global));
      continue;
    }
#pragma unroll 1
    for (int k = 0; k < kVectorBytes; k += kSize) {
      if (global + k < begin || global + k >= end) continue;
      *reinterpret_cast<T*>(shared + k) = *reinterpret_cast<const T*>(global + k);
    }
  }
}

// Keeps a value that does not change in a register. nvcc computes it anew in each round of a loop
// to save registers.
__device__ inline int Hoisted(int value) {
#ifndef STRIDEWISE_HOST_EXECUTOR
  asm volatile("" : "+r"(value));
#endif
  return value;
}

// Stores the tile of elements of 2 bytes and more. A warp stores 128 bytes of each of four out rows
// at a time.
template <typename Shape, bool kInside, typename T>
__device__ inline void StoreRows(const Matrix<T>& out, const Part& part, const Cut& cut,
                                 const unsigned char* tile) {
  constexpr int kSize = sizeof(T);
  constexpr int kElements = kVectorElements<T>;
  constexpr int kWarps = Shape::kThreads / 32;
  const int lane = threadIdx.x % kLanes;
  const int column = threadIdx.x % 32 / kLanes;
  const BankOrder order = AvoidBankConflicts<T>(cut.pitch, out.ld, lane, column);
  const GatherOffsets<T> offsets(cut.pitch, order.rotation);
  T* const corner = out.data + part.first_col * out.ld + part.first_row;
  // The columns of a warp are a stride apart: columns 0 to 3 of the tile, then 4 to 7; or 0, 2, 4,
  // 6, then 1, 3, 5, 7; and so on.
  const int low = Hoisted((1 << order.log2_stride) - 1);
  const int first_col = Hoisted(column << order.log2_stride);
  const int groups = (part.cols + kColumnsOfWarp * (low + 1) - 1) / kColumnsOfWarp & ~low;
  for (int four = threadIdx.x / 32; four < groups; four += kWarps) {
    const int col = first_col + (four & low) + (four & ~low) * kColumnsOfWarp;
    if (col >= part.cols) continue;
    const SectorPiece<T> piece(corner + col * static_cast<int64_t>(out.ld), cut.shift, cut.rows,
                               part.begin, part.end);
    const unsigned char* const from = tile + col * kSize;
#pragma unroll 2
    for (int vector = lane; vector * kElements < cut.rows; vector += kLanes) {
      const int y = piece.First(vector);
      if (kInside || piece.Fills(y)) {
        StoreVector(piece.At(y), Gather<T>(from + y * cut.pitch, offsets));
      }
    }
  }
  if constexpr (!kInside) {
    SectorPiece<T>::StoreEnds(
        part.cols, part.begin > 0, part.end < cut.rows_held, Shape::kThreads,
        [&](int col) {
          return SectorPiece<T>(corner + col * static_cast<int64_t>(out.ld), cut.shift, cut.rows,
                                part.begin, part.end);
        },
        [&](int y, int col) {
          return *reinterpret_cast<const T*>(tile + y * cut.pitch + col * kSize);
        });
  }
}

// The columns that a thread stores vectors of: the first, and those that are kStep further. All of
// them begin alike modulo a sector, whatever the distance of out rows, so that the thread takes the
// same vectors of them.
template <typename Shape>
struct ColumnsOfThread {
  static constexpr int kStep = Shape::kThreads / 32 * kColumnsOfWarp;

  // The columns of a warp are a stride apart: columns 0 to 3 of the tile, then 4 to 7; or 0, 2, 4,
  // 6, then 1, 3, 5, 7; and so on.
  __device__ explicit ColumnsOfThread(const BankOrder& order) {
    const int column = threadIdx.x % 32 / kLanes;
    const int warp = threadIdx.x / 32;
    const int low = (1 << order.log2_stride) - 1;
    first = (column << order.log2_stride) + (warp & low) + (warp & ~low) * kColumnsOfWarp;
  }

  int first;
};

// Stores the vectors that lie inside the matrix, of bytes. A warp stores 128 bytes of each of four
// out rows at a time.
template <typename Shape, bool kInside, bool kRotates, typename T>
__device__ inline void StoreVectors(const Matrix<T>& out, T* corner, const Part& part,
                                    const Cut& cut, const BankOrder& order,
                                    const unsigned char* tile) {
  constexpr int kSize = sizeof(T);
  constexpr int kElements = kVectorElements<T>;
  constexpr int kStep = ColumnsOfThread<Shape>::kStep;
  static_assert(kStep * kSize % kSectorBytes == 0, "whole sectors apart");
  const GatherOffsets<T> offsets(cut.pitch, kRotates ? order.rotation : 0);
  const ColumnsOfThread<Shape> columns(order);
  const SectorPiece<T> piece(corner + columns.first * static_cast<int64_t>(out.ld), cut.shift,
                             cut.rows, part.begin, part.end);
  for (int vector = threadIdx.x % kLanes; vector * kElements < cut.rows; vector += kLanes) {
    const int y = piece.First(vector);
    if (!kInside && !piece.Fills(y)) continue;
    T* to = piece.At(y);
    const unsigned char* from = tile + y * cut.pitch + columns.first * kSize;
#pragma unroll 2
    for (int col = columns.first; col < part.cols; col += kStep) {
      if constexpr (kRotates) {
        StoreVector(to, Gather<T>(from, offsets));
      } else {
        StoreVector(to, GatherInOrder<T>(from, cut.pitch));
      }
      to += kStep * out.ld;
      from += kStep * kSize;
    }
  }
}

// Stores the ends of out rows at the upper or at the lower edge of the matrix, a thread an element
// of columns that begin alike.
template <typename Shape, bool kLower, typename T>
__device__ inline void StoreEnds(const Matrix<T>& out, T* corner, const Part& part, const Cut& cut,
                                 const unsigned char* tile) {
  constexpr int kSize = sizeof(T);
  constexpr int kElements = kVectorElements<T>;
  constexpr int kAtOnce = Shape::kThreads / kElements;  // Columns.
  constexpr int kUnit = kSectorBytes / kSize;
  constexpr int kStep = kAtOnce % kUnit == 0 ? kAtOnce : kAtOnce * kUnit;
  const int end = (kLower ? kElements : 0) + static_cast<int>(threadIdx.x) % kElements;
#pragma unroll 1
  for (int first = threadIdx.x / kElements; first < kStep && first < part.cols; first += kAtOnce) {
    const SectorPiece<T> piece(corner + first * static_cast<int64_t>(out.ld), cut.shift, cut.rows,
                               part.begin, part.end);
    const int row = piece.End(end);
    if (row < 0) continue;
    T* to = piece.At(row);
    const unsigned char* from = tile + row * cut.pitch + first * kSize;
#pragma unroll 4
    for (int col = first; col < part.cols; col += kStep) {
      *to = *reinterpret_cast<const T*>(from);
      to += kStep * out.ld;
      from += kStep * kSize;
    }
  }
}

// Stores the tile of bytes. Larger elements are stored by StoreRows(), of which as many registers
// as this takes would cost a block: 0.84 of a copy instead of 0.90 at 28991 x 3806 of 2 bytes.
template <typename Shape, bool kInside, typename T>
__device__ inline void StoreBytes(const Matrix<T>& out, const Part& part, const Cut& cut,
                                  const unsigned char* tile) {
  const BankOrder order =
      AvoidBankConflicts<T>(cut.pitch, out.ld, threadIdx.x % kLanes, threadIdx.x % 32 / kLanes);
  T* const corner = out.data + part.first_col * out.ld + part.first_row;
  if (order.rotates) {
    StoreVectors<Shape, kInside, true>(out, corner, part, cut, order, tile);
  } else {
    StoreVectors<Shape, kInside, false>(out, corner, part, cut, order, tile);
  }
  if constexpr (!kInside) {
    if (part.begin > 0) StoreEnds<Shape, false>(out, corner, part, cut, tile);
    if (part.end < cut.rows_held) StoreEnds<Shape, true>(out, corner, part, cut, tile);
  }
}

// Loads the part and waits for it. Returns where its first element is in shared memory.
template <typename Shape, typename T>
__device__ inline const unsigned char* LoadPart(const ConstMatrix<T>& in, const Cut& cut,
                                                Part* part, unsigned char* tile) {
  constexpr int kSize = sizeof(T);
  part->chunks = cut.in_aligned ? (part->cols * kSize + kVectorBytes - 1) / kVectorBytes
                                : (part->cols * kSize + 2 * kVectorBytes - kSize) / kVectorBytes;
  const int64_t row_bytes = static_cast<int64_t>(in.ld) * kSize;
  const auto* corner = in.data + part->first_row * in.ld + part->first_col;
  const int lead = static_cast<int>(reinterpret_cast<intptr_t>(corner) & (kVectorBytes - 1));
  // All chunks lie inside the matrix if the first of the first row and the last of the last row do.
  const auto begin = reinterpret_cast<intptr_t>(in.data);
  const auto from = reinterpret_cast<intptr_t>(corner);
  const bool inside =
      ((from + part->begin * row_bytes) & -kVectorBytes) >= begin &&
      ((from + (part->end - 1) * row_bytes) & -kVectorBytes) + part->chunks * kVectorBytes <=
          begin + (in.rows - 1) * row_bytes + static_cast<int64_t>(in.cols) * kSize;
  if (inside) {
    LoadRows<Shape>(corner, row_bytes, *part, cut.pitch, tile);
  } else {
    LoadRowsAtEnds<Shape>(in, *part, cut.pitch, tile);
  }
  WaitForCopies();
  __syncthreads();
  return tile + lead;
}

template <typename Shape, typename T>
__global__ void __launch_bounds__(Shape::kThreads)
    TileRagged(ConstMatrix<T> in, Matrix<T> out, TileBatch batch, Cut cut) {
  extern __shared__ Vector tile_memory[];
  auto* const tile = reinterpret_cast<unsigned char*>(tile_memory);
  Part part = {EnterRaggedTile(batch, cut, &in, &out), 0};
  if (part.begin >= part.end) return;
  const unsigned char* const loaded = LoadPart<Shape>(in, cut, &part, tile);
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
  Part part = {EnterRaggedTile(batch, cut, &in, &out), 0};
  if (part.begin >= part.end) return;
  const unsigned char* const loaded = LoadPart<Shape>(in, cut, &part, tile);
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

// Returns a cut into tiles of equal height and width, no larger than the shape's.
template <typename T, typename Shape>
Cut CutFor(const TransposeArgs& args) {
  constexpr int kSize = sizeof(T);
  static_assert(kLineBytes <= Shape::kChunks * kVectorBytes, "a row holds a cache line");
  // Aligned rows are cut at cache lines, others at vectors.
  const bool in_aligned = InRowsAreAt(args, kVectorBytes);
  const RaggedLimits limits = {Shape::kRowsHeld, RowBytes(Shape::kChunks, args) / kSize,
                               (in_aligned ? kLineBytes : kVectorBytes) / kSize,
                               Shape::kMostBlocks};
  Cut cut = {MakeRaggedCut(args, limits), 0, in_aligned};
  const int remainder = static_cast<int>(args.ld_in * kSize % kVectorBytes);
  cut.pitch = Shape::kChunks * kVectorBytes + (remainder == 0 ? kVectorBytes : remainder);
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
  const int64_t band = BandRows(tile_rows, tile_cols);
  return ForEachTileGrid(args, tile_rows, tile_cols, band, launch);
}

template <typename T, typename Shape>
bool Applies(const TransposeArgs& args) {
  constexpr int64_t kSize = sizeof(T);
  if constexpr (Shape::kUse == Use::kNarrow) {
    return args.cols * kSize <= RowBytes(Shape::kChunks, args);
  } else if constexpr (Shape::kUse == Use::kLow) {
    return args.rows + kSectorBytes / kSize <= Shape::kRowsHeld;
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
template <typename T>
struct ShapesFor;
template <>
struct ShapesFor<uint8_t> : Shapes<Shape<8, 288, 256, 4, Use::kNarrow>, Shape<16, 288, 512, 2>> {};
template <>
struct ShapesFor<uint16_t> : Shapes<Shape<8, 272, 384, 4, Use::kNarrow>, Shape<16, 208, 512, 3>> {};
template <>
struct ShapesFor<uint32_t>
    : Shapes<Shape<8, 264, 512, 4, Use::kNarrow>, Shape<16, 200, 512, 3, Use::kNarrow>,
             Shape<64, 40, 384, 4, Use::kLow>, Shape<32, 72, 384, 4>> {};
template <>
struct ShapesFor<uint64_t>
    : Shapes<Shape<8, 264, 512, 4, Use::kNarrow>, Shape<16, 136, 512, 4, Use::kNarrow>,
             Shape<64, 20, 512, 4, Use::kLow>, Shape<32, 68, 512, 3>> {};
template <>
struct ShapesFor<Bits128> : Shapes<Shape<32, 68, 512, 3>> {};

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

}  // namespace stridewise
