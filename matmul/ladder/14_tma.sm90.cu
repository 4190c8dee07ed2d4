// Step 14: one thread asks the tensor memory accelerator (TMA) for whole tiles.
//
// The TMA computes the addresses, swizzles the tile as wgmma reads it, and fills what lies outside
// the matrix with zeros. A barrier in shared memory counts the bytes that have arrived. So 256
// threads no longer issue 2048 copies a stage, and four stages of 32 KB are in flight.
//
// The TMA takes matrices whose rows begin at multiples of 16 bytes; others take `tensor_general`.
// What limits it now is that the same warps wait for a stage, multiply it, and wait for each other
// before the next copy may overwrite it.

#include <cstdint>

#include "common/base/status_macros.h"
#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor_map.h"
#include "matmul/device/tensor_step.h"

namespace stridewise {
namespace {

constexpr int kStages = 4;
constexpr int kBarrierOffset = kStages * kStepBytes;
constexpr int kSharedBytes =
    kBarrierOffset + kStages * static_cast<int>(sizeof(Mbarrier)) + kStepAlignment;

// Starts the copies of one stage.
__device__ inline void LoadStep(const CUtensorMap& a, const CUtensorMap& b, int row, int col, int k,
                                uint32_t stage, Mbarrier& full) {
  full.ArriveExpecting(kStepBytes);
  CopyBox(a, k, row, 0, stage, full);
  CopyBox(b, col, k, 0, stage + kStepBytesA, full);
  CopyBox(b, col + 64, k, 0, stage + kStepBytesA + kStepPanelBytes, full);
}

__global__ void __launch_bounds__(kStepThreads)
    Tma(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
        Matrix<StepElement> c, int k_extent) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  extern __shared__ char raw[];
  char* const shared = AlignedStages(raw);
  auto* const full = reinterpret_cast<Mbarrier*>(shared + kBarrierOffset);
  const int row = static_cast<int>(BlockRow()) * kStepTile;
  const int col = static_cast<int>(blockIdx.x) * kStepTile;
  const int steps = (k_extent + kStepDepth - 1) / kStepDepth;
  const auto load = [&](int step) {
    const int stage = step % kStages;
    LoadStep(a, b, row, col, step * kStepDepth, SharedAddress(shared + stage * kStepBytes),
             full[stage]);
  };
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) full[i].Init(1);
    Mbarrier::InitDone();
    for (int i = 0; i < kStages - 1 && i < steps; ++i) load(i);
  }
  __syncthreads();

  float d[kStepTile / 2] = {};
  for (int step = 0; step < steps; ++step) {
    full[step % kStages].Wait(step / kStages % 2);
    FenceWgmma();
    MultiplyStep(SharedAddress(shared + step % kStages * kStepBytes), step > 0, d);
    CommitWgmma();
    WaitForWgmma<0>();
    __syncthreads();  // Both warpgroups have read the stage.
    if (threadIdx.x == 0 && step + kStages - 1 < steps) load(step + kStages - 1);
  }
  StoreStep(c, row, col, d);
#endif
}

}  // namespace

LaunchStatus MatMulTma(const MatMulArgs& args) {
  const auto a = args.A<StepElement>();
  const auto b = args.B<StepElement>();
  const MatrixCount one(1, 0);
  if (args.k == 0 || !HasTensorMap(a, one) || !HasTensorMap(b, one)) {
    return FunctionsOf("tensor_general").run(args);
  }
  constexpr CUtensorMapSwizzle kSwizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  ASSIGN_OR_RETURN(const CUtensorMap map_a, TensorMapOf(a, one, kStepTile, kStepDepth, kSwizzle));
  ASSIGN_OR_RETURN(const CUtensorMap map_b, TensorMapOf(b, one, kStepDepth, 64, kSwizzle));
  return Launch(Tma, TileGrid(args.m, args.n, kStepTile, kStepTile), Block{kStepThreads},
                kSharedBytes, args.stream, map_a, map_b, args.C<StepElement>(),
                static_cast<int>(args.k));
}

}  // namespace stridewise
