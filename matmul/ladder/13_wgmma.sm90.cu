// Step 13: the warpgroup's instruction, which reads its operands from shared memory.
//
// One wgmma multiplies 64x16 by 16x128 elements with four warps, and takes both operands where they
// lie: no ldmatrix, no fragments, and shared memory is read once by 128 threads instead of once by
// each warp that needs it. It runs asynchronously, so that copies are issued while it multiplies.
// They are three stages ahead: with one, each stage waited for the L2, and the kernel was slower
// than step 12. Tiles have to lie as it reads them: rows of 128 bytes whose pieces of 16
// bytes are exchanged (wgmma_sm90.h). What cp.async wrote, and the tensor cores read past the
// threads, needs a fence in between.
//
// Compute capability 9.0 only. What limits it now are the copies: 256 threads compute addresses for
// 32 KB of each stage.

#include <cuda_bf16.h>
#include <cuda_pipeline.h>

#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/tensor_copy.h"
#include "matmul/device/tensor_step.h"

namespace stridewise {
namespace {

constexpr int kStages = 4;

// Starts the copies of one stage, whose first byte is at `stage`.
__device__ inline void CopyStage(const TensorSource<StepElement>& a,
                                 const TensorSource<StepElement>& b, int64_t row, int64_t col,
                                 int64_t k, char* stage) {
  // Piece p of row r of a panel lies at p ^ (r % 8).
  const auto in_panel = [](char* panel, int r, int c) {
    return reinterpret_cast<StepElement*>(panel + r * kSwizzleBytes +
                                          ((c / 8) ^ (r % kSwizzleRows)) * 16);
  };
  CopyTile<kStepTile, kStepDepth, kStepThreads>(
      a, row, k, [&](int r, int c) { return in_panel(stage, r, c); });
  CopyTile<kStepDepth, kStepTile, kStepThreads>(b, k, col, [&](int r, int c) {
    return in_panel(stage + kStepBytesA + c / 64 * kStepPanelBytes, r, c % 64);
  });
}

__global__ void __launch_bounds__(kStepThreads)
    WgmmaKernel(TensorSource<StepElement> a, TensorSource<StepElement> b, Matrix<StepElement> c) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ char raw[];
  char* const shared = AlignedStages(raw);
  const int64_t row = BlockRow() * kStepTile;
  const int64_t col = static_cast<int64_t>(blockIdx.x) * kStepTile;
  const int steps = static_cast<int>((a.matrix.cols + kStepDepth - 1) / kStepDepth);

  float d[kStepTile / 2] = {};
  const auto copy = [&](int step) {
    if (step < steps) {
      CopyStage(a, b, row, col, static_cast<int64_t>(step) * kStepDepth,
                shared + step % kStages * kStepBytes);
    }
    __pipeline_commit();
  };
#pragma unroll
  for (int i = 0; i < kStages - 1; ++i) copy(i);
  for (int step = 0; step < steps; ++step) {
    __pipeline_wait_prior(kStages - 2);
    FenceForTma();
    __syncthreads();  // The stage has arrived, and the one before has been read.
    FenceWgmma();
    MultiplyStep(SharedAddress(shared + step % kStages * kStepBytes), step > 0, d);
    CommitWgmma();
    copy(step + kStages - 1);
    WaitForWgmma<0>();
  }
  StoreStep(c, row, col, d);
#endif
}

}  // namespace

LaunchStatus MatMulWgmma(const MatMulArgs& args) {
  return Launch(WgmmaKernel, TileGrid(args.m, args.n, kStepTile, kStepTile), Block{kStepThreads},
                kStages * kStepBytes + kStepAlignment, args.stream,
                TensorSource<StepElement>(args.A<StepElement>()),
                TensorSource<StepElement>(args.B<StepElement>()), args.C<StepElement>());
}

}  // namespace stridewise
