// The shared memory of a policy's tile, which a GPU must have for a block. Host code, too: what a
// GPU cannot hold is not chosen there.

#ifndef STRIDEWISE_MATMUL_DEVICE_TILE_SHARED_MEMORY_H_
#define STRIDEWISE_MATMUL_DEVICE_TILE_SHARED_MEMORY_H_

namespace stridewise {

// The padding of rows of K-major operands, in floats: see PitchOf() of block_tile.h.
inline constexpr int kKMajorPad = 4;
// The rows of each warp's part that are staged on their way to C at a time.
inline constexpr int kStagedRows = 8;

constexpr int Larger(int a, int b) { return a > b ? a : b; }

// What a block of block_tile.h has in shared memory, in floats.
template <typename Policy>
struct TileSharedMemory {
  static constexpr int kWarps =
      Policy::kBlockM / Policy::kWarpM * (Policy::kBlockN / Policy::kWarpN);  // Of a slice.

  // A stage has room for both operands' tiles in either layout. B's lies behind A's.
  static constexpr int kOffsetOfB = Policy::kBlockK * (Policy::kBlockM + kKMajorPad);
  static constexpr int kStageFloats = kOffsetOfB + Policy::kBlockK * (Policy::kBlockN + kKMajorPad);

  // Eight rows of each warp's part are staged in shared memory on their way to C: see tile_store.h.
  static constexpr int kOutPitch = Policy::kWarpN + 8;
  static constexpr int kOutFloats = kWarps * kStagedRows * kOutPitch;
  // Slices exchange their accumulators there.
  static constexpr int kSliceFloats =
      Policy::kWarpsAlongK > 1 ? Policy::kWarpsAlongK* Policy::kBlockM* Policy::kBlockN : 0;

  static constexpr int kSharedFloats =
      Larger(Policy::kStages * kStageFloats, Larger(kOutFloats, kSliceFloats));
  static constexpr int kSharedBytes = kSharedFloats * static_cast<int>(sizeof(float));
};

// What a block of `thin` may have, whose copies are as many as an H200 has room for.
inline constexpr int kThinSharedBytes = 227 << 10;

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TILE_SHARED_MEMORY_H_
