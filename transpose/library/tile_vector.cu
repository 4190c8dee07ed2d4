// Moves 16 bytes with every access of a thread, on both sides. Rows and columns are exchanged
// twice: within a stack of vectors in a thread's registers, and between the stacks in shared
// memory, from which each piece of an out row is stored in one access. tile_swizzled moves 4 bytes
// with each of its four accesses to an element; here 16 floats take four loads, four shared stores,
// four shared loads and four stores.
//
// The tile is stored as out rows, in groups of 16 bytes. Group g of row o lies in column g ^ (o /
// n), where n is the number of elements in a vector: threads that store the same group for
// different columns, and threads that load one out row, all access different banks.
//
// The fast path is for matrices made of whole vectors: extents, leading dimensions, strides and
// pointers are multiples of 16 bytes. Others are moved element by element through the same tile,
// which is correct and slow; they are what tile_ragged is for.

#include <type_traits>

#include "common/gpu/current_device.h"
#include "common/gpu/launch.h"
#include "transpose/alignment.h"
#include "transpose/device/tile_grid.h"
#include "transpose/device/vectors.h"
#include "transpose/device/wide_tiles.h"
#include "transpose/views.h"

namespace stridewise {
namespace {

// A tile of kRows x kCols elements of `in`, taken in stacks of kStack vectors, one of each row.
template <typename T, int kRowsOfTile, int kColsOfTile, int kThreadsOfBlock, int kStackRows>
struct Shape {
  using Element = T;
  static constexpr int kRows = kRowsOfTile;
  static constexpr int kCols = kColsOfTile;
  static constexpr int kThreads = kThreadsOfBlock;
  static constexpr int kStack = kStackRows;
  static constexpr int kElements = kVectorElements<T>;
  static constexpr int kVectors = kCols / kElements;  // Along a row of `in`.
  static constexpr int kGroups = kRows / kElements;   // Of 16 bytes along a row of `out`.
  static constexpr int kStacks = kVectors * kRows / kStack / kThreads;
  static constexpr int kStores = kCols * kGroups / kThreads;
  static_assert(kCols % kElements == 0 && kRows % kElements == 0, "whole vectors on both sides");
  static_assert(kRows % kStack == 0 && kElements % kStack == 0, "a stack does not leave its group");
  static_assert(kStacks * kThreads * kStack == kVectors * kRows,
                "each thread has the same number of stacks");
  static_assert(kStores * kThreads == kCols * kGroups, "each thread has the same number of stores");
  static_assert((kGroups & (kGroups - 1)) == 0, "x ^ y stays inside a row of a power of two");
  static constexpr int kAhead = 1;  // Stacks that are loaded before the first is exchanged.
  static_assert(kStacks % kAhead == 0, "stacks are loaded in whole groups");
  static constexpr size_t kBytes = kRows * kCols * sizeof(T);
};

// The tile for each element size. On an H200, at 8192 x 8192 and more, they reach 0.97 of memcpy
// for floats (128x64 and 128x128 tiles are no better, 32x32 is 5 points worse), 0.96 for bytes,
// which need 128 bytes of an out row and 256 of an in row to fill sectors, and 0.98 for 8 bytes.
template <typename T>
struct Large;
template <>
struct Large<uint8_t> : Shape<uint8_t, 128, 256, 512, 4> {};
template <>
struct Large<uint16_t> : Shape<uint16_t, 128, 128, 512, 2> {};
template <>
struct Large<uint32_t> : Shape<uint32_t, 64, 64, 256, 4> {};
template <>
struct Large<uint64_t> : Shape<uint64_t, 32, 32, 256, 1> {};
template <>
struct Large<Bits128> : Shape<Bits128, 16, 16, 128, 1> {};

// The tile where large ones are at most kFewTiles. A 512 x 512 matrix of floats has 64 tiles of
// 64x64, enough for half of a GPU's multiprocessors: tiles half as high, with one vector a stack,
// reach 0.95 of memcpy there, and the large ones 0.90. At 1280 x 1280 the large ones are ahead. On
// an H100 12 matrices of 2048x64 bytes have 0.98 of a copy in small ones, and 0.95 in large ones.
template <typename T>
struct Small : Large<T> {};
template <>
struct Small<uint8_t> : Shape<uint8_t, 128, 128, 256, 4> {
  static constexpr int64_t kFewTiles = 100;
};
template <>
struct Small<uint16_t> : Shape<uint16_t, 64, 64, 256, 2> {
  static constexpr int64_t kFewTiles = 300;
};
template <>
struct Small<uint32_t> : Shape<uint32_t, 32, 64, 256, 1> {
  static constexpr int64_t kFewTiles = 300;
};
template <>
struct Small<uint64_t> : Shape<uint64_t, 32, 16, 128, 1> {
  static constexpr int64_t kFewTiles = 2500;
};

// The tile of tile_wide. Where rows of large matrices are far apart memory delivers more if more
// neighbouring bytes of a row of `in` are read at a time: tiles are 0.25 to 2 KB wide, and
// 2^kSideBits columns of them are taken together. A multiprocessor has kBlocks of them at a time,
// all of whose loads are under way at once: more blocks take turns at more rows, and are 1 to 1.5
// points of a copy's speed slower.
template <typename T, int kRows, int kCols, int kThreads, int kStackRows, int kBlocksAtATime,
          unsigned kSide>
struct WideShape : Shape<T, kRows, kCols, kThreads, kStackRows> {
  using Base = Shape<T, kRows, kCols, kThreads, kStackRows>;
  static constexpr int kAhead = Base::kStacks;
  static constexpr size_t kLeast = (kBlocksAtATime == 1 ? 116 : 76) << 10;
  static constexpr size_t kBytes = Base::kBytes > kLeast ? Base::kBytes : kLeast;
  static constexpr unsigned kSideBits = kSide;
};
template <typename T>
struct Wide;
template <>
struct Wide<uint8_t> : WideShape<uint8_t, 256, 256, 512, 4, 2, 0> {};
template <>
struct Wide<uint16_t> : WideShape<uint16_t, 128, 128, 512, 2, 2, 0> {};
template <>
struct Wide<uint32_t> : WideShape<uint32_t, 64, 256, 512, 4, 1, 6> {};
template <>
struct Wide<uint64_t> : WideShape<uint64_t, 64, 128, 1024, 1, 1, 5> {};
template <>
struct Wide<Bits128> : WideShape<Bits128, 32, 128, 512, 1, 1, 5> {};

// The tile of bytes whose out rows are no whole sectors, so that two tiles share one at each cut:
// it has half as many. On an H100 784x512 bytes reach 0.89 of a copy with it, and 0.79 without.
struct High : Shape<uint8_t, 256, 128, 512, 4> {};

constexpr int64_t kLowBand = 64;

// Returns the vector at (row, col). Elements outside the matrix are not read; their values are
// unspecified.
template <bool kWhole, typename In, typename Index>
__device__ inline Vector Load(const In& in, Index row, Index col) {
  using T = std::remove_const_t<typename In::Element>;
  Vector vector = {};
  if constexpr (kWhole) {
    if (row < in.rows && col < in.cols) vector = *reinterpret_cast<const Vector*>(&in(row, col));
  } else {
    T elements[kVectorElements<T>] = {};
#pragma unroll
    for (int k = 0; k < kVectorElements<T>; ++k) {
      if (row < in.rows && col + k < in.cols) elements[k] = in(row, col + k);
    }
    vector = VectorOf<T>(elements);
  }
  return vector;
}

template <bool kWhole, typename Out, typename Index>
__device__ inline void Store(const Out& out, Index row, Index col, const Vector& vector) {
  using T = typename Out::Element;
  if constexpr (kWhole) {
    if (row < out.rows && col < out.cols) StoreVector(&out(row, col), vector);
  } else {
#pragma unroll
    for (int k = 0; k < kVectorElements<T>; ++k) {
      if (row < out.rows && col + k < out.cols) out(row, col + k) = ElementOf<T>(vector, k);
    }
  }
}

template <typename Tile, bool kWhole, typename In, typename Out>
__global__ void __launch_bounds__(Tile::kThreads) TileVector(In in, Out out, TileBatch batch) {
  using T = typename Tile::Element;
  using Index = typename In::Index;
  using Exchange = Columns<T, Tile::kStack>;
  constexpr int kElements = Tile::kElements;
  constexpr int kPieces = kElements / Tile::kStack;  // Stacks that fill a group of an out row.
  extern __shared__ Vector tile[];                   // Tile::kBytes.
  const TileCoordinate coordinate = EnterTile(batch, &in, &out);
  const auto first_col = static_cast<Index>(coordinate.col) * Tile::kCols;
  const auto first_row = static_cast<Index>(coordinate.row) * Tile::kRows;
  if (first_row >= in.rows || first_col >= in.cols) return;

#pragma unroll
  for (int first = 0; first < Tile::kStacks; first += Tile::kAhead) {
    Vector rows[Tile::kAhead][Tile::kStack];
#pragma unroll
    for (int i = 0; i < Tile::kAhead; ++i) {
      const unsigned stack = threadIdx.x + (first + i) * Tile::kThreads;  // % and / by a mask.
      const auto x = static_cast<int>(stack % Tile::kVectors);
      const auto y = static_cast<int>(stack / Tile::kVectors);
#pragma unroll
      for (int k = 0; k < Tile::kStack; ++k) {
        rows[i][k] = Load<kWhole>(in, first_row + y * Tile::kStack + k, first_col + x * kElements);
      }
    }
    if constexpr (Tile::kAhead > 1) __syncwarp();  // nvcc would load one stack behind the other.
#pragma unroll
    for (int i = 0; i < Tile::kAhead; ++i) {
      const unsigned stack = threadIdx.x + (first + i) * Tile::kThreads;
      const auto x = static_cast<int>(stack % Tile::kVectors);
      typename Exchange::Piece columns[kElements];
      Exchange::Take(rows[i], columns);
      const auto group = static_cast<int>((stack / Tile::kVectors / kPieces) ^
                                          (stack % Tile::kVectors % Tile::kGroups));
#pragma unroll
      for (int k = 0; k < kElements; ++k) {
        Vector* row = &tile[(x * kElements + k) * Tile::kGroups];
        reinterpret_cast<typename Exchange::Piece*>(row + group)[stack / Tile::kVectors % kPieces] =
            columns[k];
      }
    }
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < Tile::kStores; ++i) {
    const unsigned store = threadIdx.x + i * Tile::kThreads;
    const auto group = static_cast<int>(store % Tile::kGroups);
    const auto row = static_cast<int>(store / Tile::kGroups);
    const auto column = group ^ static_cast<int>(store / Tile::kGroups / kElements % Tile::kGroups);
    Store<kWhole>(out, first_col + row, first_row + group * kElements,
                  tile[row * Tile::kGroups + column]);
  }
}

template <typename Tile>
LaunchStatus Run(const TransposeArgs& args, unsigned side_bits = 0) {
  const auto launch = [](const TransposeArgs& part, const Grid& grid, const TileBatch& batch) {
    return ForViewsOf<typename Tile::Element>(part, part.cols, part.rows, [&](auto in, auto out) {
      using In = decltype(in);
      using Out = decltype(out);
      return Launch(IsMadeOf(part, kVectorBytes) ? TileVector<Tile, true, In, Out>
                                                 : TileVector<Tile, false, In, Out>,
                    grid, Block{Tile::kThreads}, Tile::kBytes, part.stream, in, out, batch);
    });
  };
  // With elements of 16 bytes low bands are 3 points of a copy's speed faster where out rows are a
  // multiple of 128 KB apart, and slower elsewhere. Tall matrices are cut into tile_ragged's bands.
  constexpr int64_t kSize = sizeof(typename Tile::Element);
  const int64_t tile_rows = CeilDiv(args.rows, Tile::kRows);
  const bool low = kSize == kVectorBytes && args.ld_out * kSize % (128 << 10) == 0;
  const int64_t tile_cols = CeilDiv(args.cols, Tile::kCols);
  const int64_t band = low ? kLowBand : BandRows(tile_rows, tile_cols);
  if (side_bits != 0) {
    return ForEachTileGrid(args, tile_rows, tile_cols, tile_rows, launch, side_bits);
  }
  return ForEachTileGrid(args, tile_rows, tile_cols, band, launch);
}

}  // namespace

LaunchStatus TransposeTileVector(const TransposeArgs& args) {
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    using Tile = Large<T>;
    const int64_t tiles =
        args.batch * CeilDiv(args.rows, Tile::kRows) * CeilDiv(args.cols, Tile::kCols);
    using Few = Small<T>;
    if constexpr (!std::is_base_of_v<Tile, Few>) {
      if (tiles < Few::kFewTiles) return Run<Few>(args);
    }
    if constexpr (sizeof(T) == 1) {
      if (!OutRowsAreAt(args, kSectorBytes)) return Run<High>(args);
    }
    return Run<Tile>(args);
  });
}

LaunchStatus TransposeTileWide(const TransposeArgs& args) {
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    using Tile = Wide<T>;
    constexpr int kBytes = Tile::kBytes;
    // Bytes gain on every device: on an H200 0.97 of a copy instead of 0.95 at 32768 x 32768.
    const bool gains = sizeof(T) == 1 ? kBytes <= CurrentDeviceModel().max_shared_bytes
                                      : GainsFromWideTiles(kBytes);
    return gains ? Run<Tile>(args, Tile::kSideBits) : Run<Large<T>>(args);
  });
}

}  // namespace stridewise
