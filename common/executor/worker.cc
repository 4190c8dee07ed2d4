#include "common/executor/worker.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include "common/base/status_macros.h"
#include "common/verify/fill.h"

namespace stridewise::executor {
namespace {

// Returns 0 ... count - 1 in a random order, or ascending for seed 0.
template <typename Order>
void Permute(uint64_t seed, Order* order) {
  std::iota(order->begin(), order->end(), 0);
  if (seed == 0) return;
  for (size_t i = order->size(); i > 1; --i) {
    std::swap((*order)[i - 1], (*order)[Mix64(seed + i) % i]);
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Worker>> Worker::Create() {
  std::unique_ptr<Worker> worker(new Worker());
  RETURN_IF_ERROR(worker->ReserveShared(kMaxClusterBlocks));
  constexpr int kMaxBlockLanes = 1024;
  RETURN_IF_ERROR(worker->ReserveLanes(kMaxBlockLanes));
  return worker;
}

absl::Status Worker::Reserve(const LaunchContext& context) {
  RETURN_IF_ERROR(ReserveShared(context.resident_blocks));
  return ReserveLanes(static_cast<int>(context.thread_stride * context.resident_blocks));
}

absl::Status Worker::ReserveShared(uint32_t blocks) {
  const uint32_t bytes = blocks * kSharedArenaBytes;
  if (bytes <= shared_size_) return absl::OkStatus();
  auto memory = LazyPages::Map(bytes);
  auto written = LazyPages::Map(bytes);
  auto cells = LazyPages::Map(bytes * sizeof(Cell));
  if (memory == nullptr || written == nullptr || cells == nullptr) {
    return absl::ResourceExhaustedError("no room for the shared memory of blocks");
  }
  shared_memory_ = std::move(memory);
  shared_written_ = std::move(written);
  shared_cells_ = std::move(cells);
  shared_ = reinterpret_cast<uintptr_t>(shared_memory_->As<void>());
  shared_size_ = bytes;
  return absl::OkStatus();
}

absl::Status Worker::ReserveLanes(int lanes) {
  if (static_cast<size_t>(lanes) <= lanes_.size()) return absl::OkStatus();
  ASSIGN_OR_RETURN(stacks_, FiberStacks::Create(lanes));
  lanes_ = std::vector<Lane>(static_cast<size_t>(lanes));
  warps_ = std::vector<Warp>(static_cast<size_t>((lanes + kWarpLanes - 1) / kWarpLanes));
  for (int i = 0; i < lanes; ++i) {
    Lane& lane = lanes_[i];
    lane.worker = this;
    lane.index = i;
    lane.stack_bottom = stacks_->Bottom(i);
  }
  return absl::OkStatus();
}

void Worker::BeginLaunch(LaunchContext* context) {
  context_ = context;
  memory_ = context->memory;
  max_steps_ = context->options->max_steps;
  check_ = context->options->check;
  profile_events_ = context->options->profile;
  one_core_ = context->one_core;
  exact_ = context->exact;
  profile_ = Profile();
  accesses_ = AccessRecord();
  findings_.clear();
  variables_.clear();
  recent_ = {};
  shared_end_ = 0;
  global_exact_.Clear();
  publications_.BeginLaunch(context->thread_stride);
  clock_ = grid_clock_ = context->first_clock;
  blocks_ = std::vector<RunningBlock>(context->resident_blocks);
  block_lanes_ = static_cast<int>(context->thread_stride);
  lane_count_ = block_lanes_ * static_cast<int>(context->resident_blocks);
  cluster_lanes_ = block_lanes_ * static_cast<int>(context->cluster_blocks);
  warp_count_ = (lane_count_ + kWarpLanes - 1) / kWarpLanes;
  for (int i = 0; i < lane_count_; ++i) {
    const SimtIndex& dim = context->block;
    const unsigned u = i % block_lanes_;
    Lane& lane = lanes_[i];
    lane.thread = {u % dim.x, u / dim.x % dim.y, u / dim.x / dim.y};
    lane.rank = i / block_lanes_;
    lane.arena = static_cast<uint32_t>(lane.rank) * kSharedArenaBytes;
    lane.now.block_threads = context->block_threads;
    lane.now.cluster_threads = static_cast<uint32_t>(cluster_lanes_);
  }
  for (int i = 0; i < warp_count_; ++i) {
    const int first = i * kWarpLanes;
    warps_[i].first = first;
    warps_[i].rank = first / block_lanes_;
    warps_[i].lanes =
        std::min(kWarpLanes, static_cast<int>(context->block_threads) - first % block_lanes_);
    warps_[i].trace = WarpTrace();
    for (int l = 0; l < warps_[i].lanes; ++l) {
      lanes_[warps_[i].first + l].path.Begin(&warps_[i].trace, l);
    }
  }
  const uint64_t seed = context->options->schedule_seed;
  Permute(seed, &lane_order_);
  warp_order_.resize(warp_count_);
  Permute(seed == 0 ? 0 : Mix64(seed), &warp_order_);
}

size_t Worker::shared_bytes() const {
  size_t bytes = 0;
  for (const Variable& variable : variables_) bytes += variable.bytes;
  return bytes;
}

bool Worker::RunCluster(uint64_t cluster) {
  cluster_clock_ = ++clock_;
  BeginBlocks(cluster);
  const auto first_thread = static_cast<uint32_t>(cluster * static_cast<uint64_t>(lane_count_));
  for (int i = 0; i < lane_count_; ++i) BeginLane(i, first_thread);
  for (int i = 0; i < warp_count_; ++i) {
    warps_[i].divergent = false;
    warps_[i].known_in_use = false;
  }
  profile_.warps += warp_count_;

  do {
    do {
      for (const int warp : warp_order_) {
        if (!RunWarp(&warps_[warp])) return false;
      }
    } while (ReleaseBlocked());
  } while (context_->stop == Stop::kNo && (ReleaseBarriers() || ReleaseGridBarrier()));
  if (check_) {
    CheckWgmmaIsDone();
    CheckRegisters();
    CheckBulkCopiesAreDone();
    CheckBlocksOutliveAccesses();
  }
  for (int i = 0; i < warp_count_; ++i) profile_.divergent_warps += warps_[i].divergent;
  return context_->stop == Stop::kNo;
}

void Worker::BeginBlocks(uint64_t cluster) {
  for (size_t rank = 0; rank < blocks_.size(); ++rank) {
    RunningBlock& block = blocks_[rank];
    block.index = context_->BlockAt(cluster * blocks_.size() + rank);
    const std::optional<Extent3>& wanted = context_->options->record_block;
    block.recorded = context_->options->record_every_block ||
                     (wanted && wanted->x == block.index.x && wanted->y == block.index.y &&
                      wanted->z == block.index.z);
    block.barriers_passed = 0;
    block.named_barriers.fill(Mbarrier());
    const size_t arena = rank * kSharedArenaBytes;
    // NaN: uninitialised.
    std::memset(shared_memory_->As<uint8_t>() + arena, 0xff, shared_end_);
    std::memset(shared_written_->As<uint8_t>() + arena, 0, shared_end_);
  }
  shared_exact_.Clear();
  publications_.BeginCluster();
  async_reads_.Clear();
  bulk_loads_.clear();
  mbarriers_.clear();
  mbarrier_inits_.clear();
  cluster_barrier_ = Mbarrier(context_->block_threads * context_->cluster_blocks);
  remote_accesses_.clear();
  fruitless_waits_ = 0;
}

void Worker::BeginLane(int i, uint32_t first_thread) {
  Lane& lane = lanes_[i];
  const bool exists = i % block_lanes_ < static_cast<int>(context_->block_threads);
  lane.state = exists ? LaneState::kReady : LaneState::kDone;
  lane.left_cluster = !exists;
  lane.cluster_arrivals.clear();
  lane.cluster_passed = 0;
  lane.mbarrier_init_fenced = false;
  lane.steps = 0;
  lane.instruction = nullptr;
  lane.volatile_access = false;
  lane.async_copies.clear();
  lane.async_group = 0;
  lane.wgmma_fenced = false;
  lane.wgmma_groups = lane.wgmma_last = 0;
  lane.wgmma_pc = 0;
  lane.wgmma_ends.clear();
  lane.accumulators.Clear();
  lane.max_registers = lane.register_changes = 0;
  lane.registers_pc = 0;
  lane.bulk_groups = lane.bulk_last = 0;
  lane.bulk_pc = 0;
  lane.bulk_ends.clear();
  lane.proxy_fence_clock = 0;
  lane.fenced = Present();
  lane.init_fence_clock = 0;
  lane.now.thread = first_thread + i;
  lane.now.cluster_first = first_thread + static_cast<uint32_t>(i - IndexInCluster(i));
  lane.now.block_first = first_thread + static_cast<uint32_t>(lane.rank * block_lanes_);
  lane.now.clock = lane.now.barrier_clock = clock_;
  lane.now.known = nullptr;
  lane.now.acquired = nullptr;
  if (!exists) return;
  lane.fiber.Start(
      stacks_->Top(i), stacks_->UsableBytes(i),
      [](void* argument) {
        Lane* lane = static_cast<Lane*>(argument);
        const KernelCall* call = lane->worker->context_->call;
        call->run(call->arguments);
        lane->state = LaneState::kDone;
        lane->fiber.Suspend();
      },
      &lane);
}

}  // namespace stridewise::executor
