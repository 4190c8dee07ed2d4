// The tiles of brief.cu: what a block copies to shared memory, and what a thread multiplies.
//
// A product that lasts for some microseconds has nothing to overlap its copies with, so what counts
// is how many instructions they are. An operand lies in shared memory as it lies in memory, in rows
// along k or along m or n, so that a copy is of 16 bytes where memory allows it, and one of 4 bytes
// writes neighbours: turned on the way, as in tile_copy.h, a warp's copy along k occupies the
// load/store unit three times as long. A thread multiplies four k at once: of a row along k they
// are one vector.

#ifndef STRIDEWISE_MATMUL_DEVICE_BRIEF_TILE_H_
#define STRIDEWISE_MATMUL_DEVICE_BRIEF_TILE_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/brief/copy.h"
#include "matmul/device/operand.h"
#include "matmul/device/vector_access.h"

namespace stridewise {

// The lanes of a warp are 8 x 4: a lane has every eighth row and every fourth column of the warp's
// part of the tile, or vectors of them.
inline constexpr int kBriefLanesM = 8;
inline constexpr int kBriefLanesN = 4;

inline constexpr int kBriefExtentK = 128;  // Of a chunk, the part of k that is copied at once.

// Warps of kWarpM x kWarpN elements fill the tile; kSlices of such groups compute all of it each,
// from groups of four k of their own.
// kWholeK: a block has at most kExtentK of k, so that there is no loop over chunks.
template <int kRows, int kCols, int kRowsOfWarp, int kColsOfWarp, int kSlicesOfBlock, bool kWholeK,
          OperandLayout kLayoutOfA, OperandLayout kLayoutOfB>
struct BriefForm {
  static constexpr int kExtentK = kBriefExtentK;
  static constexpr int kStages = kWholeK ? 1 : 3;
  static constexpr int kTileM = kRows, kTileN = kCols;
  static constexpr int kWarpM = kRowsOfWarp, kWarpN = kColsOfWarp;
  static constexpr int kSlices = kSlicesOfBlock;
  static constexpr int kWarpsN = kTileN / kWarpN;
  static constexpr int kWarpsOfSlice = kTileM / kWarpM * kWarpsN;
  static constexpr int kThreads = kWarpsOfSlice * kSlices * kWarpSize;
  static constexpr OperandLayout kLayoutA = kLayoutOfA, kLayoutB = kLayoutOfB;
  static constexpr int kLaneM = kWarpM / kBriefLanesM, kLaneN = kWarpN / kBriefLanesN;
};

// Where a thread's elements lie.
template <typename Form>
struct BriefThread {
  int slice;
  int warp_row, warp_col;  // The warp's part of the tile.
  int lane_row, lane_col;

  __device__ BriefThread() {
    const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
    const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
    slice = warp / Form::kWarpsOfSlice;
    warp_row = warp % Form::kWarpsOfSlice / Form::kWarpsN * Form::kWarpM;
    warp_col = warp % Form::kWarpsN * Form::kWarpN;
    lane_row = lane / kBriefLanesN;
    lane_col = lane % kBriefLanesN;
  }
};

// Starts, as one of kThreads threads, the copies of kExtentK of k of kMn rows or columns.
template <OperandLayout kLayout, int kMn, int kExtentK, int kThreads>
struct BriefChunk {
  static constexpr bool kKMajor = kLayout == OperandLayout::kKMajor;
  // With four more floats eight lanes that load vectors of neighbouring rows use each bank once.
  static constexpr int kPitch = kKMajor ? kExtentK + kVector : kMn;
  static constexpr int kFloats = (kKMajor ? kMn : kExtentK) * kPitch;

  // Of the chunk that begins at `from` mn_left by k_left elements exist; the others are 0, as far
  // as k is below k_left rounded up to a multiple of 4.
  __device__ static void Copy(const float* from, int64_t ld, bool vectors, int mn_left, int k_left,
                              float* chunk) {
    if (vectors) {
      CopyBy<kVector>(from, ld, mn_left, k_left, chunk);
    } else {
      CopyBy<1>(from, ld, mn_left, k_left, chunk);
    }
  }

 private:
  template <int kWidth>
  __device__ static void CopyBy(const float* from, int64_t ld, int mn_left, int k_left,
                                float* chunk) {
    // A row of the chunk in pieces of at most a warp's copies.
    constexpr int kCols = kKMajor ? kExtentK : kMn;
    constexpr int kRows = kKMajor ? kMn : kExtentK;
    constexpr int kInRow = kCols / kWidth < kWarpSize ? kCols / kWidth : kWarpSize;
    constexpr int kPieces = kCols / kWidth / kInRow;
    constexpr int kRowsAtOnce = kThreads / kInRow;
    static_assert(kThreads % kInRow == 0 && kRows % kRowsAtOnce == 0, "whole rows at once");
    const int first_row = static_cast<int>(threadIdx.x) / kInRow;
    const int first_col = static_cast<int>(threadIdx.x) % kInRow * kWidth;
    const int k_filled = (k_left + kVector - 1) / kVector * kVector;
    const int rows_filled = kKMajor ? kMn : k_filled;
    const int cols_filled = kKMajor ? k_filled : kMn;
    const int rows_left = kKMajor ? mn_left : k_left;
    const int cols_left = kKMajor ? k_left : mn_left;
    from += first_row * ld + first_col;
    float* to = chunk + first_row * kPitch + first_col;
#pragma unroll
    for (int r = 0; r < kRows; r += kRowsAtOnce) {
#pragma unroll
      for (int piece = 0; piece < kPieces; ++piece) {
        const int row = r + first_row;
        const int col = piece * kInRow * kWidth + first_col;
        if (row < rows_filled && col < cols_filled) {
          CopyBrief<kWidth>(row < rows_left && col < cols_left, to + piece * kInRow * kWidth,
                            from + piece * kInRow * kWidth);
        }
      }
      from += kRowsAtOnce * ld;
      to += kRowsAtOnce * kPitch;
    }
  }
};

// Returns which of a tile's rows, or columns, is number j of the lane's, which is one of kLanes.
template <bool kKMajor, int kOfLane, int kLanes>
__device__ inline int BriefElement(int lane, int j) {
  if (kKMajor) return lane + kLanes * j;
  constexpr int kTogether = kOfLane < kVector ? kOfLane : kVector;
  return lane * kTogether + j % kTogether + j / kTogether * (kLanes * kTogether);
}

// Loads a lane's kOfLane elements of each of the four k from `k` on.
template <bool kKMajor, int kOfLane, int kLanes, int kPitch>
__device__ inline void LoadBrief(const float* chunk, int lane, int k,
                                 float (&values)[kVector][kOfLane]) {
  if constexpr (kKMajor) {
#pragma unroll
    for (int j = 0; j < kOfLane; ++j) {
      float four[kVector];
      LoadFour(chunk + (lane + kLanes * j) * kPitch + k, four);
#pragma unroll
      for (int i = 0; i < kVector; ++i) values[i][j] = four[i];
    }
  } else {
    constexpr int kTogether = kOfLane < kVector ? kOfLane : kVector;
    static_assert(kTogether == 2 || kTogether == kVector, "a lane has pairs, or vectors");
#pragma unroll
    for (int i = 0; i < kVector; ++i) {
      const float* const row = chunk + (k + i) * kPitch + lane * kTogether;
#pragma unroll
      for (int j = 0; j < kOfLane; j += kTogether) {
        if constexpr (kTogether == kVector) {
          LoadFour(row + j * kLanes, &values[i][j]);
        } else {
          const float2 two = *reinterpret_cast<const float2*>(row + j * kLanes);
          values[i][j] = two.x;
          values[i][j + 1] = two.y;
        }
      }
    }
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_BRIEF_TILE_H_
