// A warp that does nothing but bring tiles, and eight that do nothing but multiply them.
//
// In `stream_k` every thread also copies: 24 copies and their addresses for 4096 fma, and a barrier
// for all. Here one thread asks the TMA for a whole tile at a time (tensor_copy.h), barriers in
// shared memory say when a stage is full and when it is empty again, and nobody waits for anybody
// who does the same work. The four warps of the one that brings take 40 registers a thread and
// leave 224 to the others. Blocks stay: while a tile's sums are stored the next one's operands
// arrive, and a block's share of the cut tiles (shares.h) follows its whole tiles.
//
// What is left is the issue of instructions: 273 of them for 256 fma in the main loop, 93 % of all
// clocks. The four warps are the youngest and get what those that multiply leave, a clock in some
// 50: to have them turn A's tiles as well (100 instructions a stage) cost 4 %, so an operand that
// is stored along terms is turned before, by Transpose(): packing.h.

#include <algorithm>
#include <cstdint>

#include "common/base/status_macros.h"
#include "common/gpu/cuda_status.h"
#include "common/gpu/launch.h"
#include "common/gpu/occupancy.h"
#include "matmul/args.h"
#include "matmul/device/add_shares.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/packing.h"
#include "matmul/device/share_plan.h"
#include "matmul/device/shares.h"
#include "matmul/device/tensor_copy.h"
#include "matmul/device/tensor_map.h"
#include "matmul/device/tile_order.h"
#include "matmul/device/tile_store.h"

namespace stridewise {

absl::Status MatMulStreamK(const MatMulArgs& args);
int64_t MatMulStreamKWorkspaceBytes(const MatMulArgs& args);

namespace {

// Stages have no gaps: every row of A's and B's tile is read by lanes that are neighbours.
struct Tile : BlockTile<128, 256, 32, 64, 64, 4, 1> {
  static constexpr double kShareCost = 5;  // In steps; as stream_k.
  static constexpr int kTileOfB = kDepth * kRows;
  static constexpr int kStageFloats = kDepth * (kRows + kCols);
  static constexpr int kStageBytes = kStageFloats * static_cast<int>(sizeof(float));
};

constexpr int kBringers = 128;  // Threads, of which one works: registers are a warpgroup's.
constexpr int kThreads = Tile::kThreads + kBringers;
// 65536 registers are 168 for each of 384 threads; those that multiply could have 232 of them, and
// are 1 % slower: with more to choose from, ptxas moves fragments from register to register.
constexpr int kBringerRegisters = 40;
constexpr int kRegisters = 224;

struct Memory {
  float stages[Tile::kStages][Tile::kStageFloats];
  float out[Tile::kOutFloats];    // Of StoreTile().
  Mbarrier full[Tile::kStages];   // One arrives, and the bytes.
  Mbarrier empty[Tile::kStages];  // Each warp that multiplies.
};
static_assert(sizeof(Memory) <= 227 * 1024, "more shared memory than there is");

// A stage, for one who uses them in turn, and the parity of its phase.
struct Turn {
  int stage = 0;
  uint32_t parity = 0;

  __device__ void Next() {
    if (++stage < Tile::kStages) return;
    stage = 0;
    parity ^= 1;
  }
};

// The block's work number `i`: whole tiles first, then its share of those that are cut.
__device__ inline bool FindWork(const Shares& shares, uint32_t whole_tiles, uint32_t i,
                                Work* work) {
  const uint32_t rounds =
      blockIdx.x < whole_tiles ? (whole_tiles - 1 - blockIdx.x) / gridDim.x + 1 : 0;
  if (i < rounds) {
    *work = {shares.cut_tiles + blockIdx.x + i * gridDim.x, 0, shares.units_of_tile};
    return true;
  }
  return blockIdx.x < shares.sharers && FindShare(shares, blockIdx.x, i - rounds, work);
}

__device__ inline void Bring(const CUtensorMap& a, const CUtensorMap& b, const Shares& shares,
                             uint32_t whole_tiles, const TileOrder<Tile>& order, Memory& memory) {
  Turn turn;
  Work work;
#pragma unroll 1
  for (uint32_t i = 0; FindWork(shares, whole_tiles, i, &work); ++i) {
    const TilePlace place = order.Place(work.tile);
    int term = static_cast<int>(work.first_unit) * Tile::kDepth;
#pragma unroll 1
    for (uint32_t unit = 0; unit < work.units; ++unit) {
      float* const stage = memory.stages[turn.stage];
      Mbarrier& full = memory.full[turn.stage];
      memory.empty[turn.stage].Wait(turn.parity ^ 1);
      full.ArriveExpecting(Tile::kStageBytes);
      CopyBox(a, static_cast<int>(place.first_row), term, stage, full);
      CopyBox(b, static_cast<int>(place.first_col), term, stage + Tile::kTileOfB, full);
      term += Tile::kDepth;
      turn.Next();
    }
  }
}

// As Fragment::Load(), from addresses in shared memory.
__device__ inline void Load(uint32_t a, uint32_t b, Fragment<Tile>& fragment) {
  constexpr int kRowStep = kLaneRows * static_cast<int>(sizeof(float));
  constexpr int kColStep = kLaneCols * static_cast<int>(sizeof(float));
#pragma unroll
  for (int i = 0; i < Tile::kThreadRows; i += kVector) {
    LoadSharedVector(a + i * kRowStep, &fragment.a[i]);
  }
#pragma unroll
  for (int i = 0; i < Tile::kThreadCols; i += kVector) {
    LoadSharedVector(b + i * kColStep, &fragment.b[i]);
  }
}

// As AddProduct() of tile_product.h, from stages that others fill.
__device__ inline void AddBrought(uint32_t steps, uint32_t a_first, uint32_t b_first, Turn& turn,
                                  Memory& memory, Sums<Tile>& sums) {
  constexpr int kPitchA = Tile::kRows * static_cast<int>(sizeof(float));
  constexpr int kPitchB = Tile::kCols * static_cast<int>(sizeof(float));
  Fragment<Tile> even;
  Fragment<Tile> odd;
  memory.full[turn.stage].Wait(turn.parity);
  uint32_t a = a_first + turn.stage * Tile::kStageBytes;
  uint32_t b = b_first + turn.stage * Tile::kStageBytes;
  Load(a, b, even);
#pragma unroll 1
  for (uint32_t step = 0; step < steps; ++step) {
    const uint32_t last = a + (Tile::kDepth - 2) * kPitchA;
#pragma unroll 1
    do {
      Load(a + kPitchA, b + kPitchB, odd);
      sums.Add(even);
      Load(a + 2 * kPitchA, b + 2 * kPitchB, even);
      sums.Add(odd);
      a += 2 * kPitchA;
      b += 2 * kPitchB;
    } while (a != last);
    Load(a + kPitchA, b + kPitchB, odd);
    sums.Add(even);
    // The stage's last term is in registers.
    __syncwarp();
    if (threadIdx.x % kWarpSize == 0) memory.empty[turn.stage].Arrive();
    turn.Next();
    // After the last step the same stage again: there must be something to read.
    if (step + 1 < steps) {
      memory.full[turn.stage].Wait(turn.parity);
      a = a_first + turn.stage * Tile::kStageBytes;
      b = b_first + turn.stage * Tile::kStageBytes;
    }
    Load(a, b, even);
    sums.Add(odd);
  }
}

__global__ void __launch_bounds__(kThreads, 1)
    WarpSpecialized(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                    Gemm gemm, Shares shares, uint32_t whole_tiles) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ __align__(1024) char shared[];
  Memory& memory = *reinterpret_cast<Memory*>(shared);
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    for (int i = 0; i < Tile::kStages; ++i) {
      memory.full[i].Init(1);
      memory.empty[i].Init(Tile::kThreads / kWarpSize);
    }
    Mbarrier::InitDone();
  }
  __syncthreads();
  const TileOrder<Tile> order(gemm.c);

  if (thread >= Tile::kThreads) {
    GiveRegistersDownTo<kBringerRegisters>();
    if (thread == Tile::kThreads) Bring(a, b, shares, whole_tiles, order, memory);
    return;
  }
  TakeRegistersUpTo<kRegisters>();
  const ThreadPlace<Tile> place(thread);
  const auto a_first = SharedAddress(&memory.stages[0][place.warp_row + place.lane_row * kVector]);
  const auto b_first =
      SharedAddress(&memory.stages[0][Tile::kTileOfB + place.warp_col + place.lane_col * kVector]);
  Turn turn;
  Work work;
#pragma unroll 1
  for (uint32_t i = 0; FindWork(shares, whole_tiles, i, &work); ++i) {
    Sums<Tile> sums;
    sums.Clear();
    AddBrought(work.units, a_first, b_first, turn, memory, sums);
    if (work.units == shares.units_of_tile) {
      const TilePlace tile = order.Place(work.tile);
      StoreTile(sums, gemm.scale, memory.out, gemm.c, tile.first_row, tile.first_col, thread);
    } else {
      StorePartialSums(shares, work.tile, blockIdx.x, memory.out, thread, sums);
    }
  }
#endif
}

// Everything that the launch needs and the arguments say.
struct Plan {
  explicit Plan(const MatMulArgs& args)
      : gemm(GemmOf(args)),
        a(args.A<float>(), !args.a.transposed),
        b(args.B<float>(), args.b.transposed) {}

  int64_t WorkspaceBytes() const { return a.Bytes() + b.Bytes() + shares.WorkspaceBytes(); }

  Gemm gemm;
  Packing a;
  Packing b;
  SharePlan shares;
};

// Whether this kernel is for such a call, on the current device.
absl::StatusOr<bool> IsFor(const Plan& plan, const MatMulArgs& args) {
  const bool fits = args.batch == 1 && plan.gemm.depth > 0 &&
                    HasTensorMap({nullptr, plan.gemm.depth, args.m, kVector}) &&
                    HasTensorMap({nullptr, plan.gemm.depth, args.n, kVector});
  // Packing takes 2 ps an element, and the product of so many of them 7 % less than stream_k's.
  constexpr double kProductsOfElement = 900;
  const double products =
      static_cast<double>(args.m) * static_cast<double>(args.n) * static_cast<double>(args.k);
  if (!fits || kProductsOfElement * (plan.a.Elements() + plan.b.Elements()) > products) {
    return false;
  }
  // Built for a family of GPUs, without setmaxnreg, it would keep its sums in memory; built for
  // older ones it is empty.
  cudaFuncAttributes attributes;
  RETURN_IF_CUDA_ERROR(cudaFuncGetAttributes(&attributes, WarpSpecialized));
  return attributes.ptxVersion >= 90 && attributes.localSizeBytes == 0;
}

absl::StatusOr<SharePlan> SharesOf(const Gemm& gemm) {
  ASSIGN_OR_RETURN(const int64_t slots,
                   ResidentBlocks(WarpSpecialized, Block{kThreads}, sizeof(Memory)));
  return PlanShares(TileCount<Tile>(gemm.c), 1, CeilDiv(gemm.depth, Tile::kDepth),
                    int64_t{Tile::kRows} * Tile::kCols * static_cast<int64_t>(sizeof(float)), slots,
                    Tile::kShareCost);
}

}  // namespace

int64_t MatMulWarpSpecializedWorkspaceBytes(const MatMulArgs& args) {
  const int64_t otherwise = MatMulStreamKWorkspaceBytes(args);
  Plan plan(args);
  const absl::StatusOr<bool> is_for = IsFor(plan, args);
  const absl::StatusOr<SharePlan> shares = SharesOf(plan.gemm);
  if (!is_for.ok() || !*is_for || !shares.ok()) return otherwise;
  plan.shares = *shares;
  return std::max(plan.WorkspaceBytes(), otherwise);
}

// What it does not take, and what there is no workspace for, is stream_k's.
absl::Status MatMulWarpSpecialized(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0) return absl::OkStatus();
  Plan plan(args);
  ASSIGN_OR_RETURN(const bool is_for, IsFor(plan, args));
  if (!is_for || args.workspace_bytes < plan.WorkspaceBytes()) return MatMulStreamK(args);
  ASSIGN_OR_RETURN(plan.shares, SharesOf(plan.gemm));
  if (args.workspace_bytes < plan.WorkspaceBytes()) plan.shares.ShareNothing();

  auto* const packed_a = static_cast<char*>(args.workspace);
  char* const packed_b = packed_a + plan.a.Bytes();
  const Shares shares = plan.shares.WithWorkspace(packed_b + plan.b.Bytes());
  RETURN_IF_ERROR(plan.a.Launch(packed_a, args.stream));
  RETURN_IF_ERROR(plan.b.Launch(packed_b, args.stream));
  ASSIGN_OR_RETURN(const CUtensorMap a,
                   TensorMapOf(plan.a.Packed(packed_a), Tile::kDepth, Tile::kRows));
  ASSIGN_OR_RETURN(const CUtensorMap b,
                   TensorMapOf(plan.b.Packed(packed_b), Tile::kDepth, Tile::kCols));
  ASSIGN_OR_RETURN(const int64_t slots,
                   ResidentBlocks(WarpSpecialized, Block{kThreads}, sizeof(Memory)));
  const int64_t whole_tiles = plan.shares.WholeTiles();
  const int64_t blocks = std::max(std::min(whole_tiles, slots), plan.shares.sharers);
  RETURN_IF_ERROR(Launch(WarpSpecialized, Grid{blocks}, Block{kThreads}, sizeof(Memory),
                         args.stream, a, b, plan.gemm, shares, static_cast<uint32_t>(whole_tiles)));
  return LaunchAddShares<Tile>(plan.gemm, plan.shares, shares, args.stream);
}

}  // namespace stridewise
