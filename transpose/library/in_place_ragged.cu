// Transposes a square in place whose rows begin anywhere: in_place_square.cu's pairs of tiles with
// the raw rows of tile_ragged.cu. A tile's part of a row is copied to shared memory by the 16-byte
// chunks that it fills, at a distance from row to row that is congruent to the matrix's modulo 16,
// so that chunks remain chunks; what remains at its two ends is copied in pieces (pieces.h). Rows
// of the result are gathered from columns of the tile and stored in the same way.
//
// The parts of neighbouring tiles share sectors and chunks. tile_ragged shifts its parts so that
// they do not; here a block must write what it has read and nothing else, since another block
// reads and writes what is next to it.
//
// Tiles are kChunks - 1 chunks wide: wherever a part begins, it then lies in at most kChunks of
// them, which eight lanes take in whole turns.

#include "common/gpu/launch.h"
#include "transpose/args.h"
#include "transpose/device/async_copy.h"
#include "transpose/device/gather.h"
#include "transpose/device/pieces.h"
#include "transpose/device/strip.h"
#include "transpose/device/tile_pair.h"
#include "transpose/device/vectors.h"

namespace stridewise {
namespace {

// Tiles whose parts of rows lie in kChunks chunks.
template <int kChunksOfRow, int kThreadsOfBlock, int kBlocksResident>
struct Shape {
  static constexpr int kChunks = kChunksOfRow;
  static constexpr int kThreads = kThreadsOfBlock;
  static constexpr int kBlocks = kBlocksResident;
};
template <typename T>
struct ShapeFor;
template <>
struct ShapeFor<uint8_t> : Shape<12, 512, 2> {};
template <>
struct ShapeFor<uint16_t> : Shape<16, 512, 3> {};
template <>
struct ShapeFor<uint32_t> : Shape<16, 256, 5> {};
template <>
struct ShapeFor<uint64_t> : Shape<32, 512, 3> {};

template <typename T>
constexpr int kExtent = (ShapeFor<T>::kChunks - 1) * kVectorElements<T>;

// A tile in global memory, cut off where the matrix ends.
template <typename T>
struct Tile {
  T* data;
  int rows;
  int cols;
  int64_t ld;

  __device__ Strip<T> Row(int row) const { return {data + row * ld, cols}; }
};

// Calls fn(row, vector, elements of the vector that the row has) for the vectors at the ends of
// rows that a row has in part.
template <typename T, typename Fn>
__device__ inline void ForEnds(const Tile<T>& tile, Fn fn) {
  constexpr int kElements = kVectorElements<T>;
  for (int i = threadIdx.x; i < 2 * tile.rows; i += ShapeFor<T>::kThreads) {
    const int row = i / 2;
    const int begin = tile.Row(row).lead();
    const int end = begin + tile.cols;  // Counted from the first vector, as `begin`.
    const int last = end / kElements;
    if (i % 2 == 0) {
      if (begin > 0) fn(row, 0, InVector{begin, end < kElements ? end : kElements});
    } else if (end % kElements > 0 && (last > 0 || begin == 0)) {
      fn(row, last, InVector{0, end % kElements});
    }
  }
}

// Starts to copy the tile to shared memory, where element (r, c) is at r * pitch + c * size from
// `first`.
template <typename T>
__device__ inline void LoadTile(const Tile<T>& tile, int pitch, unsigned char* first) {
  constexpr int kSize = sizeof(T);
  constexpr int kChunks = ShapeFor<T>::kChunks;
#pragma unroll 4
  for (int i = threadIdx.x; i < tile.rows * kChunks; i += ShapeFor<T>::kThreads) {
    const int row = i / kChunks;
    const int chunk = i % kChunks;
    const Strip<T> strip = tile.Row(row);
    if (!strip.Fills(chunk)) continue;
    CopyAsync16(first + row * pitch + strip.First(chunk) * kSize, &strip.At(chunk));
  }
  ForEnds(tile, [&](int row, int chunk, const InVector& has) {
    const Strip<T> strip = tile.Row(row);
    unsigned char* const to = first + row * pitch + strip.First(chunk) * kSize;
    if (has.begin > 0 && has.end < kVectorElements<T>) {
      for (int k = has.begin; k < has.end; ++k) {
        reinterpret_cast<T*>(to)[k] = strip[strip.First(chunk) + k];
      }
    } else {
      Pieces<T>(has).Copy(to, reinterpret_cast<const unsigned char*>(&strip.At(chunk)));
    }
  });
}

// Stores the columns of the tile in shared memory as the rows of `tile`.
template <typename T>
__device__ inline void StoreTile(const Tile<T>& tile, int pitch, const unsigned char* first) {
  constexpr int kSize = sizeof(T);
  constexpr int kChunks = ShapeFor<T>::kChunks;
  constexpr int kWarps = ShapeFor<T>::kThreads / 32;
  const int lane = threadIdx.x % kLanes;
  const int column = threadIdx.x % 32 / kLanes;
  const BankOrder order = AvoidBankConflicts<T>(pitch, tile.ld, lane, column);
  const GatherOffsets<T> offsets(pitch, order.rotation);
  const int low = (1 << order.log2_stride) - 1;
  const int groups = (tile.rows + kColumnsOfWarp * (low + 1) - 1) / kColumnsOfWarp & ~low;
  for (int four = threadIdx.x / 32; four < groups; four += kWarps) {
    const int row = (column << order.log2_stride) + (four & low) + (four & ~low) * kColumnsOfWarp;
    if (row >= tile.rows) continue;
    const Strip<T> strip = tile.Row(row);
#pragma unroll
    for (int chunk = lane; chunk < kChunks; chunk += kLanes) {
      if (!strip.Fills(chunk)) continue;
      StoreVector(&strip.At(chunk),
                  Gather<T>(first + strip.First(chunk) * pitch + row * kSize, offsets));
    }
  }
  ForEnds(tile, [&](int row, int chunk, const InVector& has) {
    const Strip<T> strip = tile.Row(row);
    const unsigned char* const from = first + row * kSize;
    if (has.begin > 0 && has.end < kVectorElements<T>) {
      for (int k = strip.First(chunk) + has.begin; k < strip.First(chunk) + has.end; ++k) {
        strip[k] = *reinterpret_cast<const T*>(from + k * pitch);
      }
      return;
    }
    const Pieces<T> pieces(has);
    int place[kVectorElements<T>];
#pragma unroll
    for (int k = 0; k < kVectorElements<T>; ++k) {
      place[k] = (strip.First(chunk) + pieces.ElementOf(k)) * pitch;
    }
    pieces.Store(reinterpret_cast<intptr_t>(&strip.At(chunk)), GatherAt<T>(from, place));
  });
}

// Each block takes a pair of tiles of every gridDim.z-th matrix.
template <typename T>
__global__ void __launch_bounds__(ShapeFor<T>::kThreads, ShapeFor<T>::kBlocks)
    InPlaceRagged(Matrix<T> matrix, int64_t batch, int64_t stride, int pitch, int tile_bytes) {
  extern __shared__ Vector tile_memory[];
  auto* const memory = reinterpret_cast<unsigned char*>(tile_memory);
  const Pair pair(gridDim.x - 1);
  if (pair.taken) return;
  const int64_t row = pair.i * kExtent<T>;
  const int64_t col = pair.j * kExtent<T>;
  const auto left = [&](int64_t first) {
    const int64_t extent = matrix.rows - first;
    return extent < kExtent<T> ? static_cast<int>(extent) : kExtent<T>;
  };
  const bool two = row != col;
  for (int64_t i = blockIdx.z; i < batch; i += gridDim.z) {
    const Tile<T> upper = {&matrix(row, col) + i * stride, left(row), left(col), matrix.ld};
    const Tile<T> lower = {&matrix(col, row) + i * stride, left(col), left(row), matrix.ld};
    // Chunks remain chunks: the first element is where its address is, modulo 16.
    unsigned char* const of_upper =
        memory + (reinterpret_cast<intptr_t>(upper.data) & (kVectorBytes - 1));
    unsigned char* const of_lower =
        memory + tile_bytes + (reinterpret_cast<intptr_t>(lower.data) & (kVectorBytes - 1));
    LoadTile(upper, pitch, of_upper);
    if (two) LoadTile(lower, pitch, of_lower);
    WaitForCopies();
    __syncthreads();
    StoreTile(lower, pitch, of_upper);
    if (two) StoreTile(upper, pitch, of_lower);
    __syncthreads();  // Before the next matrix's tiles overwrite these.
  }
}

template <typename T>
LaunchStatus Run(const TransposeArgs& args) {
  constexpr int kChunks = ShapeFor<T>::kChunks;
  const auto remainder =
      static_cast<int>(args.ld_out * static_cast<int64_t>(sizeof(T)) % kVectorBytes);
  const int pitch = kChunks * kVectorBytes + (remainder == 0 ? kVectorBytes : remainder);
  const int tile_bytes =
      static_cast<int>(CeilDiv(kExtent<T> * pitch, kVectorBytes) * kVectorBytes) + kVectorBytes;
  const int64_t tiles = CeilDiv(args.rows, kExtent<T>);
  const int64_t matrices = args.batch < kMaxGridYZ ? args.batch : kMaxGridYZ;
  return Launch(InPlaceRagged<T>, Grid{tiles + 1, CeilDiv(tiles, 2), matrices},
                Block{ShapeFor<T>::kThreads}, static_cast<size_t>(2 * tile_bytes), args.stream,
                args.Out<T>(), args.batch, args.stride_out, pitch, tile_bytes);
}

}  // namespace

LaunchStatus TransposeInPlaceRagged(const TransposeArgs& args) {
  switch (args.element_bytes) {
    case 1:
      return Run<uint8_t>(args);
    case 2:
      return Run<uint16_t>(args);
    case 4:
      return Run<uint32_t>(args);
    default:
      return Run<uint64_t>(args);  // Elements of 16 bytes are whole vectors.
  }
}

}  // namespace stridewise
