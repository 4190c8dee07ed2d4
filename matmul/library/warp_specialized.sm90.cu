// A producer warp that does nothing but load tiles, and eight consumer warps that do nothing but
// multiply them.
//
// In `stream_k` every thread also copies: 24 copies and their addresses for 4096 fma, and a barrier
// for all. Here one thread asks the TMA for a whole tile at a time (ptx_sm90.h), and barriers in
// shared memory tell when a stage is full and when it is empty again, so that no warp waits for
// another one that does the same work. The producer's warpgroup keeps 40 registers a thread and
// leaves 224 to the consumers'. Blocks are persistent: the operands of the next tile arrive while a
// tile is stored, and a block's unit of the split tiles (stream_k_schedule.h) follows its whole
// ones.
//
// What is left is the issue of instructions: 273 of them for 256 fma in the main loop, 93 % of all
// clocks. The producer's warps are the youngest and get what the consumers leave, a clock in some
// 50: transposing A's tiles there as well (100 instructions a stage) cost 4 %, so a K-major operand
// is transposed beforehand (operand_packing.h).

#include <algorithm>
#include <cstdint>

#include "common/base/status_macros.h"
#include "common/gpu/kernel_state.h"
#include "common/gpu/launch.h"
#include "matmul/device/fixup.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/operand_packing.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/split_plan.h"
#include "matmul/device/stream_k_schedule.h"
#include "matmul/device/tensor_map.h"
#include "matmul/device/tile_order.h"
#include "matmul/device/tile_policies.h"
#include "matmul/device/tile_store.h"

namespace stridewise {
namespace {

// The stages are not padded: the lanes that load together read neighbours of one row of a tile.
struct Tile : BlockTile<TilePolicyWarpSpecialized> {
  static constexpr int kOffsetOfB = kBlockK * kBlockM;
  static constexpr int kStageFloats = kBlockK * (kBlockM + kBlockN);
  static constexpr int kStageBytes = kStageFloats * static_cast<int>(sizeof(float));
};

// Registers are allocated by warpgroup, so the producer has one to itself, of which one thread
// works.
constexpr int kProducerThreads = 128;
constexpr int kThreads = Tile::kThreads + kProducerThreads;
// 65536 registers are 168 for each of 384 threads. The consumers could have 232 and are 1 % slower
// with them: with more to choose from, ptxas moves fragments from register to register.
constexpr int kProducerRegisters = 40;
constexpr int kConsumerRegisters = 224;

struct SharedMemory {
  float stages[Tile::kStages][Tile::kStageFloats];
  float out[Tile::kOutFloats];    // For StoreTile().
  Mbarrier full[Tile::kStages];   // The producer arrives, and all bytes of the stage.
  Mbarrier empty[Tile::kStages];  // Each consumer warp arrives.
};
static_assert(sizeof(SharedMemory) <= 227 * 1024, "more shared memory than there is");

// Which operands differ from one multiplication of a batch to the next.
struct Matrices {
  bool a_differ;
  bool b_differ;
};

// The producer: loads the stages of all of the block's work, each as soon as it is empty.
__device__ inline void LoadStages(const CUtensorMap& a, const CUtensorMap& b,
                                  const Matrices& matrices, const Gemm<Tile::Types>& gemm,
                                  const StreamKSchedule& schedule, uint32_t whole_tiles,
                                  SharedMemory& memory) {
  PipelineState<Tile::kStages> state;
  WorkTile work;
#pragma unroll 1
  for (uint32_t i = 0; FindPersistentWork(schedule, whole_tiles, i, &work); ++i) {
    const TilePlace place = schedule.order.PlaceOf<Tile>(work.tile);
    const TileOffset& offset = place.offset;
    const auto index = static_cast<int>(place.index);
    const int index_a = matrices.a_differ ? index : 0;
    const int index_b = matrices.b_differ ? index : 0;
    int k = static_cast<int>(work.first_step) * Tile::kBlockK;
#pragma unroll 1
    for (uint32_t step = 0; step < work.steps; ++step) {
      float* const stage = memory.stages[state.stage];
      Mbarrier& full = memory.full[state.stage];
      memory.empty[state.stage].Wait(state.phase ^ 1);
      full.ArriveExpecting(Tile::kStageBytes);
      CopyBox(a, static_cast<int>(offset.row), k, index_a, SharedAddress(stage), full);
      CopyBox(b, static_cast<int>(offset.col), k, index_b, SharedAddress(stage + Tile::kOffsetOfB),
              full);
      k += Tile::kBlockK;
      state.Advance();
    }
    // While the consumers multiply the last stages.
    if (gemm.epilogue.ReadsC() && work.steps == schedule.steps_per_tile) {
      auto c = gemm.c;
      c.data += place.index * gemm.stride_c;
#pragma unroll 1
      for (int row = 0; row < Tile::kBlockM; ++row) {
        PrefetchPart<1, Tile::kBlockN, 1>(c, offset.row + row, offset.col, /*thread=*/0);
      }
    }
  }
}

// As Fragment::Load(), from addresses in shared memory.
__device__ inline void LoadFragment(uint32_t a, uint32_t b, Fragment<Tile>& fragment) {
  constexpr int kRowStep = kLanesM * static_cast<int>(sizeof(float));
  constexpr int kColStep = kLanesN * static_cast<int>(sizeof(float));
#pragma unroll
  for (int i = 0; i < Tile::kThreadM; i += kVector) {
    LoadSharedVector(a + i * kRowStep, &fragment.a[i]);
  }
#pragma unroll
  for (int i = 0; i < Tile::kThreadN; i += kVector) {
    LoadSharedVector(b + i * kColStep, &fragment.b[i]);
  }
}

// Lets the producer fill a stage again, when all lanes of this warp have read it.
__device__ inline void ReleaseStage(Mbarrier& empty) {
  __syncwarp();
  if (threadIdx.x % kWarpSize == 0) empty.Arrive();
}

// A consumer's main loop: as MultiplyTiles() of tile_mma.h, from stages that the producer fills.
__device__ inline void MultiplyStages(uint32_t steps, uint32_t a_first, uint32_t b_first,
                                      PipelineState<Tile::kStages>& state, SharedMemory& memory,
                                      Accumulators<Tile>& accumulators) {
  constexpr int kPitchA = Tile::kBlockM * static_cast<int>(sizeof(float));
  constexpr int kPitchB = Tile::kBlockN * static_cast<int>(sizeof(float));
  Fragment<Tile> even;
  Fragment<Tile> odd;
  memory.full[state.stage].Wait(state.phase);
  uint32_t a = a_first + state.stage * Tile::kStageBytes;
  uint32_t b = b_first + state.stage * Tile::kStageBytes;
  LoadFragment(a, b, even);
#pragma unroll 1
  for (uint32_t step = 0; step < steps; ++step) {
    const uint32_t last = a + (Tile::kBlockK - 2) * kPitchA;
#pragma unroll 1
    do {
      LoadFragment(a + kPitchA, b + kPitchB, odd);
      accumulators.Add(even);
      LoadFragment(a + 2 * kPitchA, b + 2 * kPitchB, even);
      accumulators.Add(odd);
      a += 2 * kPitchA;
      b += 2 * kPitchB;
    } while (a != last);
    LoadFragment(a + kPitchA, b + kPitchB, odd);
    accumulators.Add(even);
    // The stage's last fragment is in registers.
    if (step + 1 < steps) {
      ReleaseStage(memory.empty[state.stage]);
      state.Advance();
      memory.full[state.stage].Wait(state.phase);
      a = a_first + state.stage * Tile::kStageBytes;
      b = b_first + state.stage * Tile::kStageBytes;
    }
    // After the last step a fragment that nothing uses, of a stage that is not released yet.
    LoadFragment(a, b, even);
    accumulators.Add(odd);
  }
  ReleaseStage(memory.empty[state.stage]);
  state.Advance();
}

__global__ void __launch_bounds__(kThreads, Tile::kMinBlocks)
    WarpSpecialized(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                    Matrices matrices, Gemm<Tile::Types> gemm, StreamKSchedule schedule,
                    uint32_t whole_tiles) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) char shared[];
  SharedMemory& memory = *reinterpret_cast<SharedMemory*>(shared);
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    for (int i = 0; i < Tile::kStages; ++i) {
      memory.full[i].Init(1);
      memory.empty[i].Init(Tile::kThreads / kWarpSize);
    }
    Mbarrier::InitDone();
  }
  __syncthreads();

  if (thread >= Tile::kThreads) {
    ReleaseRegistersDownTo<kProducerRegisters>();
    if (thread == Tile::kThreads) LoadStages(a, b, matrices, gemm, schedule, whole_tiles, memory);
    return;
  }
  AcquireRegistersUpTo<kConsumerRegisters>();
  const ThreadCoord<Tile> coord(thread);
  const auto a_first = SharedAddress(&memory.stages[0][coord.warp_row + coord.lane_row * kVector]);
  const auto b_first = SharedAddress(
      &memory.stages[0][Tile::kOffsetOfB + coord.warp_col + coord.lane_col * kVector]);
  PipelineState<Tile::kStages> state;
  WorkTile work;
#pragma unroll 1
  for (uint32_t i = 0; FindPersistentWork(schedule, whole_tiles, i, &work); ++i) {
    Accumulators<Tile> accumulators;
    accumulators.Clear();
    MultiplyStages(work.steps, a_first, b_first, state, memory, accumulators);
    if (work.steps == schedule.steps_per_tile) {
      const TilePlace place = schedule.order.PlaceOf<Tile>(work.tile);
      auto c = gemm.c;
      c.data += place.index * gemm.stride_c;
      StoreTile(accumulators, gemm.epilogue, memory.out, c, place.offset, thread);
    } else {
      StorePartialSums(schedule, work.tile, blockIdx.x, memory.out, thread, accumulators);
    }
  }
#endif
}

// What the launch needs and the arguments and the device say.
struct Plan {
  Plan(const MatMulArgs& args, const DeviceModel& device)
      : gemm(GemmOf<Tile::Types>(args)),
        a(args.A<float>(), MatrixCount(args.batch, args.a.stride), !args.a.transposed),
        b(args.B<float>(), MatrixCount(args.batch, args.b.stride), args.b.transposed),
        split(PlanSplit<Tile>(gemm, args.batch, device)),
        slots(ResidentBlocks<Tile>(device)) {}

  int64_t PackedBytes() const { return a.Bytes() + b.Bytes(); }
  int64_t WorkspaceBytes() const { return PackedBytes() + split.WorkspaceBytes(); }

  Gemm<Tile::Types> gemm;
  OperandPacking<float> a;
  OperandPacking<float> b;
  SplitPlan split;
  int64_t slots;  // The number of blocks that are resident at once.
};

// Returns whether this kernel takes such a call and was built for such a device.
bool Applies(const Plan& plan, const MatMulArgs& args) {
  const auto has_tensor_map = [&](int64_t mn) {
    return HasTensorMap(ConstMatrix<float>{nullptr, plan.gemm.k, mn, kVector},
                        MatrixCount(args.batch, kVector));
  };
  const bool fits = plan.gemm.k > 0 && has_tensor_map(args.m) && has_tensor_map(args.n) &&
                    plan.a.IsOneLaunch() && plan.b.IsOneLaunch();
  // Packing takes 2 ps an element; a product of this number of multiplications for each of them
  // takes 7 % less time than stream_k's. Where both operands are packed stream_k, which copies both
  // by 4 bytes, is slower still.
  const bool packs_both = plan.a.Elements() > 0 && plan.b.Elements() > 0;
  const double products_per_element = packs_both ? 450 : 900;
  const double products = static_cast<double>(args.m) * static_cast<double>(args.n) *
                          static_cast<double>(args.k) * static_cast<double>(args.batch);
  if (!fits || products_per_element * (plan.a.Elements() + plan.b.Elements()) > products) {
    return false;
  }
  // Built for a family of GPUs, without setmaxnreg, the kernel would keep its accumulators in local
  // memory; built for older GPUs it is empty.
  const KernelCode code = CodeOf(reinterpret_cast<const void*>(WarpSpecialized));
  return code.compute_capability >= 90 && code.local_bytes == 0;
}

// Returns whether the fallback, which splits tiles without a workspace, takes less time than this
// kernel with whole tiles.
bool FallbackIsFaster(const Plan& plan, int64_t batch, const DeviceModel& device) {
  constexpr double kTimeOfFallback = 1.07;  // Over this kernel's, for the same k steps.
  const auto unsplit_steps =
      static_cast<double>(CeilDiv(plan.split.all_tiles, plan.slots) * plan.split.steps_per_tile);
  return kTimeOfFallback *
             PlanClusterSplit<BlockTile<TilePolicy128x256>>(plan.gemm, batch, device).steps <
         unsplit_steps;
}

// Runs what this kernel does not take, and calls whose workspace does not suffice for the packed
// operands or, where that matters, for partial sums.
const MatMulFunctions& Fallback() {
  static const MatMulFunctions fallback = FunctionsOf("stream_k");
  return fallback;
}

}  // namespace

int64_t MatMulWarpSpecializedWorkspaceBytes(const MatMulArgs& args) {
  const int64_t otherwise = Fallback().workspace_bytes(args);
  const Plan plan(args, DeviceOf(args));
  return Applies(plan, args) ? std::max(plan.WorkspaceBytes(), otherwise) : otherwise;
}

LaunchStatus MatMulWarpSpecialized(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const DeviceModel device = DeviceOf(args);
  Plan plan(args, device);
  if (!Applies(plan, args) || args.workspace_bytes < plan.PackedBytes()) {
    return Fallback().run(args);
  }
  if (args.workspace_bytes < plan.WorkspaceBytes()) {
    if (FallbackIsFaster(plan, args.batch, device)) return Fallback().run(args);
    plan.split.SplitNothing();
  }

  auto* const packed_a = static_cast<char*>(args.workspace);
  char* const packed_b = packed_a + plan.a.Bytes();
  const StreamKSchedule schedule = plan.split.ScheduleIn(packed_b + plan.b.Bytes());
  RETURN_IF_ERROR(plan.a.Launch(packed_a, args.stream));
  RETURN_IF_ERROR(plan.b.Launch(packed_b, args.stream));
  ASSIGN_OR_RETURN(
      const CUtensorMap a,
      TensorMapOf(plan.a.Packed(packed_a), plan.a.PackedMatrices(), Tile::kBlockK, Tile::kBlockM));
  ASSIGN_OR_RETURN(
      const CUtensorMap b,
      TensorMapOf(plan.b.Packed(packed_b), plan.b.PackedMatrices(), Tile::kBlockK, Tile::kBlockN));
  const Matrices matrices = {plan.a.PackedMatrices().count > 1, plan.b.PackedMatrices().count > 1};
  const int64_t whole_tiles = plan.split.WholeTiles();
  const int64_t blocks = std::max(std::min(whole_tiles, plan.slots), plan.split.units);
  RETURN_IF_ERROR(Launch(WarpSpecialized, Grid{blocks}, Block{kThreads}, sizeof(SharedMemory),
                         args.stream, a, b, matrices, plan.gemm, schedule,
                         static_cast<uint32_t>(whole_tiles)));
  return LaunchFixup<Tile>(plan.gemm, plan.split, schedule, args.stream);
}

}  // namespace stridewise
