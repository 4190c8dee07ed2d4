// The kernel of tensor cores for products with up to 64 rows or columns, as in decoding: the time
// is that in which the large operand arrives.
//
// The few are the 64 rows of an instruction, and the large operand's rows are its columns: a tile
// may have any multiple of 8 of them, so that the tiles, or clusters that divide a tile's k extent,
// can be nearly as many as the device runs at once. With 128 of them on the other side, as
// TensorSplit has them, 32 tiles of 4096 in two parts leave half of the multiprocessors idle, and
// in four parts do not all fit, since only 30 clusters of four do.
//
// Only as many of the few are loaded as there are. The instruction reads 64 all the same: what
// follows them where they lie along k, the large operand's part of the stage, makes sums that
// nobody stores, and so do the others where they do not, which are the first ones once more.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_DECODE_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_DECODE_H_

#include <cuda.h>

#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/cluster.h"
#include "matmul/device/mma/wgmma_sm90.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/ptx_sm90_cluster.h"
#include "matmul/device/tensor/decode_direct.h"
#include "matmul/device/tensor/decode_plan.h"
#include "matmul/device/tensor/decode_sums.h"
#include "matmul/device/tensor/stage_ring.h"

namespace stridewise {

// One warpgroup multiplies and one warp loads; the others only help to add and store sums.
constexpr int kDecodeConsumers = 128;
constexpr int kDecodeThreads = 256;

template <typename ElementType, int kColumns, OperandLayout kMajorOfFew, OperandLayout kMajorOfMany>
struct TensorDecodeTile {
  using Element = ElementType;
  static constexpr OperandLayout kMajorFew = kMajorOfFew;
  static constexpr OperandLayout kMajorMany = kMajorOfMany;
  static constexpr int kMany = kColumns;
  static constexpr int kBlockK = kSwizzleBytes / static_cast<int>(sizeof(Element));
  static constexpr int kMmaK = 32 / static_cast<int>(sizeof(Element));

  static constexpr int kPanelBytes = kBlockK * kSwizzleBytes;  // 64 of an MN-major operand.
  static_assert(kMajorMany == OperandLayout::kKMajor || kMany == 64, "one panel");
  static_assert(kMany + kDecodeFewStep >= kDecodeFew, "64 rows lie within a stage");
  static_assert(sizeof(Element) == 2 ||
                (kMajorFew == OperandLayout::kKMajor && kMajorMany == OperandLayout::kKMajor));

  // Rows of the boxes that the TMA loads of the large operand as it is stored.
  static constexpr int kBoxRowsMany = kMajorMany == OperandLayout::kKMajor ? kMany : kBlockK;

  using Sums = DecodeSums<kDecodeFew, kMany>;

  static constexpr int SharedBytes(int of_stages) {
    return kBytesBesideStages + (of_stages > Sums::kBytes ? of_stages : Sums::kBytes);
  }
};

// Describes the few's part of a stage where they do not lie along k: lines of `few_rows` elements.
// Lines of 16 to 64 elements have the TMA's swizzle of 32 to 128 bytes, and lines of 8 lie as in
// memory. The panels of the instruction's 64 rows are one and the same.
__device__ inline uint64_t FewDescriptor(uint32_t address, int few_rows) {
  if (few_rows == kDecodeFewStep) {
    return uint64_t{kSwizzleRows * 16 >> 4} << 16 | (address & 0x3ffff) >> 4;
  }
  const uint64_t swizzle = few_rows == 16 ? 3 : few_rows == 32 ? 2 : 1;
  const auto group_bytes = static_cast<uint64_t>(few_rows) * 2 * kSwizzleRows;
  return swizzle << 62 | (group_bytes >> 4) << 32 | (address & 0x3ffff) >> 4;
}

// What the kernel needs to know of the product beside the tensor maps.
struct TensorDecodeGemm {
  int few, many, k;
  int few_rows;  // Of the few's part of a stage.
  int split;     // Blocks of a cluster.
  int stages;
  int tiles_in_step;          // Tiles whose blocks begin at the same step; 0: all.
  int few_moves, many_moves;  // 0: all products of the batch use the same operand, else 1.
  int out_bytes;              // Of an element of C: 4, or 2 for the type of the operands.
  TensorOutput c;             // `transposed`: the few are columns of C.
  bool direct;                // C is stored as decode_direct.h does it.
  const void* many_data;
  int64_t many_ld, many_stride;
};

// Asks the L2 for the first two steps' lines of the large operand, by all threads but the one that
// loads: they are on their way while that one still waits for the tensor maps, and a product of 33
// us takes half a microsecond less.
template <typename Tile>
__device__ inline void PrefetchDecodeLines(const TensorDecodeGemm& gemm, int first, int k,
                                           int batch) {
  constexpr int kSteps = 2;
  constexpr bool kAlongK = Tile::kMajorMany == OperandLayout::kKMajor;
  constexpr int kLines = kAlongK ? Tile::kMany : kSteps * Tile::kBlockK;
  constexpr int kVectors = kAlongK ? kSteps : 1;  // Of 128 bytes, of a line.
  const int lines = kAlongK ? gemm.many - first : gemm.k - k;
  [[maybe_unused]] const auto* const from =
      static_cast<const typename Tile::Element*>(gemm.many_data) + batch * gemm.many_stride +
      (kAlongK ? first * gemm.many_ld + k : k * gemm.many_ld + first);
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < kLines * kVectors; i += kDecodeThreads) {
    const int line = i / kVectors;
    const int step = i % kVectors * Tile::kBlockK;
    if (line >= lines || (kAlongK && k + step >= gemm.k)) continue;
#ifndef STRIDEWISE_HOST_EXECUTOR  // It has no caches to fill.
    asm volatile("prefetch.global.L2 [%0];" ::"l"(from + line * gemm.many_ld + step));
#endif
  }
}

// Starts the copies of one stage.
template <typename Tile>
__device__ inline void LoadDecodeStage(const CUtensorMap& few, const CUtensorMap& many, uint32_t to,
                                       uint32_t to_many, int first, int k, int z_few, int z_many,
                                       int few_rows, Mbarrier& full) {
  if constexpr (Tile::kMajorMany == OperandLayout::kKMajor) {
    CopyBox(many, k, first, z_many, to_many, full);
  } else {
    CopyBox(many, first, k, z_many, to_many, full);
  }
  if constexpr (Tile::kMajorFew == OperandLayout::kKMajor) {
    CopyBox(few, k, 0, z_few, to, full);
  } else if (few_rows == kDecodeFewStep) {
    CopyBox(few, 0, k / kSwizzleRows, z_few, to, full);  // As lines of 64: eight of k in each.
  } else {
    CopyBox(few, 0, k, z_few, to, full);
  }
}

template <typename Tile>
__global__ void __launch_bounds__(kDecodeThreads, 1)
    TensorDecode(const __grid_constant__ CUtensorMap few, const __grid_constant__ CUtensorMap many,
                 const __grid_constant__ TensorDecodeGemm gemm) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using Element = typename Tile::Element;
  extern __shared__ char raw[];
  const int few_bytes = gemm.few_rows * kSwizzleBytes;
  const StageRing<kDecodeMaxStages> ring(raw, few_bytes + Tile::kMany * kSwizzleBytes);
  const typename Tile::Sums sums = {reinterpret_cast<float*>(ring.stages)};
  const auto* const sent =
      reinterpret_cast<const float*>(ring.stages + gemm.stages * ring.stage_bytes);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int rank = static_cast<int>(blockIdx.x) % gemm.split;
  const int tile = static_cast<int>(blockIdx.x) / gemm.split;
  const int tiles = (gemm.many + Tile::kMany - 1) / Tile::kMany;
  const int batch = tile / tiles;
  const int first_of_many = (tile - batch * tiles) * Tile::kMany;
  const StepRange steps = StepsOfBlock<Tile::kBlockK>(gemm.k, rank, gemm.split);
  const int count = steps.last - steps.first;
  constexpr int kPlaces = 8;  // Along k, where blocks begin.
  const int ahead =
      gemm.tiles_in_step > 0 ? tile / gemm.tiles_in_step * (count / kPlaces + 1) % count : 0;
  const auto load = [&](int step, uint32_t to, Mbarrier& full) {
    step += step + ahead < steps.last ? ahead : ahead - count;
    LoadDecodeStage<Tile>(few, many, to, to + few_bytes, first_of_many, step * Tile::kBlockK,
                          batch * gemm.few_moves, batch * gemm.many_moves, gemm.few_rows, full);
  };
  if (threadIdx.x == kDecodeConsumers) {
    PrefetchMap(many);
    PrefetchMap(few);
    ring.Init(gemm.stages, kDecodeConsumers / 32);
    WaitForPreviousKernel();  // Which may have made copies of operands.
    ring.FillFirst(steps, gemm.stages, load);
  } else {
    PrefetchDecodeLines<Tile>(gemm, first_of_many, (steps.first + ahead) * Tile::kBlockK,
                              batch * gemm.many_moves);
  }
  __syncthreads();
  const bool sends = gemm.direct && gemm.split == 2;
  if (sends) ArriveAtCluster</*kRelease=*/false>();  // The partner's memory is there.
  WaitForPreviousKernel();
  if (warp == kDecodeConsumers / 32) {
    if (lane == 0) ring.FillAgain(steps, gemm.stages, load);
    __syncwarp();
  } else if (warp < kDecodeConsumers / 32) {
    using Mma = Wgmma<Element, Tile::kMany, Tile::kMajorFew, Tile::kMajorMany>;
    float d[Tile::kMany / 2];
    ring.Drain(steps, gemm.stages, lane, [&](int step, uint32_t at) {
      constexpr bool kFewAlongK = Tile::kMajorFew == OperandLayout::kKMajor;
      const uint64_t of_few = kFewAlongK ? TileDescriptor<Tile::kMajorFew>(at, Tile::kPanelBytes)
                                         : FewDescriptor(at, gemm.few_rows);
      const uint64_t step_of_few =
          kFewAlongK ? DescriptorStep<Tile::kMajorFew, Element>()
                     : static_cast<uint64_t>(gemm.few_rows) * Tile::kMmaK * 2 >> 4;
      const uint64_t of_many = TileDescriptor<Tile::kMajorMany>(at + few_bytes, Tile::kPanelBytes);
      FenceWgmma();
#pragma unroll
      for (int i = 0; i < Tile::kBlockK / Tile::kMmaK; ++i) {
        Mma::Multiply(of_few + i * step_of_few,
                      of_many + i * DescriptorStep<Tile::kMajorMany, Element>(),
                      i > 0 || step > steps.first, d);
      }
    });
    if (gemm.direct) {
      const int row = warp * 16 + lane / 4;
      const int64_t col = first_of_many + lane % 4 * 2;
      const auto store = [&](const auto& of_thread, int64_t first_col) {
        if (warp * 16 >= gemm.few) return;
        if (gemm.out_bytes == 4) {
          StoreSumsDirectly<float>(gemm.c, of_thread, row, first_col, batch);
        } else {
          StoreSumsDirectly<Element>(gemm.c, of_thread, row, first_col, batch);
        }
      };
      if (sends) {
        float own[Tile::kMany / 4];
        WaitForCluster();
        if (warp * 16 < gemm.few) SendHalf(d, sent, rank, own);
        __syncwarp();
        SyncCluster();
        if (warp * 16 < gemm.few) AddSent(sent, own);
        store(own, col + rank * (Tile::kMany / 2));
      } else {
        store(d, col);
      }
      return;
    }
    SyncWarpgroup(1);  // Sums lie where stages did, which all four warps have read then.
    if (warp * 16 < gemm.few) {
      if (gemm.c.transposed) {
        sums.KeepTransposed(warp * 16 + lane / 4, lane % 4 * 2, d);
      } else {
        sums.Keep(warp * 16 + lane / 4, lane % 4 * 2, d);
      }
    }
  }
  if (gemm.direct) {
    if (sends) {
      WaitForCluster();
      SyncCluster();
    }
    return;
  }
  if (gemm.split > 1) {
    SyncCluster();
  } else {
    __syncthreads();
  }
  const int rows = static_cast<int>(gemm.c.transposed ? gemm.c.cols : gemm.c.rows);
  if (gemm.out_bytes == 4) {
    StoreDecodeSums<float, kDecodeThreads>(sums, rank, gemm.split, gemm.c, rows, 0, first_of_many,
                                           batch);
  } else {
    StoreDecodeSums<Element, kDecodeThreads>(sums, rank, gemm.split, gemm.c, rows, 0, first_of_many,
                                             batch);
  }
  // No block ends while another one reads its sums.
  if (gemm.split > 1) MeetCluster();
#endif
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_DECODE_H_
