// The kernel of tensor cores for small products with operands of any alignment: mma.sync, and
// elements that are loaded one by one.
//
// A small product waits for the instructions of its kernel, which come from a cold L2 as operands
// do, and then once or twice for memory. Neighbouring lanes load neighbouring elements, so that all
// alignments and both layouts have the same few instructions: a tile lies in shared memory as it
// does in memory, and ldmatrix turns it.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_SMALL_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_SMALL_H_

#include <cuda_runtime.h>

#include <cstdint>

#include "matmul/device/cluster.h"
#include "matmul/device/mma/mma_sm80.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/tensor/epilogue.h"
#include "matmul/device/tensor/general.h"
#include "matmul/device/tensor/general_operand.h"
#include "matmul/device/tensor/small_plan.h"

namespace stridewise {

constexpr int kSmallThreads = 256;
constexpr int kSmallWarpsN = 4;  // Beside each other, of two rows of warps.
constexpr int kSmallWarpM = 32;
constexpr int kSmallWarpN = 16;
static_assert(kSmallTile / kSmallWarpM * (kSmallTile / kSmallWarpN) * 32 == kSmallThreads);

struct SmallGemm {
  GeneralOperand a, b;
  int k;
  int steps, steps_of_part;  // Of kSmallK: of all of k, and of a block.
  int split, log_split;      // Blocks of a cluster, which divide k.
  TensorOutput c;
};

// Loads an element, or 0 where `left` is not above `line`: without a branch, so that loads are
// under way together.
__device__ inline uint32_t LoadElementIfAbove(int left, int line, const uint16_t* from) {
  uint32_t value;
  asm volatile(
      "{\n"
      ".reg .pred above;\n"
      "setp.gt.s32 above, %2, %3;\n"
      "mov.b32 %0, 0;\n"
      "@above ld.global.nc.u16 %0, [%1];\n"
      "}\n"
      : "=r"(value)
      : "l"(from), "r"(left), "r"(line));
  return value;
}

// A block's copies of an operand's tiles of 64 lines, of k or of m or n, with 64 elements each.
class SmallCopy {
 public:
  // Of a line in shared memory: the eight rows of a matrix of ldmatrix lie in different banks.
  static constexpr int kPitch = (kSmallTile + 8) * 2;
  static constexpr int kPitchK = kPitch;
  static constexpr int kPitchMn = kPitch;
  static constexpr int kTileBytes = kSmallTile * kPitch;

  // Of the tile that begins at (mn, k), of an operand whose k extent is `depth`.
  __device__ SmallCopy(const GeneralOperand& from, int64_t mn, int k, int depth) {
    const int along = static_cast<int>(threadIdx.x) % kSmallTile;
    const int line = static_cast<int>(threadIdx.x) / kSmallTile;
    const auto mn_left = static_cast<int>(min(from.mn - mn, int64_t{kSmallTile}));
    const int64_t first = int64_t{blockIdx.z} * from.stride;
    k_major_ = from.k_major;
    along_left_ = (k_major_ ? depth - k : mn_left) - along;
    lines_left_ = (k_major_ ? mn_left : depth - k) - line;
    line_step_ = from.ld * kLinesTogether;
    k_step_ = k_major_ ? kSmallK : from.ld * kSmallK;
    from_ = from.data + first + (k_major_ ? (mn + line) * from.ld + k : (k + line) * from.ld + mn) +
            along;
    to_ = line * kPitch + along * 2;
  }

  // Loads the thread's elements, 0 for those that lie outside, and goes on to the next tile along
  // k. No load waits for another one.
  __device__ void Load() {
    const int lines = along_left_ > 0 ? lines_left_ : 0;
    const uint16_t* at = from_;
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
      elements_[i] = LoadElementIfAbove(lines, i * kLinesTogether, at);
      at += line_step_;
    }
    from_ += k_step_;
    (k_major_ ? along_left_ : lines_left_) -= kSmallK;
  }

  // Stores them to the tile in shared memory.
  __device__ void Store(char* tile) const {
#pragma unroll
    for (int i = 0; i < kElements; ++i) {
      *reinterpret_cast<uint16_t*>(tile + to_ + i * kLinesTogether * kPitch) =
          static_cast<uint16_t>(elements_[i]);
    }
  }

 private:
  static constexpr int kLinesTogether = kSmallThreads / kSmallTile;
  static constexpr int kElements = kSmallTile / kLinesTogether;

  bool k_major_;
  int along_left_;  // Elements from the thread's first one to the end of its line.
  int lines_left_;  // Lines from there to the end.
  const uint16_t* from_;
  int64_t line_step_, k_step_;
  uint32_t to_;
  uint32_t elements_[kElements];
};

// A tile of sums, row by row.
constexpr int kSmallSumsPitch = kSmallTile + 8;
static_assert(kSmallTile * kSmallSumsPitch * static_cast<int>(sizeof(float)) ==
                  2 * SmallCopy::kTileBytes,
              "the sums lie where the tiles did");

// Adds to `d` the products of a warp's rows and columns of the tiles in shared memory.
template <typename Element>
__device__ inline void MultiplySmall(const MatrixAddress& of_a, uint32_t tile_a,
                                     const MatrixAddress& of_b, uint32_t tile_b,
                                     float (&d)[kSmallWarpM / kMmaM][kSmallWarpN / kMmaN][4]) {
#pragma unroll 1
  for (int i = 0; i < kSmallK / kMmaDepth; ++i) {
    uint32_t b[4];
    LoadMatricesAs(of_b.transposed, tile_b + of_b.first + i * of_b.step_k, b);
#pragma unroll
    for (int j = 0; j < kSmallWarpM / kMmaM; ++j) {
      uint32_t a[4];
      LoadMatricesAs(of_a.transposed, tile_a + of_a.first + i * of_a.step_k + j * of_a.step_mn, a);
#pragma unroll
      for (int l = 0; l < kSmallWarpN / kMmaN; ++l) {
        const uint32_t pair[2] = {b[2 * l], b[2 * l + 1]};
        MultiplyAdd(a, pair, d[j][l], Element());
      }
    }
  }
}

// Adds those rows of the blocks' sums that are the block's, where they lie.
__device__ inline void AddSmallSums(float* sums, const SmallGemm& gemm, int first_row, int rows) {
  constexpr int kVector = 4;
  constexpr int kAcross = kSmallTile / kVector;
  constexpr int kTogether = 4;  // Blocks whose memory answers at the same time.
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < rows * kAcross; i += kSmallThreads) {
    float* const at = sums + (first_row + i / kAcross) * kSmallSumsPitch + i % kAcross * kVector;
    float4 total = {};
#pragma unroll 1
    for (int block = 0; block < gemm.split; block += kTogether) {
      float part[kTogether][kVector] = {};
#pragma unroll
      for (int j = 0; j < kTogether; ++j) {
        if (block + j < gemm.split) LoadFourSums(SumsOfBlock(at, block + j), part[j]);
      }
#pragma unroll
      for (int j = 0; j < kTogether; ++j) {
        total.x += part[j][0];
        total.y += part[j][1];
        total.z += part[j][2];
        total.w += part[j][3];
      }
    }
    *reinterpret_cast<float4*>(at) = total;
  }
}

// Stores `rows` rows of sums from `first_row` on, of the tile that begins at (row, col), neighbours
// by neighbouring lanes.
template <typename Out>
__device__ inline void StoreSmall(const float* sums, const TensorOutput& c, int first_row, int rows,
                                  int64_t row, int64_t col) {
  constexpr int kRowsTogether = kSmallThreads / kSmallTile;
  const int own_col = static_cast<int>(threadIdx.x) % kSmallTile;
  const int own_row = static_cast<int>(threadIdx.x) / kSmallTile;
  if (col + own_col >= c.cols) return;
  row += first_row + own_row;
  const auto rows_left = static_cast<int>(min(c.rows - row, int64_t{rows} - own_row));
  Out* to = static_cast<Out*>(c.data) + int64_t{blockIdx.z} * c.stride + row * c.ld + col + own_col;
  const float* from = sums + (first_row + own_row) * kSmallSumsPitch + own_col;
  if (c.only_alpha) {
#pragma unroll 4
    for (int r = 0; r < rows_left; r += kRowsTogether) {
      *to = static_cast<Out>(c.alpha * *from);
      to += kRowsTogether * c.ld;
      from += kRowsTogether * kSmallSumsPitch;
    }
    return;
  }
  const auto* const bias = static_cast<const Out*>(c.bias);
  const float of_bias = bias != nullptr ? static_cast<float>(bias[col + own_col]) : 0.0f;
#pragma unroll 1
  for (int r = 0; r < rows_left; r += kRowsTogether) {
    *to = static_cast<Out>(c.Finish(*from, c.beta != 0 ? static_cast<float>(*to) : 0.0f, of_bias));
    to += kRowsTogether * c.ld;
    from += kRowsTogether * kSmallSumsPitch;
  }
}

// The blocks of a cluster divide k; there is a cluster in x for each tile of rows, in y for each
// tile of columns, and in z for each product of a batch.
template <typename Element, typename Out>
__global__ void __launch_bounds__(kSmallThreads, kSmallResident)
    TensorSmall(const __grid_constant__ SmallGemm gemm) {
#if __CUDA_ARCH__ >= 800
  __shared__ uint4 shared[2 * SmallCopy::kTileBytes / sizeof(uint4)];
  auto* const sums = reinterpret_cast<float*>(shared);
  auto* const tile_a = reinterpret_cast<char*>(shared);
  char* const tile_b = tile_a + SmallCopy::kTileBytes;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int rank = static_cast<int>(blockIdx.x) & (gemm.split - 1);
  const int64_t row = int64_t{blockIdx.x >> gemm.log_split} * kSmallTile;
  const int64_t col = int64_t{blockIdx.y} * kSmallTile;
  const int first = rank * gemm.steps_of_part;
  const int last = min(first + gemm.steps_of_part, gemm.steps);
  const int warp_row = warp / kSmallWarpsN * kSmallWarpM;
  const int warp_col = warp % kSmallWarpsN * kSmallWarpN;
  float d[kSmallWarpM / kMmaM][kSmallWarpN / kMmaN][4] = {};
  if (first < last) {
    SmallCopy a(gemm.a, row, first * kSmallK, gemm.k);
    SmallCopy b(gemm.b, col, first * kSmallK, gemm.k);
    a.Load();
    b.Load();
    const auto of_a = MatrixAddress::Of<SmallCopy>(gemm.a.k_major, false, warp_row);
    const auto of_b = MatrixAddress::Of<SmallCopy>(gemm.b.k_major, true, warp_col);
#pragma unroll 1
    for (int step = first; step < last; ++step) {
      a.Store(tile_a);
      b.Store(tile_b);
      __syncthreads();
      if (step + 1 < last) {
        a.Load();
        b.Load();
      }
      MultiplySmall<Element>(of_a, SharedAddress(tile_a), of_b, SharedAddress(tile_b), d);
      __syncthreads();  // The tiles have been read.
    }
  }
#pragma unroll
  for (int i = 0; i < kSmallWarpM / kMmaM; ++i) {
#pragma unroll
    for (int j = 0; j < kSmallWarpN / kMmaN; ++j) {
      float* const to = sums + (warp_row + i * kMmaM + lane / 4) * kSmallSumsPitch + warp_col +
                        j * kMmaN + lane % 4 * 2;
      *reinterpret_cast<float2*>(to) = {d[i][j][0], d[i][j][1]};
      *reinterpret_cast<float2*>(to + 8 * kSmallSumsPitch) = {d[i][j][2], d[i][j][3]};
    }
  }
  const int rows = kSmallTile >> gemm.log_split;
  if (gemm.split > 1) {
    SyncCluster();
    AddSmallSums(sums, gemm, rank * rows, rows);
    ArriveAtCluster</*kRelease=*/false>();
  }
  __syncthreads();
  StoreSmall<Out>(sums, gemm.c, rank * rows, rows, row, col);
  if (gemm.split > 1) WaitForCluster();  // No block ends while another one reads its sums.
#endif
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_SMALL_H_
