// The kernel of tensor cores for operands of any alignment: mma.sync, tiles that travel through
// registers, and a k extent that the blocks of a cluster may divide.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_GENERAL_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_GENERAL_H_

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "matmul/device/cluster.h"
#include "matmul/device/mma/mma_sm80.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/tensor/chunk.h"
#include "matmul/device/tensor/general_operand.h"
#include "matmul/device/tensor/sums.h"

namespace stridewise {

struct GeneralGemm {
  GeneralOperand a, b;
  int64_t k;
  int64_t batch;
  int split;      // Blocks of a cluster.
  int out_bytes;  // Of an element of C: 4, or 2 for the type of the operands.
  TensorOutput c;
};

constexpr int kGeneralK = 64;

template <typename ElementType, int kRows, int kCols, int kWarpRows, int kWarpCols>
struct GeneralTile {
  using Element = ElementType;
  static constexpr int kBlockM = kRows;
  static constexpr int kBlockN = kCols;
  static constexpr int kWarpsN = kCols / kWarpCols;
  static constexpr int kThreads = kRows / kWarpRows * kWarpsN * 32;
  static constexpr int kWarpM = kWarpRows;
  static constexpr int kWarpN = kWarpCols;
  using Sums = TileSums<kBlockM, kBlockN>;
  static constexpr int kStageBytes = (kRows + kCols) * (kGeneralK + kChunk) * 2;
  static constexpr int kSharedBytes =
      2 * kStageBytes > Sums::kBytes ? 2 * kStageBytes : Sums::kBytes;
};

// A block's copies of an operand's tiles of kMn by 64 of k: chunks of eight elements along the
// direction in which they are stored, kChunks for each thread.
template <int kMn, int kThreads>
class GeneralCopy {
 public:
  static constexpr int kChunks = kMn * kGeneralK / kChunk / kThreads;
  // K-major rows have 144 bytes and others 16 more than a multiple of 128, so that the eight rows
  // of a matrix of ldmatrix lie in different banks.
  static constexpr int kPitchK = (kGeneralK + kChunk) * 2;
  static constexpr int kPitchMn = (kMn + kChunk) * 2;
  // From a thread's chunk to its next one.
  static constexpr int kChunkStepMn = kThreads / (kGeneralK / kChunk);
  static constexpr int kChunkStepK = kThreads / (kMn / kChunk);

  // Of the tile that begins at (mn, k), of an operand whose k extent is `depth`.
  __device__ GeneralCopy(const GeneralOperand& from, int64_t batch, int64_t mn, int64_t k,
                         int64_t depth)
      : k_major_(from.k_major), depth_left_(depth - k - KOf(threadIdx.x)) {
    const uint16_t* const matrix = from.data + batch * from.stride;
    const int64_t own_mn = mn + MnOf(threadIdx.x);
    const int64_t own_k = k + KOf(threadIdx.x);
    constexpr int64_t kMost = 1 << 30;
    mn_left_ = static_cast<int>(from.mn - own_mn < kMost ? from.mn - own_mn : kMost);
    from_ = matrix + (k_major_ ? own_mn * from.ld + own_k : own_k * from.ld + own_mn);
    chunk_step_ = from.ld * (k_major_ ? kChunkStepMn : kChunkStepK);
    k_step_ = k_major_ ? kGeneralK : from.ld * kGeneralK;
    end_ = reinterpret_cast<uintptr_t>(
        matrix + (k_major_ ? (from.mn - 1) * from.ld + depth : (depth - 1) * from.ld + from.mn));
  }

  // Loads the thread's chunks of the tile, and goes on to the next one along k.
  __device__ void Load() {
#pragma unroll
    for (int i = 0; i < kChunks; ++i) {
      const bool inside = k_major_ ? i * kChunkStepMn < mn_left_ : i * kChunkStepK < depth_left_;
      const int64_t left = k_major_ ? depth_left_ : mn_left_;
      chunks_[i].Load(from_ + i * chunk_step_, inside ? left : 0, end_);
    }
#pragma unroll
    for (int i = 0; i < kChunks; ++i) chunks_[i].LoadTail(from_ + i * chunk_step_);
    from_ += k_step_;
    depth_left_ -= kGeneralK;
  }

  // Stores them to the tile in shared memory.
  __device__ void Store(uint32_t tile) const {
#pragma unroll
    for (int i = 0; i < kChunks; ++i) {
      const int number = i * kThreads + static_cast<int>(threadIdx.x);
      const uint4 value = chunks_[i].Elements();
      const uint32_t to = tile + (k_major_ ? MnOf(number) * kPitchK + KOf(number) * 2
                                           : KOf(number) * kPitchMn + MnOf(number) * 2);
      asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(value.x), "r"(value.y),
                   "r"(value.z), "r"(value.w)
                   : "memory");
    }
  }

 private:
  __device__ int MnOf(unsigned number) const {
    return static_cast<int>(k_major_ ? number / (kGeneralK / kChunk)
                                     : number % (kMn / kChunk) * kChunk);
  }
  __device__ int KOf(unsigned number) const {
    return static_cast<int>(k_major_ ? number % (kGeneralK / kChunk) * kChunk
                                     : number / (kMn / kChunk));
  }

  bool k_major_;
  int mn_left_;         // Elements along m or n from the thread's first one to the end.
  int64_t depth_left_;  // The same along k.
  const uint16_t* from_;
  int64_t chunk_step_, k_step_;
  uintptr_t end_;
  Chunk chunks_[kChunks];
};

// Loads four 8x8 matrices as LoadMatrices() does, or their transposes.
__device__ inline void LoadMatricesAs(bool transposed, uint32_t row, uint32_t (&to)[4]) {
  asm volatile(
      "{\n"
      ".reg .pred transposed;\n"
      "setp.ne.b32 transposed, %5, 0;\n"
      "@!transposed ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
      "@transposed ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
      "}\n"
      : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
      : "r"(row), "r"(static_cast<int>(transposed)));
}

// Where a lane's row of the matrices of 16 of m or n by 16 of k lies in a tile, and how far the
// next ones lie. With `pairs_along_k` the first two of four matrices follow each other along k, as
// those of B do, else along m.
struct MatrixAddress {
  uint32_t first;
  uint32_t step_mn, step_k;
  bool transposed;

  template <typename Copy>
  __device__ static MatrixAddress Of(bool k_major, bool pairs_along_k, int first_mn) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int first_pair = lane / 8 % 2 * 8;
    const int second_pair = lane / 16 * 8;
    const int row = lane % 8;
    int mn = first_mn + (pairs_along_k ? second_pair : first_pair);
    int k = pairs_along_k ? first_pair : second_pair;
    if (k_major) {
      return {static_cast<uint32_t>((mn + row) * Copy::kPitchK + k * 2), 16 * Copy::kPitchK, 32,
              false};
    }
    return {static_cast<uint32_t>((k + row) * Copy::kPitchMn + mn * 2), 32, 16 * Copy::kPitchMn,
            true};
  }
};

template <typename Tile>
__global__ void __launch_bounds__(Tile::kThreads, 2)
    TensorGeneral(const __grid_constant__ GeneralGemm gemm) {
#if __CUDA_ARCH__ >= 800
  using Element = typename Tile::Element;
  using CopyA = GeneralCopy<Tile::kBlockM, Tile::kThreads>;
  using CopyB = GeneralCopy<Tile::kBlockN, Tile::kThreads>;
  constexpr int kTilesM = Tile::kWarpM / 16;
  constexpr int kTilesN = Tile::kWarpN / 8;
  extern __shared__ uint4 shared[];
  const uint32_t stages = SharedAddress(shared);
  const typename Tile::Sums sums = {reinterpret_cast<float*>(shared)};
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp_row = warp / Tile::kWarpsN * Tile::kWarpM;
  const int warp_col = warp % Tile::kWarpsN * Tile::kWarpN;
  const auto rows_a = MatrixAddress::Of<CopyA>(gemm.a.k_major, false, warp_row);
  const auto rows_b = MatrixAddress::Of<CopyB>(gemm.b.k_major, true, warp_col);
  constexpr uint32_t kOffsetB = Tile::kBlockM * (kGeneralK + kChunk) * 2;

  const int rank = static_cast<int>(blockIdx.x) % gemm.split;
  const int64_t tile_rows = (gemm.a.mn + Tile::kBlockM - 1) / Tile::kBlockM;
  const int64_t tile_cols = (gemm.b.mn + Tile::kBlockN - 1) / Tile::kBlockN;
  const int64_t tiles = tile_rows * tile_cols * gemm.batch;
  const int64_t steps = (gemm.k + kGeneralK - 1) / kGeneralK;
  const int64_t begin = rank * steps / gemm.split * kGeneralK;
  const int64_t end = (rank + 1) * steps / gemm.split * kGeneralK;
#pragma unroll 1
  for (int64_t tile = blockIdx.x / gemm.split; tile < tiles; tile += gridDim.x / gemm.split) {
    const int64_t batch = tile / (tile_rows * tile_cols);
    const int64_t in_product = tile - batch * tile_rows * tile_cols;
    const int64_t row = in_product % tile_rows * Tile::kBlockM;
    const int64_t col = in_product / tile_rows * Tile::kBlockN;
    float d[kTilesM][kTilesN][4] = {};
    CopyA a(gemm.a, batch, row, begin, gemm.k);
    CopyB b(gemm.b, batch, col, begin, gemm.k);
    if (begin < end) {
      a.Load();
      b.Load();
    }
    uint32_t stage = stages;
#pragma unroll 1
    for (int64_t k = begin; k < end; k += kGeneralK) {
      a.Store(stage);
      b.Store(stage + kOffsetB);
      __syncthreads();  // The other stage has been read before, too.
      if (k + kGeneralK < end) {
        a.Load();
        b.Load();
      }
#pragma unroll
      for (int i = 0; i < kGeneralK / 16; ++i) {
        uint32_t of_a[kTilesM][4];
        uint32_t of_b[kTilesN / 2][4];
#pragma unroll
        for (int j = 0; j < kTilesM; ++j) {
          LoadMatricesAs(rows_a.transposed,
                         stage + rows_a.first + i * rows_a.step_k + j * rows_a.step_mn, of_a[j]);
        }
#pragma unroll
        for (int j = 0; j < kTilesN / 2; ++j) {
          LoadMatricesAs(rows_b.transposed,
                         stage + kOffsetB + rows_b.first + i * rows_b.step_k + j * rows_b.step_mn,
                         of_b[j]);
        }
#pragma unroll
        for (int j = 0; j < kTilesM; ++j) {
#pragma unroll
          for (int l = 0; l < kTilesN; ++l) {
            const uint32_t pair[2] = {of_b[l / 2][l % 2 * 2], of_b[l / 2][l % 2 * 2 + 1]};
            MultiplyAdd(of_a[j], pair, d[j][l], Element());
          }
        }
      }
      stage = stage == stages ? stages + Tile::kStageBytes : stages;
    }
    __syncthreads();  // The sums lie where stages did.
#pragma unroll
    for (int j = 0; j < kTilesM; ++j) {
#pragma unroll
      for (int l = 0; l < kTilesN; ++l) {
        sums.Keep(warp_row + j * 16 + lane / 4, warp_col + l * 8 + lane % 4 * 2, d[j][l]);
      }
    }
    if (gemm.split > 1) {
      SyncCluster();
    } else {
      __syncthreads();
    }
    if (gemm.out_bytes == 4) {
      StoreTileSums<float, Tile::kThreads>(sums, rank, gemm.split, gemm.c, row, col, batch);
    } else {
      StoreTileSums<Element, Tile::kThreads>(sums, rank, gemm.split, gemm.c, row, col, batch);
    }
    if (gemm.split > 1) {
      SyncCluster();  // No block overwrites or leaves sums that another one reads.
    } else {
      __syncthreads();
    }
  }
#endif
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_GENERAL_H_
