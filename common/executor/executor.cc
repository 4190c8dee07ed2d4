#include "common/executor/executor.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/executor/device_memory.h"
#include "common/executor/symbolizer.h"
#include "common/executor/trace.h"
#include "common/executor/worker.h"

namespace stridewise::executor {
namespace {

// Each block takes at least two ticks of a 31-bit clock, so there is a limit; far below it the
// shadow memory is cleared between launches.
constexpr uint64_t kMaxBlocks = uint64_t{1} << 28;
constexpr uint32_t kClockToWipeAt = uint32_t{1} << 29;

// For grids with fewer threads, starting other cores costs more time than they save.
constexpr uint64_t kThreadsWorthACore = 1 << 13;
// The number of blocks that a worker takes at a time.
constexpr uint64_t kBlocksPerTurn = 4;

SimtIndex ToIndex(const Extent3& extent) {
  return {static_cast<unsigned>(extent.x), static_cast<unsigned>(extent.y),
          static_cast<unsigned>(extent.z)};
}

// All blocks of a cooperative launch have fibers and shared memory at the same time.
absl::Status CheckCooperative(const LaunchContext& context) {
  if (context.cluster_blocks > 1) {
    return absl::InvalidArgumentError("the host executor has no cooperative launches of clusters");
  }
  const uint64_t threads = uint64_t{context.resident_blocks} * context.thread_stride;
  if (context.resident_blocks <= Worker::kMaxResidentBlocks &&
      threads <= Worker::kMaxResidentThreads) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("a cooperative launch of ", context.resident_blocks, " blocks and ", threads,
                   " threads; the host executor runs at most ", Worker::kMaxResidentBlocks,
                   " blocks and ", Worker::kMaxResidentThreads, " threads at the same time"));
}

absl::Status CheckCluster(const Grid& cluster, const Grid& grid) {
  const int64_t blocks = cluster.x * cluster.y * cluster.z;
  const bool positive = cluster.x > 0 && cluster.y > 0 && cluster.z > 0;
  if (positive && blocks <= Worker::kMaxClusterBlocks && grid.x % cluster.x == 0 &&
      grid.y % cluster.y == 0 && grid.z % cluster.z == 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "clusters of ", cluster.x, "x", cluster.y, "x", cluster.z, " blocks in a grid of ", grid.x,
      "x", grid.y, "x", grid.z, "; a cluster has 1 to ", Worker::kMaxClusterBlocks,
      " blocks, and the grid is a multiple of it"));
}

// The order of clusters: 0 ... count - 1, or from any block on in strides coprime to the count.
class BlockOrder {
 public:
  BlockOrder(uint64_t count, uint64_t seed) : count_(count) {
    if (seed == 0) return;
    first_ = seed % count;
    stride_ = std::max<uint64_t>(1, (seed * 7919 + count / 3) % count);
    while (Gcd(stride_, count) != 1) ++stride_;
  }
  uint64_t operator()(uint64_t i) const { return (first_ + i * stride_) % count_; }

 private:
  static uint64_t Gcd(uint64_t a, uint64_t b) { return b == 0 ? a : Gcd(b, a % b); }
  uint64_t count_;
  uint64_t first_ = 0;
  uint64_t stride_ = 1;
};

// Replaces the addresses of global requests by buffers and offsets in them.
void FindBuffers(const DeviceMemory& memory, AccessRecord* record) {
  std::map<const Region*, int> numbers;
  for (AccessRequest& request : record->requests) {
    if (IsShared(SiteKind(request.site))) continue;
    const auto first = static_cast<uintptr_t>(request.offset[__builtin_ctz(request.lanes)]);
    const Region* region = memory.Find(first);
    if (region == nullptr) region = memory.Nearest(first);  // An access that is a finding.
    if (region == nullptr) continue;
    const auto [found, is_new] = numbers.emplace(region, static_cast<int>(record->buffers.size()));
    if (is_new) record->buffers.push_back({region->name, region->bytes});
    request.buffer = found->second;
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      if ((request.lanes >> lane & 1) == 0) continue;
      request.offset[lane] -= static_cast<int64_t>(region->base);
    }
  }
}

}  // namespace

struct Executor::State {
  ExecutorOptions options;
  std::unique_ptr<DeviceMemory> memory;
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<LaunchReport> launches;
  uint32_t clock = 1;
  int shared_granule_log2 = 2;

  void WipeShadows() {
    for (const auto& region : memory->regions()) region->cell_pages->Clear();
    for (const auto& worker : workers) worker->WipeShadow();
    clock = 1;
  }

  // Runs all clusters, or in a cooperative launch the grid as one, on `cores` workers;
  // context->stop then tells how the launch ended.
  void RunClusters(LaunchContext* context, uint64_t clusters, int cores) {
    context->first_clock = clock;
    context->shared_granule_log2 = shared_granule_log2;
    context->one_core = cores == 1;
    context->stop = Stop::kNo;
    context->printed.clear();
    for (const auto& region : memory->regions()) region->BeginLaunch();
    const BlockOrder order(clusters, options.schedule_seed);
    std::atomic<uint64_t> next{0};
    const SimtIndex& grid = context->grid;
    const auto wanted = [&](uint64_t cluster) {
      bool any = options.only == nullptr;
      for (uint32_t rank = 0; rank < context->resident_blocks && !any; ++rank) {
        const SimtIndex at = context->BlockAt(cluster * context->resident_blocks + rank);
        any = options.only({at.x, at.y, at.z}, {grid.x, grid.y, grid.z});
      }
      return any;
    };
    const auto work = [&](Worker* worker) {
      for (;;) {
        const uint64_t first = next.fetch_add(kBlocksPerTurn);
        for (uint64_t i = first; i < std::min(first + kBlocksPerTurn, clusters); ++i) {
          const uint64_t cluster = order(i);
          if (!wanted(cluster)) continue;
          if (context->stop != Stop::kNo || !worker->RunCluster(cluster)) return;
        }
        if (first >= clusters) return;
      }
    };
    for (int i = 0; i < cores; ++i) workers[i]->BeginLaunch(context);
    std::vector<std::thread> threads;
    for (int i = 1; i < cores; ++i) threads.emplace_back(work, workers[i].get());
    work(workers[0].get());
    for (std::thread& thread : threads) thread.join();
    for (int i = 0; i < cores; ++i) clock = std::max(clock, workers[i]->clock() + 1);
    context->ApplyRequests(&shared_granule_log2);
  }
};

Buffer& Buffer::operator=(Buffer&& other) noexcept {
  std::swap(executor_, other.executor_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

Buffer::~Buffer() {
  if (data_ == nullptr) return;
  DeviceMemory& memory = *executor_->state_->memory;
  memory.Free(memory.Find(reinterpret_cast<uintptr_t>(data_)));
}

void Buffer::Upload(const void* from) {
  if (data_ == nullptr) return;
  std::memcpy(data_, from, bytes_);
  executor_->state_->memory->Find(reinterpret_cast<uintptr_t>(data_))->initialised = true;
}

void Buffer::Poison(const void* from) {
  if (data_ == nullptr) return;
  std::memcpy(data_, from, bytes_);
  Region* region = executor_->state_->memory->Find(reinterpret_cast<uintptr_t>(data_));
  region->initialised = false;
  region->written_pages->Clear();
}

void Buffer::Download(void* to) const {
  if (data_ != nullptr) std::memcpy(to, data_, bytes_);
}

void Buffer::MakeReadOnly() {
  if (data_ == nullptr) return;
  executor_->state_->memory->Find(reinterpret_cast<uintptr_t>(data_))->read_only = true;
}

Executor::Executor(std::unique_ptr<State> state) : state_(std::move(state)) {}
Executor::~Executor() = default;

absl::StatusOr<std::unique_ptr<Executor>> Executor::Create(const ExecutorOptions& options) {
  auto state = std::make_unique<State>();
  state->options = options;
  if (options.threads == 0) {
    state->options.threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  }
  ASSIGN_OR_RETURN(state->memory, DeviceMemory::Create());
  ASSIGN_OR_RETURN(std::unique_ptr<Worker> first, Worker::Create());
  state->workers.push_back(std::move(first));
  return std::unique_ptr<Executor>(new Executor(std::move(state)));
}

absl::StatusOr<Buffer> Executor::Allocate(absl::string_view name, size_t bytes) {
  Buffer buffer;
  buffer.executor_ = this;
  buffer.bytes_ = bytes;
  if (bytes == 0) return buffer;
  ASSIGN_OR_RETURN(const Region* region, state_->memory->Allocate(name, bytes));
  buffer.data_ = reinterpret_cast<void*>(region->base);
  return buffer;
}

DeviceMemory& Executor::memory() { return *state_->memory; }

cudaStream_t Executor::stream() { return reinterpret_cast<cudaStream_t>(this); }

LaunchStatus RunOnExecutorOf(cudaStream_t stream, const KernelCall& call, const Grid& grid,
                             const Block& block, size_t shared_bytes, const Grid& cluster) {
  return reinterpret_cast<Executor*>(stream)->Run(call, grid, block, shared_bytes, cluster);
}

absl::Status Executor::Run(const KernelCall& call, const Grid& grid, const Block& block,
                           size_t dynamic_shared_bytes, const Grid& cluster) {
  RETURN_IF_ERROR(CheckLaunchGeometry(grid, block));
  RETURN_IF_ERROR(CheckCluster(cluster, grid));
  const uint64_t blocks = static_cast<uint64_t>(grid.x) * grid.y * grid.z;
  if (blocks == 0) return absl::OkStatus();
  const uint64_t block_threads = static_cast<uint64_t>(block.x) * block.y * block.z;
  LaunchContext context;
  context.SetGeometry(ToIndex(grid), ToIndex(block), ToIndex(cluster),
                      call.cooperative && blocks <= kMaxBlocks);
  if (blocks > std::min<uint64_t>(kMaxBlocks, kMaxThreads / context.thread_stride)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the grid has ", blocks, " blocks of ", block_threads,
                     " threads; the host executor runs at most ", kMaxBlocks, " blocks and ",
                     kMaxThreads, " threads"));
  }
  if (call.cooperative) RETURN_IF_ERROR(CheckCooperative(context));
  State& state = *state_;
  context.call = &call;
  context.options = &state.options;
  context.memory = state.memory.get();
  context.dynamic_shared_bytes = dynamic_shared_bytes;

  int cores = static_cast<int>(
      std::clamp<uint64_t>(blocks * block_threads / kThreadsWorthACore, 1, state.options.threads));
  if (call.cooperative) cores = 1;
  while (static_cast<int>(state.workers.size()) < cores) {
    ASSIGN_OR_RETURN(std::unique_ptr<Worker> worker, Worker::Create());
    state.workers.push_back(std::move(worker));
  }
  for (int i = 0; i < cores; ++i) {
    RETURN_IF_ERROR(state.workers[i]->Reserve(context));
  }

  if (state.clock > kClockToWipeAt) state.WipeShadows();

  // A launch may have to start again from the beginning, with other cells, on one core, or exactly:
  // then everything that it wrote must be undone.
  MemorySnapshot before;
  context.before = &before;
  // Checks see each buffer's first store.
  if (!state.options.check) before.SaveAllThatKernelsMayWrite(*state.memory);
  ExecutorOptions unchecked = state.options;
  unchecked.check = false;
  LaunchReport report;
  for (;;) {
    state.RunClusters(&context, blocks / context.resident_blocks, cores);
    const Stop stop = context.stop;
    if (stop == Stop::kNo || stop == Stop::kFindings) break;
    before.Restore();
    if (stop == Stop::kEnoughFindings) {
      report.findings = state.workers[0]->findings();  // On one core.
      context.options = &unchecked;
      context.exact = false;
      continue;
    }
    if (stop != Stop::kOtherCells) cores = 1;
    if (stop == Stop::kExactly) context.exact = true;
  }

  for (const auto& region : state.memory->regions()) {
    if (!context.options->check || region->use == RegionUse::kStored) region->filled = -1;
    // What was stored without checks is not known.
    if (context.options == &unchecked && !region->read_only) region->initialised = true;
  }

  report.kernel = call.kernel;
  report.grid = grid;
  report.block = block;
  report.dynamic_shared_bytes = dynamic_shared_bytes;
  for (int i = 0; i < cores; ++i) {
    const Worker& worker = *state.workers[i];
    report.profile.Add(worker.profile());
    report.shared_bytes = std::max(report.shared_bytes, worker.shared_bytes());
    report.findings.insert(report.findings.end(), worker.findings().begin(),
                           worker.findings().end());
    AccessRecord& all = report.accesses;
    const AccessRecord& accesses = worker.accesses();
    all.requests.insert(all.requests.end(), accesses.requests.begin(), accesses.requests.end());
    all.left_out += accesses.left_out;
  }
  std::stable_sort(
      report.accesses.requests.begin(), report.accesses.requests.end(),
      [](const AccessRequest& a, const AccessRequest& b) { return a.block < b.block; });
  report.printed = std::move(context.printed);
  if (state.options.record_block) report.accesses.block = *state.options.record_block;
  FindBuffers(*state.memory, &report.accesses);
  state.launches.push_back(std::move(report));
  const std::vector<Finding>& findings = state.launches.back().findings;
  return findings.empty() ? absl::OkStatus() : absl::DataLossError(FindingsText(findings));
}

const std::vector<LaunchReport>& Executor::launches() const { return state_->launches; }

void Executor::ClearLaunches() { state_->launches.clear(); }

std::string Executor::KernelName(const LaunchReport& report) {
  return SymbolizeFunctions({report.kernel}).front().function;
}

}  // namespace stridewise::executor
