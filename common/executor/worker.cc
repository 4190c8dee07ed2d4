#include "common/executor/worker.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/status_macros.h"
#include "common/executor/reconvergence.h"
#include "common/verify/fill.h"

namespace stridewise::executor {
namespace {

constexpr size_t kMaxEvents = size_t{1} << 24;

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

void LaunchContext::RequestFinerCells(Region* region, int granule_log2) {
  const std::lock_guard<std::mutex> lock(mutex_);
  requests_.emplace_back(region, granule_log2);
}

void LaunchContext::RequestLoads(Region* region) {
  const std::lock_guard<std::mutex> lock(mutex_);
  updated_.push_back(region);
}

void LaunchContext::ApplyRequests(int* shared_granule_log2) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [region, log2] : requests_) {
    int* granule = region == nullptr ? shared_granule_log2 : &region->granule_log2;
    *granule = std::min(*granule, log2);
  }
  requests_.clear();
  for (Region* region : updated_) region->updated = true;
  updated_.clear();
}

void LaunchContext::SetGeometry(const SimtIndex& grid_dim, const SimtIndex& block_dim,
                                const SimtIndex& cluster_dim, bool is_cooperative) {
  grid = grid_dim;
  block = block_dim;
  cluster = cluster_dim;
  block_threads = block.x * block.y * block.z;
  cluster_blocks = cluster.x * cluster.y * cluster.z;
  cooperative = is_cooperative;
  resident_blocks = cooperative ? grid.x * grid.y * grid.z : cluster_blocks;
  thread_stride = resident_blocks == 1 ? block_threads
                                       : (block_threads + kWarpLanes - 1) / kWarpLanes * kWarpLanes;
}

SimtIndex LaunchContext::BlockAt(uint64_t number) const {
  const uint64_t of = number / cluster_blocks;
  const auto rank = static_cast<unsigned>(number % cluster_blocks);
  const unsigned cols = grid.x / cluster.x;
  const unsigned rows = grid.y / cluster.y;
  return {static_cast<unsigned>(of % cols) * cluster.x + rank % cluster.x,
          static_cast<unsigned>(of / cols % rows) * cluster.y + rank / cluster.x % cluster.y,
          static_cast<unsigned>(of / cols / rows) * cluster.z + rank / cluster.x / cluster.y};
}

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

  const auto first_thread = static_cast<uint32_t>(cluster * static_cast<uint64_t>(lane_count_));
  for (int i = 0; i < lane_count_; ++i) {
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
    if (!exists) continue;
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

// Runs a warp until every lane waits for lanes of other warps or is done. Returns false if the
// launch is to stop.
bool Worker::RunWarp(Warp* warp) {
  for (;;) {
    for (const int i : lane_order_) {
      if (i >= warp->lanes) continue;
      Lane* lane = &lanes_[warp->first + i];
      if (lane->state != LaneState::kReady) continue;
      Resume(lane);
      if (context_->stop != Stop::kNo) return false;
    }
    bool trace_full = false;
    bool at_sync = false;
    bool blocked = false;
    for (int i = 0; i < warp->lanes; ++i) {
      trace_full |= lanes_[warp->first + i].state == LaneState::kTraceFull;
      at_sync |= lanes_[warp->first + i].state == LaneState::kAtWarpSync;
      blocked |= lanes_[warp->first + i].state == LaneState::kBlocked ||
                 lanes_[warp->first + i].state == LaneState::kAtWarpgroup;
    }
    if (trace_full) {
      ReleaseTraceFull(warp);
    } else if (!at_sync) {
      // Blocked lanes may still come to what the others have executed.
      if (!blocked) Replay(warp);
      return true;
    } else if (!ReleaseWarpSync(warp)) {
      if (blocked) return true;
      for (int i = 0; i < warp->lanes; ++i) {
        const Lane& lane = lanes_[warp->first + i];
        if (lane.state != LaneState::kAtWarpSync) continue;
        if (!context_->exact) {
          context_->stop = Stop::kExactly;
        } else {
          Report(Check::kBarrierDivergence, &lane, false, lane.wait_pc,
                 absl::StrFormat("a warp synchronisation with mask %#x waits for lanes that do not "
                                 "come to it",
                                 lane.wait_mask));
          context_->stop = Stop::kFindings;
        }
        return false;
      }
    }
  }
}

void Worker::Resume(Lane* lane) {
  running_lane = lane;
  lane->fiber.Resume();
  running_lane = nullptr;
}

void Worker::Wait(Lane& lane, LaneState state, uintptr_t pc) {
  lane.wait_pc = pc;
  lane.state = state;
  lane.fiber.Suspend();
}

void Worker::Leave(Lane& lane) {
  lane.fiber.Suspend();
  __builtin_unreachable();  // The next launch starts the fiber afresh.
}

void Worker::ReleaseTraceFull(Warp* warp) {
  bool together = true;
  for (int i = 0; i < warp->lanes; ++i) {
    const Lane& lane = lanes_[warp->first + i];
    // A lane that waits elsewhere has diverged from the others.
    together &= lane.state == LaneState::kTraceFull || lane.path.size() == 0;
  }
  together = together && (warp->trace.Together() || SamePath(warp->trace.Traces()));
  if (together) Replay(warp);
  for (int i = 0; i < warp->lanes; ++i) {
    Lane& lane = lanes_[warp->first + i];
    if (lane.state != LaneState::kTraceFull) continue;
    lane.state = LaneState::kReady;
    if (!together) lane.event_limit *= 2;
  }
}

// Replays the events since the last replay as the GPU would have issued them.
void Worker::Replay(Warp* warp) {
  const uint32_t active = warp->trace.Active();
  if (active == 0) return;
  if (warp->trace.Together()) {
    ReplayTogether(*warp, active);
  } else {
    const absl::Span<const LaneTrace> traces = warp->trace.Traces();
    const ReplaySummary summary = ReplayWarp(
        traces, [this, warp](Site site, uint32_t lanes, const uint64_t address[kWarpLanes]) {
          profile_.Count(site, lanes, address);
          if (blocks_[warp->rank].recorded) Record(*warp, site, lanes, address);
        });
    for (const LaneTrace& trace : traces) profile_.events += trace.count;
    profile_.divergent_branches += summary.divergent_branches;
    warp->divergent |= summary.divergent;
  }
  warp->trace.Clear();
  if (context_->cooperative) warp->trace.FreeMuchRoom();
}

// Replays a warp whose active lanes all have the same path: what ReplayWarp() finds there, sooner.
void Worker::ReplayTogether(const Warp& warp, uint32_t lanes) {
  const absl::Span<const Site> path = warp.trace.path();
  const uint64_t* from[kWarpLanes] = {};
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    from[__builtin_ctz(rest)] = warp.trace.addresses(__builtin_ctz(rest));
  }
  uint64_t address[kWarpLanes] = {};
  uint64_t blocks = 0;
  size_t accesses = 0;
  for (const Site site : path) {
    if (SiteKind(site) == EventKind::kBasicBlock) {
      ++blocks;
      continue;
    }
    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      address[__builtin_ctz(rest)] = from[__builtin_ctz(rest)][accesses];
    }
    ++accesses;
    profile_.Count(site, lanes, address);
    if (blocks_[warp.rank].recorded) Record(warp, site, lanes, address);
  }
  const uint64_t active = __builtin_popcount(lanes);
  profile_.issued_blocks += blocks;
  profile_.issued_block_lanes += blocks * active;
  profile_.events += path.size() * active;
}

void Worker::Record(const Warp& warp, Site site, uint32_t lanes,
                    const uint64_t address[kWarpLanes]) {
  if (SiteKind(site) == EventKind::kBasicBlock || lanes == 0) return;
  if (accesses_.requests.size() >= context_->options->max_recorded_requests) {
    ++accesses_.left_out;
    return;
  }
  AccessRequest request;
  request.site = site;
  const RunningBlock& block = blocks_[warp.rank];
  const SimtIndex& grid = context_->grid;
  request.block = (uint64_t{block.index.z} * grid.y + block.index.y) * grid.x + block.index.x;
  request.warp = warp.first % block_lanes_ / kWarpLanes;
  request.barriers = block.barriers_passed;
  request.lanes = lanes;
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if ((lanes >> lane & 1) != 0) request.offset[lane] = static_cast<int64_t>(address[lane]);
  }
  accesses_.requests.push_back(request);
}

bool Worker::ReleaseBarriers() {
  bool released = false;
  for (int rank = 0; rank < static_cast<int>(blocks_.size()); ++rank) {
    released |= ReleaseBarrier(rank);
    if (context_->stop != Stop::kNo) return false;
  }
  return released;
}

// Resumes the lanes of a block if all wait for its barrier or are done. Returns false when one
// waits elsewhere, all are done or the launch ends.
bool Worker::ReleaseBarrier(int rank) {
  const int first = rank * block_lanes_;
  const int end = first + static_cast<int>(context_->block_threads);
  const Lane* waiting = nullptr;
  const Lane* elsewhere = nullptr;
  const Lane* gone = nullptr;
  uint32_t latest = clock_;
  int predicates = 0;
  for (int i = first; i < end; ++i) {
    const Lane& lane = lanes_[i];
    if (lane.state != LaneState::kAtBarrier && lane.state != LaneState::kDone) return false;
    latest = std::max(latest, lane.now.clock);
    if (lane.state == LaneState::kDone) {
      if (gone == nullptr) gone = &lane;
      continue;
    }
    predicates += lane.predicate != 0;
    if (waiting == nullptr) waiting = &lane;
    if (lane.wait_pc != waiting->wait_pc && elsewhere == nullptr) elsewhere = &lane;
  }
  clock_ = latest + 1;
  if (waiting == nullptr) return false;
  if (elsewhere != nullptr || gone != nullptr) {
    if (!context_->exact) {
      context_->stop = Stop::kExactly;
      return false;
    }
    if (elsewhere != nullptr) {
      const Culprit other = CulpritOf(elsewhere->now.thread, elsewhere->wait_pc, false);
      Report(Check::kBarrierDivergence, waiting, false, waiting->wait_pc,
             "threads of one block wait at different barriers", &other);
    } else {
      Report(Check::kBarrierDivergence, waiting, false, waiting->wait_pc,
             absl::StrCat("waits at a barrier that thread (", gone->thread.x, ",", gone->thread.y,
                          ",", gone->thread.z, ") of the block left the kernel without"));
    }
    if (context_->stop != Stop::kNo) return false;
  }
  for (int i = first; i < end; ++i) lanes_[i].predicate = predicates;
  PassBarrier(rank);
  return true;
}

void Worker::PassBarrier(int rank) {
  const int first = rank * block_lanes_;
  const int end = first + static_cast<int>(context_->block_threads);
  if (context_->exact) publications_.Barrier(first);
  ++profile_.barriers;
  ++blocks_[rank].barriers_passed;
  if (context_->cluster_blocks > 1) JoinKnowledgeOfCluster(rank);
  for (int i = first; i < end; i += kWarpLanes) warps_[i / kWarpLanes].known_in_use = false;
  for (int i = first; i < end; ++i) {
    Lane& lane = lanes_[i];
    lane.now.clock = lane.now.barrier_clock = clock_;
    lane.now.known = nullptr;
    if (context_->cluster_blocks == 1) lane.now.acquired = nullptr;
    if (lane.state != LaneState::kDone) lane.state = LaneState::kReady;
  }
}

// Adds an event that the lane's path does not expect, once there is room for it.
void Worker::AddToPath(Lane& lane, Site site) {
  while (lane.path.size() >= lane.event_limit) {
    if (lane.event_limit >= kMaxEvents) {
      if (!context_->exact) Suspect(lane, Stop::kExactly);
      ReportFatal(
          Check::kRunaway, lane, false, SitePc(lane.path.site(lane.path.size() - 1)),
          absl::StrCat("more than ", kMaxEvents,
                       " steps without a synchronisation; does it wait for another block?"));
    }
    Wait(lane, LaneState::kTraceFull, 0);
  }
  lane.path.Add(site);
}

}  // namespace stridewise::executor
