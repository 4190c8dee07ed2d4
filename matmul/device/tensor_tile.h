// The tile of C that a block computes with wgmma: shapes, shared memory, loads and multiplications.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_TILE_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_TILE_H_

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>
#include <type_traits>

#include "matmul/device/cluster.h"
#include "matmul/device/mma/wgmma_sm90.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/ptx_sm90_cluster.h"

namespace stridewise {

// Two consumer warpgroups of 64 rows each, and one whose first thread loads.
constexpr int kWarpgroupThreads = 128;
constexpr int kConsumers = 2;
constexpr int kTensorThreads = (kConsumers + 1) * kWarpgroupThreads;
constexpr int kMmaRows = 64;

// Where sums are kept: by the tensor cores in their own precision; the same, but added up in FP32
// by the CUDA cores (tensor_accumulation.h); or in FP16.
enum class TensorSums { kTensorCores, kPromoted, kFp16 };

// kBlockN columns, kStages stages of 64 of k, clusters of kCluster blocks that lie below each other
// and share B's tile.
template <typename ElementType, typename OutType, int kColumns, int kPipelineStages,
          int kClusterBlocks, OperandLayout kMajorOfA, OperandLayout kMajorOfB,
          TensorSums kSumsIn = TensorSums::kTensorCores, bool kIsTurned = false,
          int kWarpgroups = kConsumers, int kPartsOfConsumer = 1, bool kAlternating = false>
struct TensorTile {
  using Element = ElementType;
  using Out = OutType;
  using Accumulator = AccumulatorOf<Element>;
  static constexpr OperandLayout kMajorA = kMajorOfA;
  static constexpr OperandLayout kMajorB = kMajorOfB;
  static constexpr int kConsumerGroups = kWarpgroups;  // Consumers.
  static constexpr int kThreads = (kWarpgroups + 1) * kWarpgroupThreads;
  // The consumers have a tile each, and multiply in turn (tensor_alternate.h).
  static constexpr bool kAlternates = kAlternating;
  // Times 64 rows, of a consumer's: more than one only where it has all of a tile.
  static constexpr int kParts = kPartsOfConsumer;
  static constexpr int kBlockM = (kAlternates ? 1 : kWarpgroups) * kParts * kMmaRows;
  static constexpr int kBlockN = kColumns;
  static constexpr int kStages = kPipelineStages;
  static constexpr int kCluster = kClusterBlocks;
  static constexpr TensorSums kSums = kSumsIn;
  // The tile is one of C transposed (tensor_turned.h).
  static constexpr bool kTurned = kIsTurned;
  // A goes through registers (tensor_registers.h): its rows are exchanged, and C may be transposed.
  static constexpr bool kAInRegisters =
      std::is_same_v<Element, float> && kMajorA == OperandLayout::kMnMajor;
  using Mma =
      std::conditional_t<kSums == TensorSums::kFp16, WgmmaFp16Sums<kColumns, kMajorOfA, kMajorOfB>,
                         Wgmma<Element, kColumns, kMajorOfA, kMajorOfB>>;

  // A swizzled row of shared memory holds 128 bytes: of k, or of m or n.
  static constexpr int kRowElements = kSwizzleBytes / static_cast<int>(sizeof(Element));
  static constexpr int kBlockK = kRowElements;
  static constexpr int kMmaK = 32 / static_cast<int>(sizeof(Element));

  static constexpr int kBytesA = kBlockM * kSwizzleBytes;
  static constexpr int kBytesB = kBlockN * kSwizzleBytes;
  static constexpr int kStageBytes = kBytesA + kBytesB;
  static constexpr int kPanelBytes = kBlockK * kSwizzleBytes;  // Of an MN-major operand.

  // Rows of the boxes that the TMA loads of operands as they are stored. Of B each block of a
  // cluster loads a part.
  static constexpr int kBoxRowsA = kMajorA == OperandLayout::kKMajor ? kBlockM : kBlockK;
  static constexpr int kBoxRowsB = kMajorB == OperandLayout::kKMajor ? kBlockN / kCluster : kBlockK;

  // Beside 192 accumulators there are too few registers for other stores than by the TMA.
  static constexpr bool kStoresByTma = kParts * kBlockN > 256;

  // A consumer stages 64 rows of 128 bytes of C at a time, two in turn, or its whole tile turned.
  static constexpr int kOutElements = kSwizzleBytes / static_cast<int>(sizeof(Out));
  static constexpr int kOutRows = kTurned ? kBlockN : kMmaRows;
  static constexpr int kOutBytes = kOutRows * kSwizzleBytes;
  static constexpr int kOutBuffers = kTurned ? 1 : 2;

  static constexpr int kOutOffset = kStages * kStageBytes;
  static constexpr int kBarrierOffset = kOutOffset + kWarpgroups * kOutBuffers * kOutBytes;
  // The first stage must lie at a multiple of 1024.
  static constexpr int kSharedBytes =
      kBarrierOffset +
      (2 * kStages + kWarpgroups * kOutBuffers) * static_cast<int>(sizeof(Mbarrier)) + 1024;

  static_assert(kBlockN % (kTurned ? 16 : 64) == 0 && kBlockN <= 256, "columns of an instruction");
  static_assert(kBlockN % 64 == 0 || kMajorB == OperandLayout::kKMajor, "a panel has 64 columns");
  static_assert(!kTurned || (sizeof(Element) <= 2 && sizeof(Out) == 2));
  static_assert(kCluster == 1 || kMajorB == OperandLayout::kKMajor ||
                    (kBlockN / 64) % kCluster == 0,
                "each block loads panels of B");
  static_assert(kAlternates ? kConsumerGroups == kConsumers && !kTurned && !kAInRegisters
                            : kParts == 1);
  static_assert(kSharedBytes <= 227 * 1024, "more shared memory than there is");
};

// The last tiles of a product, whose steps along k are divided among the clusters
// (tensor_pieces.h), and where the sums of their beginnings wait (tensor_left_sums.h).
struct TensorDivision {
  int first_tile;
  float4* sums;
  unsigned long long* marks;
};

// What a kernel needs to know of the product beside the tensor maps.
struct TensorGemm {
  int m, n, k;
  int batch;
  int a_moves, b_moves;  // 0: all products of the batch use the same operand, else 1.
  float alpha, beta;
  int whole_alpha, whole_beta;  // The same for integers.
  void* c;
  int64_t ldc;
  int64_t stride_c;
  bool store_by_tma;  // beta is 0 and the TMA can address C.
  bool add_by_tma;    // It can, beta is not 0, and the kernel loads C by it (tensor_add.h).
  TensorScales scales;
  bool c_transposed;  // m and n are those of the transpose of C (tensor_registers.h).
  int band;           // Rows of clusters that are computed before the next column.
  TensorDivision division;
};

// The clusters' tiles in the order in which they are computed: in bands of gemm.band rows, so that
// clusters that run at the same time read few different rows of A and columns of B.
template <typename Tile>
class TensorTileOrder {
 public:
  struct Coord {
    int row, col, batch;
  };

  __device__ explicit TensorTileOrder(const TensorGemm& gemm)
      : rows_((gemm.m + Tile::kBlockM * Tile::kCluster - 1) / (Tile::kBlockM * Tile::kCluster)),
        cols_((gemm.n + Tile::kBlockN - 1) / Tile::kBlockN),
        band_(gemm.band),
        tiles_(rows_ * cols_ * gemm.batch) {}

  __device__ int tiles() const { return tiles_; }

  // Returns the first row and column of the cluster's tile.
  __device__ Coord At(int tile) const {
    const int batch = tile / (rows_ * cols_);
    const int in_product = tile - batch * rows_ * cols_;
    const int band_tiles = band_ * cols_;
    const int band = in_product / band_tiles;
    const int left = rows_ - band * band_;
    const int height = left < band_ ? left : band_;
    const int in_band = in_product - band * band_tiles;
    return {(band * band_ + in_band % height) * Tile::kBlockM * Tile::kCluster,
            in_band / height * Tile::kBlockN, batch};
  }

 private:
  int rows_, cols_, band_, tiles_;
};

// The block's shared memory.
template <typename Tile>
class TensorShared {
 public:
  __device__ explicit TensorShared(char* shared)
      : base_(shared + (1024 - SharedAddress(shared) % 1024) % 1024) {}

  // Returns what another tile's view of the same memory is made of.
  __device__ char* Base() const { return base_; }

  __device__ uint32_t A(int stage) const { return Address() + stage * Tile::kStageBytes; }
  __device__ uint32_t B(int stage) const { return A(stage) + Tile::kBytesA; }
  __device__ Mbarrier& Full(int stage) const { return Barriers()[stage]; }
  __device__ Mbarrier& Empty(int stage) const { return Barriers()[Tile::kStages + stage]; }
  // Of the copy of C's old values to Out(consumer, buffer).
  __device__ Mbarrier& Old(int consumer, int buffer) const {
    return Barriers()[2 * Tile::kStages + consumer * Tile::kOutBuffers + buffer];
  }
  // Of the consumer's turn to multiply, where it alternates with the other one: nothing is added
  // then.
  __device__ Mbarrier& Turn(int consumer) const { return Old(consumer, 0); }
  __device__ char* Out(int consumer, int buffer) const {
    return base_ + Tile::kOutOffset + (consumer * Tile::kOutBuffers + buffer) * Tile::kOutBytes;
  }

 private:
  __device__ uint32_t Address() const { return SharedAddress(base_); }
  __device__ Mbarrier* Barriers() const {
    return reinterpret_cast<Mbarrier*>(base_ + Tile::kBarrierOffset);
  }

  char* base_;
};

// Starts the copies of one stage. Of B each block of the cluster loads its part for all of them or,
// where kAlone, all of it for itself.
template <typename Tile, bool kAlone = false>
__device__ inline void LoadStage(const CUtensorMap& a, const CUtensorMap& b, const TensorGemm& gemm,
                                 const TensorShared<Tile>& shared, int stage, int row, int col,
                                 int k, int batch, uint32_t rank) {
  constexpr int kRow = Tile::kRowElements;
  Mbarrier& full = shared.Full(stage);
  const uint32_t to_a = shared.A(stage);
  const int za = batch * gemm.a_moves;
  if constexpr (Tile::kMajorA == OperandLayout::kKMajor) {
    CopyBox(a, k, row, za, to_a, full);
  } else {
#pragma unroll
    for (int i = 0; i < Tile::kBlockM / kRow; ++i) {
      CopyBox(a, row + i * kRow, k, za, to_a + i * Tile::kPanelBytes, full);
    }
  }
  const uint32_t to_b = shared.B(stage);
  const int zb = batch * gemm.b_moves;
  constexpr uint16_t kAll = (1 << Tile::kCluster) - 1;
  constexpr int kShare = Tile::kBlockN / Tile::kCluster;
  const auto copy = [&](int x, int y, uint32_t to) {
    if constexpr (Tile::kCluster == 1 || kAlone) {
      CopyBox(b, x, y, zb, to, full);
    } else {
      CopyBoxTo(kAll, b, x, y, zb, to, full);
    }
  };
#pragma unroll
  for (int part = 0; part < (kAlone ? Tile::kCluster : 1); ++part) {
    const int first = (kAlone ? part : static_cast<int>(rank)) * kShare;
    if constexpr (Tile::kMajorB == OperandLayout::kKMajor) {
      copy(k, col + first, to_b + first * kSwizzleBytes);
    } else {
#pragma unroll
      for (int i = 0; i < kShare; i += kRow) {
        copy(col + first + i, k, to_b + (first + i) / kRow * Tile::kPanelBytes);
      }
    }
  }
}

// Multiplies 64 rows of one stage, of which `part` is the number, into accumulators.
template <typename Tile, typename Register, int kRegisters>
__device__ inline void MultiplyStage(const TensorShared<Tile>& shared, int stage, int part,
                                     bool accumulate, Register (&d)[kRegisters]) {
  using Element = typename Tile::Element;
  // 64 rows of A are 64 swizzled rows where it is K-major, and a panel where it is M-major.
  const uint64_t a = TileDescriptor<Tile::kMajorA>(
      shared.A(stage) + part * kMmaRows * kSwizzleBytes, Tile::kPanelBytes);
  const uint64_t b = TileDescriptor<Tile::kMajorB>(shared.B(stage), Tile::kPanelBytes);
#pragma unroll
  for (int i = 0; i < Tile::kBlockK / Tile::kMmaK; ++i) {
    Tile::Mma::Multiply(a + i * DescriptorStep<Tile::kMajorA, Element>(),
                        b + i * DescriptorStep<Tile::kMajorB, Element>(), i > 0 || accumulate, d);
  }
}

// Tells each block of the cluster that a warp has read a stage; called by all of its lanes.
template <typename Tile>
__device__ inline void ReleaseStage(const TensorShared<Tile>& shared, int stage, int lane) {
  if constexpr (Tile::kCluster == 1) {
    if (lane == 0) shared.Empty(stage).Arrive();
  } else {
    if (lane < Tile::kCluster) ArriveAt(shared.Empty(stage), lane);
  }
}

// Returns the first of a thread's two rows of its consumer's 64. The other lies eight below or,
// where A is in registers, four: there the rows of a warp are those that it loads from different
// banks.
template <typename Tile>
__device__ inline int TensorRow(int thread) {
  const int warp = thread / 32;
  const int row = thread % 32 / 4;
  if (!Tile::kAInRegisters) return warp * 16 + row;
  return warp / 2 * 32 + row / 4 * 16 + warp % 2 * 8 + row % 4;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_TILE_H_
