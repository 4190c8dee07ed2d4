// Tiles of any layout, loaded by the TMA: neither copies of 4 bytes nor packing. Rows must begin at
// multiples of 16 bytes.
//
// Operands arrive as they lie in memory (quarter_maps.h). A thread takes four k at a time, a quad:
// of an operand with a row for each k it loads four neighbours of each of the four rows, of a
// K-major one the same four k of four neighbouring rows. Both are four loads of 16 bytes for a
// block of 4 x 4 elements. In shared memory the pieces of 16 bytes of a K-major tile are exchanged
// by the TMA (CU_TENSOR_MAP_SWIZZLE_128B), so that lanes, which have neighbouring rows of one
// quarter, read different banks.
//
// There is no producer warp: with 128 threads to a block and two blocks on a multiprocessor a
// thread may have 255 registers. In the middle of a step one thread starts the copies into the
// stage of the step before, which all warps have read by then.

#ifndef STRIDEWISE_MATMUL_DEVICE_TMA_TILE_H_
#define STRIDEWISE_MATMUL_DEVICE_TMA_TILE_H_

#include <algorithm>
#include <cstdint>

#include "common/base/status_macros.h"
#include "common/gpu/kernel_state.h"
#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/cluster_split.h"
#include "matmul/device/fixup.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/ptx_sm90_cluster.h"
#include "matmul/device/quad_reader.h"
#include "matmul/device/quarter_maps.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/split_plan.h"
#include "matmul/device/stream_k.h"
#include "matmul/device/stream_k_schedule.h"
#include "matmul/device/tile_mma.h"
#include "matmul/device/tile_order.h"
#include "matmul/device/tile_store.h"
#include "matmul/tma_clusters.h"

namespace stridewise {
namespace {  // Each file that includes this has kernels of its own.

// The stages are not padded.
template <typename Policy>
struct TmaTile : BlockTile<Policy> {
  using Base = BlockTile<Policy>;
  static constexpr int kBytesOfA = Base::kBlockK * Base::kBlockM * int{sizeof(float)};
  static constexpr int kBytesOfB = Base::kBlockK * Base::kBlockN * int{sizeof(float)};
  static constexpr int kStageBytes = kBytesOfA + kBytesOfB;
  static constexpr int kDataBytes =
      Larger(Base::kStages * kStageBytes,
             Larger(Base::kOutFloats, Base::kSliceFloats) * int{sizeof(float)});
  // The barriers stand behind, and the beginning is moved to a multiple of 1024.
  static constexpr int kSharedBytes = 1024 + kDataBytes + 2 * Base::kStages * int{sizeof(Mbarrier)};
  static constexpr int kQuads = Base::kSliceK / kVector;  // Of a thread, in a step.

  static_assert(Base::kBlockK == kWarpSize, "a row of a K-major tile has 128 bytes");
  static_assert(kQuads >= 2, "copies are started in the middle");
  static_assert((kSharedBytes + 1024) * Base::kBlocksPerMultiprocessor <= 228 * 1024,
                "more shared memory than there is");
};

// The pipeline of a block. All threads have the same one.
template <typename Tile>
struct TmaPipeline {
  Mbarrier* full;   // One thread arrives, and all bytes of the stage.
  Mbarrier* empty;  // Each warp arrives.
  int stage;
  uint32_t phase;  // The parity of the phase of full[stage].

  __device__ void Advance() {
    if (++stage < Tile::kStages) return;
    stage = 0;
    phase ^= 1;
  }
  // Returns the state a step ago.
  __device__ TmaPipeline Before() const {
    return stage > 0 ? TmaPipeline{full, empty, stage - 1, phase}
                     : TmaPipeline{full, empty, Tile::kStages - 1, phase ^ 1};
  }
};

// Starts the copies of both operands' tiles for the k step from `k` on.
template <typename Tile, OperandLayout kLayoutA, OperandLayout kLayoutB>
__device__ inline void LoadStage(const QuarterMaps& a, const QuarterMaps& b,
                                 const TileOffset& offset, int k, int index_a, int index_b,
                                 uint32_t stage, Mbarrier& full) {
  using Readers = QuadReaders<Tile, kLayoutA, kLayoutB>;
  const auto row = static_cast<int>(offset.row);
  const auto col = static_cast<int>(offset.col);
  constexpr bool kKMajorA = kLayoutA == OperandLayout::kKMajor;
  constexpr bool kKMajorB = kLayoutB == OperandLayout::kKMajor;
  full.ArriveExpecting(Tile::kStageBytes);
  CopyQuarters(a, kKMajorA ? row : k, kKMajorA ? k : row, index_a, stage,
               Readers::ReaderA::kQuarterBytes, full);
  CopyQuarters(b, kKMajorB ? col : k, kKMajorB ? k : col, index_b, stage + Tile::kBytesOfA,
               Readers::ReaderB::kQuarterBytes, full);
}

// The operands of a launch, as the TMA loads them.
struct TmaOperands {
  QuarterMaps a, b;
  bool a_differ, b_differ;  // From one multiplication of a batch to the next.
};

// A thread of a block of these kernels.
template <typename Tile, OperandLayout kLayoutA, OperandLayout kLayoutB>
class TmaThread {
 public:
  using Readers = QuadReaders<Tile, kLayoutA, kLayoutB>;

  // Initialises the block's pipeline. `unaligned` is the block's dynamic shared memory.
  __device__ explicit TmaThread(char* unaligned)
      : thread_(static_cast<int>(threadIdx.x)),
        first_a_(FirstA(thread_)),
        first_b_(FirstB(thread_)) {
    constexpr uint32_t kAlignment = 1024;  // Of the pieces that the TMA exchanges.
    const uint32_t past = SharedAddress(unaligned) % kAlignment;
    char* const shared = unaligned + (past == 0 ? 0 : kAlignment - past);
    out_ = reinterpret_cast<float*>(shared);
    stages_ = SharedAddress(shared);
    auto* const barriers = reinterpret_cast<Mbarrier*>(shared + Tile::kDataBytes);
    pipeline_ = {barriers, barriers + Tile::kStages, 0, 0};
    if (thread_ == 0) {
      for (int i = 0; i < Tile::kStages; ++i) {
        pipeline_.full[i].Init(1);
        pipeline_.empty[i].Init(Tile::kThreads / kWarpSize);
      }
      Mbarrier::InitDone();
    }
    __syncthreads();
  }

  // Returns shared memory for what follows a multiplication, as StoreTile() needs it.
  __device__ float* out() const { return out_; }

  // Sets the accumulators to the products of a tile over these k steps. Afterwards the shared
  // memory of all stages is free. Between two calls are FenceForTma() and a barrier.
  __device__ void Multiply(const TmaOperands& operands, const TileOffset& offset, int index,
                           const StepRange& steps, Accumulators<Tile>& accumulators) {
    const auto load = [&](int step, const TmaPipeline<Tile>& to) {
      LoadStage<Tile, kLayoutA, kLayoutB>(
          operands.a, operands.b, offset, (steps.first + step) * Tile::kBlockK,
          operands.a_differ ? index : 0, operands.b_differ ? index : 0,
          stages_ + to.stage * Tile::kStageBytes, to.full[to.stage]);
    };
    if (thread_ == 0) {
      TmaPipeline<Tile> to = pipeline_;
#pragma unroll 1
      for (int step = 0; step < min(steps.count, Tile::kStages); ++step) {
        load(step, to);
        to.Advance();
      }
    }
    accumulators.Clear();
#pragma unroll 1
    for (int step = 0; step < steps.count; ++step) {
      const uint32_t stage = stages_ + pipeline_.stage * Tile::kStageBytes;
      pipeline_.full[pipeline_.stage].Wait(pipeline_.phase);
      auto a = first_a_;
      auto b = first_b_;
#pragma unroll 1
      for (int quad = 0; quad < Tile::kQuads; ++quad) {
        Readers::Multiply(a, b, stage, accumulators);
        a.Advance();
        b.Advance();
        if (quad == 0 && thread_ == 0 && step > 0 && step - 1 + Tile::kStages < steps.count) {
          const TmaPipeline<Tile> before = pipeline_.Before();
          before.empty[before.stage].Wait(before.phase);
          load(step - 1 + Tile::kStages, before);
        }
      }
      __syncwarp();
      if (thread_ % kWarpSize == 0) pipeline_.empty[pipeline_.stage].Arrive();
      pipeline_.Advance();
    }
    __syncthreads();
  }

 private:
  __device__ static typename Readers::ReaderA FirstA(int thread) {
    const ThreadCoord<Tile> coord(thread);
    return {coord.warp_row + coord.lane_row * kVector, coord.slice * Tile::kQuads};
  }
  __device__ static typename Readers::ReaderB FirstB(int thread) {
    const ThreadCoord<Tile> coord(thread);
    return {coord.warp_col + coord.lane_col * kVector, coord.slice * Tile::kQuads};
  }

  int thread_;
  const typename Readers::ReaderA first_a_;
  const typename Readers::ReaderB first_b_;
  float* out_;
  uint32_t stages_;
  TmaPipeline<Tile> pipeline_;
};

template <typename Tile, OperandLayout kLayoutA, OperandLayout kLayoutB>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kMinBlocks)
    TmaTiles(const __grid_constant__ TmaOperands operands, Gemm<typename Tile::Types> gemm,
             StreamKSchedule schedule, uint32_t whole_tiles) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) char shared[];
  TmaThread<Tile, kLayoutA, kLayoutB> self(shared);
  const TileOrder<Tile> order(gemm.c);
  WorkTile work;
#pragma unroll 1
  for (uint32_t i = 0; FindPersistentWork(schedule, whole_tiles, i, &work); ++i) {
    const TileOffset offset = order.OffsetOf(work.tile % schedule.tiles);
    const auto index = static_cast<int>(work.tile / schedule.tiles);
    const auto thread = static_cast<int>(threadIdx.x);
    Accumulators<Tile> accumulators;
    self.Multiply(operands, offset, index,
                  {static_cast<int>(work.first_step), static_cast<int>(work.steps)}, accumulators);
    if (work.steps == schedule.steps_per_tile) {
      StoreWholeTile(gemm, index, offset, self.out(), thread, accumulators);
    } else {
      StorePartialSums(schedule, work.tile, blockIdx.x, self.out(), thread, accumulators);
    }
    FenceForTma();
    __syncthreads();
  }
#endif
}

// Without a workspace: the blocks of a cluster divide the k of a tile, and add their sums in shared
// memory. Only `tiles` and `steps_per_tile` of the schedule are used.
template <typename Tile, OperandLayout kLayoutA, OperandLayout kLayoutB>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kMinBlocks)
    TmaClusterTiles(const __grid_constant__ TmaOperands operands, Gemm<typename Tile::Types> gemm,
                    StreamKSchedule schedule, uint32_t all_tiles, uint32_t cluster_blocks) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) char shared[];
  TmaThread<Tile, kLayoutA, kLayoutB> self(shared);
  const TileOrder<Tile> order(gemm.c);
  const ClusterBlock block = {blockIdx.x % cluster_blocks, cluster_blocks};
#pragma unroll 1
  for (uint32_t tile = blockIdx.x / cluster_blocks; tile < all_tiles;
       tile += gridDim.x / cluster_blocks) {
    const TileOffset offset = order.OffsetOf(tile % schedule.tiles);
    const uint32_t index = tile / schedule.tiles;
    const auto thread = static_cast<int>(threadIdx.x);
    {
      const uint32_t first = block.Begin(schedule.steps_per_tile);
      Accumulators<Tile> accumulators;
      self.Multiply(
          operands, offset, static_cast<int>(index),
          {static_cast<int>(first), static_cast<int>(block.End(schedule.steps_per_tile) - first)},
          accumulators);
      KeepPartialSums(self.out(), thread, accumulators);
    }
    SyncCluster();
    auto c = gemm.c;
    c.data += index * gemm.stride_c;
    StoreClusterTile<Tile>(block, self.out(), thread, gemm.epilogue, c, offset);
    FenceForTma();
    SyncCluster();  // The others have read this block's partial sums.
  }
#endif
}

// What the launch needs and the arguments and the device say.
template <typename Tile>
struct TmaPlan {
  TmaPlan(const MatMulArgs& args, const DeviceModel& device)
      : gemm(GemmOf<typename Tile::Types>(args)),
        count_a(args.batch, args.a.stride),
        count_b(args.batch, args.b.stride),
        split(PlanSplit<Tile>(gemm, args.batch, device)),
        slots(ResidentBlocks<Tile>(device)) {}

  Gemm<typename Tile::Types> gemm;
  MatrixCount count_a, count_b;
  SplitPlan split;
  int64_t slots;
};

// Returns whether these kernels take such a call and were built for such a device.
template <typename Tile>
bool TmaTakes(const TmaPlan<Tile>& plan, const MatMulArgs& args) {
  if (plan.gemm.k == 0 || !HasQuarterMaps(args.A<float>(), plan.count_a) ||
      !HasQuarterMaps(args.B<float>(), plan.count_b)) {
    return false;
  }
  constexpr auto kKMajor = OperandLayout::kKMajor;  // Any: all are compiled alike.
  return IsCompiledForSm90(reinterpret_cast<const void*>(TmaTiles<Tile, kKMajor, kKMajor>));
}

template <typename Tile>
int64_t TmaWorkspaceBytes(const MatMulArgs& args, const MatMulFunctions& fallback) {
  const TmaPlan<Tile> plan(args, DeviceOf(args));
  return TmaTakes(plan, args) ? plan.split.WorkspaceBytes() : fallback.workspace_bytes(args);
}

template <typename Tile>
LaunchStatus LaunchTma(const MatMulArgs& args, const MatMulFunctions& fallback) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const DeviceModel device = DeviceOf(args);
  TmaPlan<Tile> plan(args, device);
  if (!TmaTakes(plan, args)) return fallback.run(args);
  TmaClusters clusters;
  if (args.workspace_bytes < plan.split.WorkspaceBytes()) {
    plan.split.SplitNothing();
    clusters = PlanTmaClusters(plan.split.all_tiles, plan.split.steps_per_tile,
                               kTmaClusterCost * Tile::kSplitCost, device.multiprocessors);
  }
  const StreamKSchedule schedule = plan.split.ScheduleIn(args.workspace);
  RETURN_IF_ERROR(ForLayouts(args, [&](auto layout_a, auto layout_b) -> LaunchStatus {
    const auto maps = [](const ConstMatrix<float>& matrix, const MatrixCount& count,
                         OperandLayout layout, uint32_t mn) {
      const bool k_major = layout == OperandLayout::kKMajor;
      return QuarterMapsOf(matrix, count, k_major ? mn : Tile::kBlockK,
                           k_major ? Tile::kBlockK : mn,
                           k_major ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_NONE);
    };
    TmaOperands operands = {};
    operands.a_differ = plan.count_a.count > 1;
    operands.b_differ = plan.count_b.count > 1;
    ASSIGN_OR_RETURN(operands.a, maps(args.A<float>(), plan.count_a, layout_a(), Tile::kBlockM));
    ASSIGN_OR_RETURN(operands.b, maps(args.B<float>(), plan.count_b, layout_b(), Tile::kBlockN));
    constexpr Block kBlock = {Tile::kThreads};
    if (clusters.blocks > 1) {
      const int64_t count = std::min(plan.split.all_tiles, clusters.clusters);
      return LaunchClusters(
          static_cast<int>(clusters.blocks), TmaClusterTiles<Tile, layout_a(), layout_b()>,
          Grid{count * clusters.blocks}, kBlock, Tile::kSharedBytes, args.stream, operands,
          plan.gemm, schedule, static_cast<uint32_t>(plan.split.all_tiles),
          static_cast<uint32_t>(clusters.blocks));
    }
    const int64_t whole_tiles = plan.split.WholeTiles();
    const int64_t blocks = std::max(std::min(whole_tiles, plan.slots), plan.split.units);
    return Launch(TmaTiles<Tile, layout_a(), layout_b()>, Grid{blocks}, kBlock, Tile::kSharedBytes,
                  args.stream, operands, plan.gemm, schedule, static_cast<uint32_t>(whole_tiles));
  }));
  return LaunchFixup<Tile>(plan.gemm, plan.split, schedule, args.stream);
}

}  // namespace
}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TMA_TILE_H_
