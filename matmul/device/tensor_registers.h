// TF32 with A in registers. The instruction takes K-major tiles from shared memory alone, so one
// operand that is MN-major goes through registers: of C = A * B with A stored transposed it is A,
// and with neither transposed it is B, of C^T = B^T * A^T. So only a product of two MN-major
// operands needs one of them transposed before.
//
// A's tile lies in panels of 32 rows, with a swizzled row of 128 bytes for each k. A lane loads one
// float at a time. With the instruction's rows as rows of the tile two lanes would meet in a bank;
// exchanged as TensorRow() says, the eight rows and four k of a load lie in 32 banks.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_REGISTERS_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_REGISTERS_H_

#include "matmul/device/tensor_tile.h"

namespace stridewise {

// A's elements of a stage, for the four instructions of 8 of k.
using TensorFragments = uint32_t[4][4];

template <typename Tile>
__device__ inline void LoadFragments(const TensorShared<Tile>& shared, int stage, int consumer,
                                     TensorFragments& a) {
  const int thread = static_cast<int>(threadIdx.x) % kWarpgroupThreads;
  const int row = TensorRow<Tile>(thread) % Tile::kRowElements;  // Of the panel.
  const uint32_t panel = shared.A(stage) + consumer * kMmaRows * kSwizzleBytes +
                         thread / 64 * Tile::kPanelBytes + row % 4 * 4;
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    const int in_group = thread % 4 + i / 2 % 2 * 4;  // Of 8 of k: the row that the swizzle counts.
    const int piece = (row / 4 + i % 2) ^ in_group;
    const uint32_t address = panel + (i / 4 * 8 + in_group) * kSwizzleBytes + piece * 16;
    asm volatile("ld.shared.b32 %0, [%1];" : "=r"(a[i / 4][i % 4]) : "r"(address));
  }
  __syncwarp();  // One lane releases the stage for all that have read it.
}

// As SumStages() of tensor_accumulation.h. The next stage's fragments are loaded while the tensor
// cores work on this one's.
template <typename Tile, typename Release>
__device__ inline void SumFromRegisters(const TensorGemm& gemm, const TensorShared<Tile>& shared,
                                        int consumer, Release release,
                                        PipelineState<Tile::kStages>* state,
                                        float (&d)[Tile::kBlockN / 2]) {
  int k = 0;
  // Returns whether there is a next stage.
  const auto multiply = [&](const TensorFragments& a, TensorFragments& next) {
    const int stage = state->stage;
    const uint64_t b = TileDescriptor<Tile::kMajorB>(shared.B(stage), Tile::kPanelBytes);
    FenceWgmma();
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      Tile::Mma::Multiply(a[i], b + i * DescriptorStep<Tile::kMajorB, float>(), i > 0 || k > 0, d);
    }
    CommitWgmma();
    state->Advance();
    k += Tile::kBlockK;
    const bool more = k < gemm.k;
    if (more) {
      shared.Full(state->stage).Wait(state->phase);
      LoadFragments(shared, state->stage, consumer, next);
    }
    WaitForWgmma<0>();
    release(stage);
    return more;
  };
  TensorFragments even;
  TensorFragments odd;
  shared.Full(state->stage).Wait(state->phase);
  LoadFragments(shared, state->stage, consumer, even);
#pragma unroll 1
  while (multiply(even, odd) && multiply(odd, even)) {
  }
}

// Stores a consumer's 64 rows, which are columns of C, through shared memory: 64 rows and 64
// columns of C at a time, in two boxes.
template <typename Tile>
__device__ inline void StoreTransposed(const CUtensorMap& c, const TensorGemm& gemm,
                                       const TensorShared<Tile>& shared, int consumer, int thread,
                                       int row, int col, int batch,
                                       const float (&d)[Tile::kBlockN / 2]) {
  constexpr int kRows = kMmaRows;
  static_assert(Tile::kOutElements * Tile::kOutBuffers == kMmaRows);
  const int lane = thread % 32;
  const int in_box = TensorRow<Tile>(thread) % Tile::kOutElements;
  char* const out = shared.Out(consumer, thread / 64) + in_box % 4 * 4;
#pragma unroll
  for (int chunk = 0; chunk < Tile::kBlockN / kRows; ++chunk) {
    if (thread == 0) WaitUntilStoresHaveRead<0>();
    SyncWarpgroup(1 + consumer);
#pragma unroll
    for (int i = 0; i < kRows / 2; ++i) {
      const int out_row = i / 4 * 8 + lane % 4 * 2 + i % 2;
      const int piece = (in_box / 4 + i / 2 % 2) ^ (out_row % kSwizzleRows);
      *reinterpret_cast<float*>(out + out_row * kSwizzleBytes + piece * 16) =
          gemm.alpha * d[chunk * (kRows / 2) + i];
    }
    FenceForTma();
    SyncWarpgroup(1 + consumer);
    if (thread == 0) {
      for (int box = 0; box < Tile::kOutBuffers; ++box) {
        StoreBox(c, row + box * Tile::kOutElements, col + chunk * kRows, batch,
                 SharedAddress(shared.Out(consumer, box)));
      }
      CommitStores();
    }
  }
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_REGISTERS_H_
