// Tiles of C whose extents are chosen at run time, so that they fit products that no fixed tile
// fits: for batches of small and odd matrices.
//
// 594 x 77 elements take 20 tiles of 64x64, of which 56 % lie in C, or 7 of 96x80, of which 85 %
// do. Only the elements of a thread and the number of threads are constants; how the threads are
// arranged is part of the kernel's argument. The price are addresses that are computed at run time:
// where a fixed tile fits, its kernel is faster.

#ifndef STRIDEWISE_MATMUL_DEVICE_FITTED_TILE_H_
#define STRIDEWISE_MATMUL_DEVICE_FITTED_TILE_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/epilogue.h"
#include "matmul/device/vector_access.h"

namespace stridewise {

// A thread computes kThreadExtent x kThreadExtent elements. A tile has at most kMostExtent rows and
// columns together. kSlicesOfK groups of threads compute the whole tile each, from different parts
// of every step, which covers kStep of the k extent.
template <int kThreadExtent, int kThreadsOfBlock, int kMostExtent, int kStep, int kStagesOfRing,
          int kSlicesOfK, int kBlocks>
struct FittedTile {
  using Types = Float32;
  using Accumulator = Types::Accumulator;
  static constexpr int kThreadM = kThreadExtent, kThreadN = kThreadExtent;
  static constexpr int kThreads = kThreadsOfBlock;
  static constexpr int kWarps = kThreads / kWarpSize;
  static constexpr int kStepK = kStep;
  static constexpr int kSlices = kSlicesOfK;
  static constexpr int kSliceK = kStepK / kSlices;
  static constexpr int kStages = kStagesOfRing;
  static constexpr int kMinBlocks = kBlocks;
  static constexpr int kMaxExtent = kMostExtent;

  // Both operands' elements for one k lie in one row in shared memory, B's behind A's. It is four
  // floats longer than a multiple of eight, so that elements that are stored at once, neighbours
  // along k, differ in bank.
  static constexpr int kPitch = kMaxExtent + kVector;
  static constexpr int kStageFloats = kStepK * kPitch;

  // Threads come in squares of 2x2: where neighbouring lanes load the same vector, shared memory
  // serves twice the lanes at once (09_warp_tile.cu).
  static constexpr int kUnit = 2 * kThreadExtent;  // Extents are multiples of it.

  static_assert(kThreadExtent == kVector || kThreadExtent == 2 * kVector, "one or two vectors");
  static_assert(kMaxExtent % (2 * kVector) == 0, "see kPitch");
  static_assert(kStepK % 16 == 0, "copies along k are of 16 elements, two sectors");
  static_assert(kStepK % (2 * kSlices) == 0, "the main loop takes pairs of k");
  static_assert((kStages * kStageFloats * static_cast<int>(sizeof(float)) + 1024) * kMinBlocks <=
                    228 * 1024,
                "more shared memory than there is");
};

// How a call's tiles are arranged, a kernel's argument. All tiles are equal but for what lies
// outside C.
struct FittedGeometry {
  uint32_t tiles_m, tiles_n;  // Of one multiplication.
  int rows, cols;             // Of a tile.
  int squares_m, squares_n;   // The squares of threads that compute it,
  int group_width;            // and their number in a row of a group: see FittedCoord.
  int out_pitch;              // Of the tile on its way to C.
  int lanes_a, lanes_b;       // Binary logarithms of the lanes that copy a row of an MN-major
  int lanes_c;                // operand, or store a row of C.
  bool a_k_major, b_k_major;  // As they lie in memory.
  bool c_vectors;             // Every row of C begins and ends at a multiple of 16 bytes.
};

// Where a thread's first vectors lie in the tile. Squares are numbered along rows of at most four,
// so that a warp's eight squares read few different elements.
template <typename Tile>
struct FittedCoord {
  bool active;  // The others have no part of the tile, and compute another thread's.
  int slice;
  int row, col;

  __device__ FittedCoord(const FittedGeometry& tile, int thread) {
    const int squares = tile.squares_m * tile.squares_n;
    active = thread / 4 < squares * Tile::kSlices;
    slice = Tile::kSlices == 1 || !active ? 0 : thread / 4 / squares;
    const int square = active ? thread / 4 - slice * squares : 0;
    const int group = square / (tile.squares_m * tile.group_width);
    const int left = tile.squares_n - group * tile.group_width;
    const int width = left < tile.group_width ? left : tile.group_width;
    const int in_group = square - group * tile.squares_m * tile.group_width;
    row = (in_group / width * 2 + thread % 2) * kVector;
    col = ((group * tile.group_width + in_group % width) * 2 + thread / 2 % 2) * kVector;
  }
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_FITTED_TILE_H_
