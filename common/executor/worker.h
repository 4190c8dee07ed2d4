// The part of a launch that one core runs: whole clusters of blocks, one after the other, with a
// fiber for each thread. Most clusters are a single block. A cooperative launch is run as a cluster
// of all blocks would be, but for what only clusters have.
//
// Lanes run one at a time until they wait, warp after warp. When all lanes of a warp wait, their
// events are replayed as the warp would have issued them. The instrumentation (hooks.cc) calls the
// worker through running_lane, from within a fiber.

#ifndef STRIDEWISE_COMMON_EXECUTOR_WORKER_H_
#define STRIDEWISE_COMMON_EXECUTOR_WORKER_H_

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "common/executor/access_record.h"
#include "common/executor/accumulators.h"
#include "common/executor/async_reads.h"
#include "common/executor/device_memory.h"
#include "common/executor/exact_shadow.h"
#include "common/executor/executor.h"
#include "common/executor/fiber.h"
#include "common/executor/finding.h"
#include "common/executor/launch.h"
#include "common/executor/profile.h"
#include "common/executor/ptx/mbarrier.h"
#include "common/executor/ptx/program.h"
#include "common/executor/ptx/shared_descriptor.h"
#include "common/executor/publication.h"
#include "common/executor/shadow.h"
#include "common/executor/shim/simt_entry_points.h"
#include "common/executor/shim/simt_tensor_map.h"
#include "common/executor/trace.h"
#include "common/executor/warp_trace.h"

namespace stridewise::executor {

// Why a launch stopped before its last block. For all reasons but kFindings it starts again from
// the beginning, in another mode.
enum class Stop {
  kNo,
  kOtherCells,  // The records of a buffer do not suffice: see RequestFinerCells().
  kOneCore,     // Blocks communicate with each other: their order matters.
  kExactly,     // There may be a mistake.
  kFindings,    // The wanted number of findings is reached, or one after which nothing can go on.
};

// The state that the workers of a launch share.
struct LaunchContext {
  const KernelCall* call = nullptr;
  const ExecutorOptions* options = nullptr;
  DeviceMemory* memory = nullptr;
  MemorySnapshot* before = nullptr;  // Of what the launch stores to.
  SimtIndex grid{1, 1, 1};
  SimtIndex block{1, 1, 1};
  SimtIndex cluster{1, 1, 1};
  uint32_t block_threads = 1;
  uint32_t cluster_blocks = 1;
  uint32_t resident_blocks = 1;  // That run at the same time: a cluster, or all if cooperative.
  bool cooperative = false;
  // Blocks are numbered cluster by cluster, and threads block by block, of which each takes this
  // number: where several blocks run at the same time whole warps.
  uint32_t thread_stride = 1;
  size_t dynamic_shared_bytes = 0;
  int shared_granule_log2 = 2;
  uint32_t first_clock = 1;
  bool one_core = true;
  bool exact = false;  // On one core, with exact_shadow.h.

  std::atomic<Stop> stop{Stop::kNo};
  std::string printed;  // By printf(); only one core prints.

  void SetGeometry(const SimtIndex& grid_dim, const SimtIndex& block_dim,
                   const SimtIndex& cluster_dim, bool is_cooperative);
  // Returns the index of the block with this number.
  SimtIndex BlockAt(uint64_t number) const;

  // Requests smaller cells for a region, or for shared memory where `region` is null.
  void RequestFinerCells(Region* region, int granule_log2);
  // Requests records of the loads from a region that this launch stores to.
  void RequestLoads(Region* region);
  // Fulfils the requests. REQUIRES: no worker runs.
  void ApplyRequests(int* shared_granule_log2);

 private:
  std::mutex mutex_;
  std::vector<std::pair<Region*, int>> requests_;
  std::vector<Region*> updated_;
};

enum class AccessOp { kLoad, kStore, kAtomic };

// kBlocked: it waits for a phase of an mbarrier or of a named barrier. kAtWarpgroup: for the other
// threads of its warpgroup, at a wgmma.
enum class LaneState : uint8_t {
  kReady,
  kAtBarrier,
  kAtGridBarrier,
  kAtWarpSync,
  kAtWarpgroup,
  kBlocked,
  kTraceFull,
  kDone
};

class Worker;

// A thread of the running blocks. What each of its events touches is in its first cache lines.
struct alignas(64) Lane {
  // After this number of events without a wait, lanes are replayed if they have the same events, so
  // that a long loop does not fill the memory; otherwise their traces grow, up to a limit.
  static constexpr size_t kFirstEventLimit = size_t{1} << 14;

  Worker* worker = nullptr;
  uintptr_t stack_bottom = 0;
  uint64_t steps = 0;  // Basic blocks since the block started.
  LanePath path;       // Its events.

  // Returns whether the address is in what would be registers or local memory.
  bool IsLocal(uintptr_t address) const {
    return address - stack_bottom < FiberStacks::kStackBytes;
  }
  Present now;
  SimtIndex thread{0, 0, 0};
  int index = 0;       // Of the thread among those of the running blocks.
  int rank = 0;        // Of its block among these.
  uint32_t arena = 0;  // Where the block's shared memory starts in the worker's.
  LaneState state = LaneState::kDone;

  size_t event_limit = kFirstEventLimit;  // Of the path, until the warp is replayed.

  bool volatile_access = false;  // Whether the running access is volatile.

  uintptr_t wait_pc = 0;  // Where it waits.
  uint32_t wait_mask = 0;
  int predicate = 0;  // Of a counting barrier; when it is complete their number.

  // The lane's value in a warp-level synchronisation, and the value that it receives.
  uint64_t offer = 0;
  int source = 0;  // The lane whose offer it receives; kBallot: a bit for each offer that is not 0.
  uint64_t result = 0;
  static constexpr int kBallot = -1;

  // The instruction of the whole warp that it waits to execute, if it is one of PTX, and the values
  // of its operands, in order. Those of the first one are its results.
  const PtxInstruction* instruction = nullptr;
  uint64_t* operands = nullptr;

  // The phase for which it waits. After a wait in which nothing else could run, `gave_up` is set.
  const Mbarrier* blocked_by = nullptr;
  uint64_t blocked_phase = 0;
  bool may_give_up = false;
  bool gave_up = false;
  std::vector<uint32_t> acquired;  // What now.acquired points to.

  // Of the cluster's barrier: the lane's clock at each of its arrivals, the number of phases for
  // whose end it has waited, and whether the barrier counts it as one that has ended.
  std::vector<uint32_t> cluster_arrivals;
  uint64_t cluster_passed = 0;
  bool left_cluster = false;
  bool mbarrier_init_fenced = false;  // Since the last arrival.

  // Of wgmma: the groups that it has committed; for each one that it has waited for the clock of
  // that wait; and its last multiplication, with its group.
  bool wgmma_fenced = false;
  uint32_t wgmma_groups = 0;
  uint32_t wgmma_last = 0;
  uintptr_t wgmma_pc = 0;
  std::vector<uint32_t> wgmma_ends;
  Accumulators accumulators;
  bool accumulators_changed = false;  // Those of the instruction that it has come to.
  // Its stores before this time are seen by asynchronous reads (fence.proxy.async), and so are all
  // stores that came before `fenced`.
  uint32_t proxy_fence_clock = 0;
  Present fenced;
  // The mbarriers that it has initialised before this time are seen by bulk copies.
  uint32_t init_fence_clock = 0;

  // Of bulk stores, likewise.
  uint32_t bulk_groups = 0;
  uint32_t bulk_last = 0;
  uintptr_t bulk_pc = 0;
  std::vector<uint32_t> bulk_ends;

  // Of setmaxnreg: what the last one asked for, and how many there were.
  uint32_t max_registers = 0;
  uint32_t register_changes = 0;
  uintptr_t registers_pc = 0;

  struct AsyncCopy {
    uint8_t* to;
    const uint8_t* from;
    size_t bytes, zero_bytes;
    uintptr_t pc;
    unsigned group;
  };
  std::vector<AsyncCopy> async_copies;
  unsigned async_group = 0;

  Fiber fiber;
};

// The lane whose fiber this host thread runs; null outside of fibers.
// Also within a shared library its address is one offset from the thread's own.
[[gnu::tls_model("initial-exec")]] inline thread_local Lane* running_lane = nullptr;

class Worker {
 public:
  static constexpr uint32_t kSharedArenaBytes = 512u << 10;  // Of a block's shared memory.
  static constexpr int kMaxClusterBlocks = 16;
  // Of a cooperative launch. Offsets in the shared memory of all its blocks have 32 bits.
  static constexpr uint32_t kMaxResidentBlocks = 8191;
  static constexpr uint32_t kMaxResidentThreads = 1u << 20;

  static absl::StatusOr<std::unique_ptr<Worker>> Create();

  void WipeShadow() { shared_cells_->Clear(); }  // For when the clock starts again.

  // Makes room for the threads and the shared memory of the blocks that run at the same time.
  // Returns ResourceExhausted where there is none.
  absl::Status Reserve(const LaunchContext& context);

  // REQUIRES: Reserve().
  void BeginLaunch(LaunchContext* context);
  // Runs one cluster to its end. Returns false if the launch is to stop.
  bool RunCluster(uint64_t cluster);

  // Return the results of the launch since BeginLaunch().
  const Profile& profile() const { return profile_; }
  // Holds addresses in place of offsets in buffers: Executor::Run() knows the buffers.
  const AccessRecord& accesses() const { return accesses_; }
  const std::vector<Finding>& findings() const { return findings_; }
  uint32_t clock() const { return clock_; }
  size_t shared_bytes() const;

  // Called from within a lane's fiber.
  void Access(Lane& lane, uintptr_t address, int log2_bytes, AccessOp op, uintptr_t pc);
  // Does so for the store of a cp.async.
  void StoreCopied(Lane& lane, uintptr_t address, int log2_bytes, uintptr_t pc);
  // Does what Access() does, compiled for one size and one operation, for addresses that are not
  // IsLocal(): most of what a kernel does.
  template <int kLog2Bytes, AccessOp kOp>
  void AccessOf(Lane& lane, uintptr_t address, uintptr_t pc);
  void BasicBlock(Lane& lane, uintptr_t pc) {
    if (++lane.steps > max_steps_) Runaway(lane, pc);
    if (!profile_events_) return;
    const Site site = MakeSite(pc, EventKind::kBasicBlock, 0);
    if (!lane.path.Follow(site)) AddToPath(lane, site);
  }
  void VolatileAccess(Lane& lane, uintptr_t address, int log2_bytes, AccessOp op, uintptr_t pc);
  void Fence(Lane& lane);  // __threadfence()
  void Barrier(Lane& lane, uintptr_t pc);
  int BarrierCount(Lane& lane, int predicate, uintptr_t pc);
  void GridBarrier(Lane& lane, uintptr_t pc);
  bool IsCooperative() const { return context_->cooperative; }
  void WarpSync(Lane& lane, uint32_t mask, uintptr_t pc);
  uint64_t Shuffle(Lane& lane, uint32_t mask, uint64_t value, int mode, int argument, int width,
                   uintptr_t pc);
  uint32_t Ballot(Lane& lane, uint32_t mask, int predicate, uintptr_t pc);
  uint32_t ActiveMask(Lane& lane, uintptr_t pc);
  void CpAsync(Lane& lane, void* to, const void* from, size_t bytes, size_t zero_bytes,
               uintptr_t pc);
  void CpAsyncWait(Lane& lane, unsigned groups_in_flight);
  // Executes an asm statement (shim/simt_ptx.h), with the values of its operands.
  void Ptx(Lane& lane, const char* text, uint64_t* arguments, int count, uintptr_t pc);
  // The same for one with wgmma.mma_async, whose outputs are at `registers`.
  void Wgmma(Lane& lane, const char* text, uint64_t* arguments, void* const* registers, int count,
             uintptr_t pc);
  // An access to what is the lane's alone.
  void LocalAccess(Lane& lane, uintptr_t address, AccessOp op, uintptr_t pc);
  // Returns the address in the shared window, as PTX has it; what is not there has one that is
  // outside of every variable. Those of other blocks of the cluster lie above the lane's own.
  uint32_t SharedAddress(const Lane& lane, const void* pointer) const;
  void Print(Lane& lane, const std::string& text);
  // Ends the launch: assert(), __trap().
  [[noreturn]] void Fail(Lane& lane, const std::string& message, uintptr_t pc);
  // Returns the address of the __shared__ variable with this control word in this block; `bytes` is
  // 0 for the dynamic one.
  void* SharedVariable(const void* control, size_t bytes, uintptr_t pc);

  SimtIndex block_index(const Lane& lane) const { return blocks_[lane.rank].index; }
  SimtIndex block_dim() const { return context_->block; }
  SimtIndex grid_dim() const { return context_->grid; }

 private:
  static constexpr int kNamedBarriers = 16;

  // A block of the running ones.
  struct RunningBlock {
    SimtIndex index{0, 0, 0};
    bool recorded = false;    // Whether its requests are.
    int barriers_passed = 0;  // By all of its threads.
    std::array<Mbarrier, kNamedBarriers> named_barriers;
  };

  // A __shared__ variable. Each starts at a multiple of 128 bytes, in bank 0, and ends with a gap.
  struct Variable {
    const void* control;
    uint32_t offset;
    uint32_t bytes;
    bool is_static;
  };
  struct Warp {
    int first = 0;
    int lanes = 0;
    int rank = 0;  // Of its block.
    bool divergent = false;
    WarpTrace trace;
    std::unique_ptr<std::array<std::array<uint32_t, kWarpLanes>, kWarpLanes>> known;
    bool known_in_use = false;
  };

  Worker() = default;
  absl::Status ReserveLanes(int lanes);
  absl::Status ReserveShared(uint32_t blocks);

  // worker.cc
  bool RunWarp(Warp* warp);
  void Resume(Lane* lane);
  void Wait(Lane& lane, LaneState state, uintptr_t pc);
  void ReleaseTraceFull(Warp* warp);
  void Replay(Warp* warp);
  void ReplayTogether(const Warp& warp, uint32_t lanes);
  void Record(const Warp& warp, Site site, uint32_t lanes, const uint64_t address[kWarpLanes]);
  // Resumes the blocks all of whose lanes have come to their barrier. Returns false if there are
  // none, or the launch is to stop.
  bool ReleaseBarriers();
  bool ReleaseBarrier(int rank);
  // Lets the lanes of a block go on behind a barrier, at the worker's present.
  void PassBarrier(int rank);
  [[gnu::noinline]] void AddToPath(Lane& lane, Site site);
  [[noreturn]] void Leave(Lane& lane);

  // warp_operations.cc
  bool ReleaseWarpSync(Warp* warp);
  bool ReleaseActiveMask(Warp* warp);
  void Exchange(Warp* warp, uint32_t mask);
  void JoinClocks(Warp* warp, uint32_t mask);

  // worker_ptx.cc
  uint64_t ReadPtxValue(const PtxValue& value, const uint64_t* registers, const uint64_t* arguments,
                        const Lane& lane) const;
  static void WritePtxValue(const PtxValue& value, uint64_t bits, uint64_t* registers,
                            uint64_t* arguments);
  const PtxProgram& ProgramOf(const char* text);
  uintptr_t PtxAddress(const Lane& lane, PtxSpace space, uint64_t address) const;
  void ExecuteAtomic(const PtxInstruction& instruction, Lane& lane, uint64_t* registers,
                     uint64_t* arguments, uintptr_t pc);
  void ExecuteScalar(const PtxInstruction& instruction, Lane& lane, uint64_t* registers,
                     uint64_t* arguments, uintptr_t pc);
  void ExecuteBulkCopy(const PtxInstruction& instruction, Lane& lane, uint64_t* registers,
                       uint64_t* arguments, uintptr_t pc);
  void ExecuteWithWarp(const PtxInstruction& instruction, Lane& lane, uint64_t* registers,
                       uint64_t* arguments, uintptr_t pc);
  // Executes what all lanes of the warp wait for.
  void ExecuteOfWarp(Warp* warp, const PtxInstruction& instruction);
  void LoadMatrices(Warp* warp, const PtxOpcode& opcode);
  void StoreMatrices(Warp* warp, const PtxOpcode& opcode);
  void TransposeMatrix(Warp* warp);
  void Multiply(Warp* warp, const PtxOpcode& opcode);
  uint8_t* MatrixRow(Warp* warp, int row, int address) const;
  uint32_t PtxWord(Warp* warp, int lane, int operand) const;
  void SetPtxWord(Warp* warp, int lane, int operand, uint32_t word);

  // worker_wgmma.cc
  static constexpr int kMaxWgmmaValues = 144;
  void ProxyFence(Lane& lane);
  void CommitWgmma(Lane& lane);
  void WaitForWgmma(Lane& lane, uint64_t groups_in_flight);
  void ExecuteWithWarpgroup(const PtxInstruction& instruction, Lane& lane, uint64_t* registers,
                            uint64_t* arguments, uintptr_t pc);
  // Resumes warpgroups all of whose threads have come to a wgmma. Returns false if there are none,
  // or the launch is to stop.
  bool ReleaseWarpgroups();
  void MultiplyOfWarpgroup(int first);
  // These return false if the launch is to stop, and are called outside of fibers.
  bool ReadAsynchronously(int first, const SharedOperand& operand, bool is_a);
  bool CheckAsyncRead(const Lane& lane, uint32_t offset, uintptr_t pc);
  // Returns whether a store at that time is one that an asynchronous read of this lane sees.
  bool Fenced(const Lane& reader, uint32_t thread, uint32_t clock) const;
  // Returns an asynchronous read of the bytes that has not ended before the lane's present, until
  // the next call; null where there is none. Forgets all of them.
  const Culprit* AsyncReadsRunAt(const Lane& lane, uint32_t offset, int bytes);
  // Checks a store, from within the lane's fiber.
  [[gnu::noinline]] void CheckAgainstAsyncReads(Lane& lane, uint32_t offset, int bytes,
                                                uintptr_t pc);
  void CheckWgmmaIsDone();
  void WrongWgmma(const Lane& lane, std::string message);

  // worker_registers.cc
  void SetMaxRegisters(Lane& lane, bool raises, uint64_t count, uintptr_t pc);
  // Checks what all threads of a block have come to, when it has ended.
  void CheckRegisters();

  // worker_bulk.cc
  // 16 bytes at an offset in shared memory, of which [begin, end) are copied from or to the address
  // in global memory, and the others are 0 where they are loaded.
  struct BulkPiece {
    uint32_t shared = 0;
    uintptr_t global = 0;
    int64_t begin = 0;
    int64_t end = 0;
    bool rounds_to_tf32 = false;
  };
  struct BulkLoad {
    int lane;
    uintptr_t pc;
    uintptr_t barrier;
    std::vector<BulkPiece> pieces;
  };
  std::vector<BulkPiece> PiecesOfBox(Lane& lane, const SimtTensorMap& map, const int64_t* first,
                                     uint32_t to, uintptr_t pc);
  std::vector<BulkPiece> PiecesOfRange(Lane& lane, uintptr_t global, uint32_t shared,
                                       uint32_t bytes, uintptr_t pc);
  // Starts a load into the block of the pieces, or to the same places of all blocks of the cluster
  // that have a bit in `blocks`, if it is not 0, each with its own barrier.
  void StartBulkLoad(Lane& lane, std::vector<BulkPiece> pieces, uintptr_t barrier, uint32_t blocks,
                     uintptr_t pc);
  void StartLoadIntoBlock(Lane& lane, std::vector<BulkPiece> pieces, uintptr_t barrier,
                          uintptr_t pc);
  void CheckInitIsFenced(Lane& lane, uintptr_t barrier, uintptr_t pc);
  // Lets a load arrive, outside of fibers. Returns false if there is none.
  bool FinishBulkLoad();
  void BulkStore(Lane& lane, const std::vector<BulkPiece>& pieces, uintptr_t pc);
  void WaitForBulkStores(Lane& lane, uint64_t groups_in_flight);
  void CheckBulkGlobal(Lane& lane, const BulkPiece& piece, AccessOp op, uintptr_t pc);
  bool CheckAsyncWrite(Lane& lane, uint32_t offset, uintptr_t pc);
  void CheckBulkCopiesAreDone();
  // Ends the launch with a finding, outside of fibers.
  void ReportOutside(Check check, const Lane& lane, uintptr_t pc, std::string message);
  [[noreturn]] void WrongBulkCopy(Lane& lane, uintptr_t pc, std::string message);

  // worker_grid.cc
  // Resumes all lanes if all wait for the barrier of the grid. Returns false if none does, or the
  // launch is to stop because some never will.
  bool ReleaseGridBarrier();

  // worker_cluster.cc. Offsets are those in all of the cluster's shared memory.
  // Returns the offset of an address in the shared window; shared_size_ for one that is in no
  // block's.
  uint32_t SharedOffset(const Lane& lane, uint64_t address) const;
  // Returns the address of what has the same place in the shared memory of block `rank`.
  uint64_t MapToBlock(Lane& lane, const PtxOpcode& opcode, uint64_t address, uint64_t rank,
                      uintptr_t pc);
  static bool IsRemote(const Lane& lane, uint32_t offset) {
    return (offset ^ lane.arena) >= kSharedArenaBytes;
  }
  // The rank of the first block of the lane's cluster.
  uint32_t ClusterRank(const Lane& lane) const {
    return static_cast<uint32_t>(lane.rank) / context_->cluster_blocks * context_->cluster_blocks;
  }
  // The number of a lane in its cluster, where times of other threads are kept.
  int IndexInCluster(int lane) const { return lane % cluster_lanes_; }
  // Returns the variable that holds these bytes; null where there is none.
  const Variable* VariableAt(uint32_t offset, uint32_t bytes) const;
  // Checks an access to another block's memory, from within the lane's fiber.
  [[gnu::noinline]] void CheckRemoteAccess(Lane& lane, uint32_t offset, uintptr_t pc);
  // Returns false, and reports, where the other block may not have begun.
  bool NoteRemoteAccess(Lane& lane, uint32_t offset, uintptr_t pc);
  uint64_t ClusterSpecial(const Lane& lane, PtxSpecial special) const;
  void ClusterBarrier(Lane& lane, const PtxOpcode& opcode, uintptr_t pc);
  // Threads that have ended count as arrived at the barrier of the cluster.
  void CountEndedThreads();
  // Gives the lanes of a block, at its barrier, what any of them knows of other blocks.
  void JoinKnowledgeOfCluster(int rank);
  void CheckBlocksOutliveAccesses();

  // worker_barriers.cc
  // Returns the result: a state, or whether a wait succeeded.
  uint64_t ExecuteMbarrier(const PtxOpcode& opcode, Lane& lane, uintptr_t address, uint64_t value,
                           uintptr_t pc);
  void ArriveAfterCopies(Lane& lane, uintptr_t address, bool counts, uintptr_t pc);
  // Arrives at named barrier `id` of `count` threads, and waits for the others if `waits`.
  void NamedBarrier(Lane& lane, uint64_t id, uint64_t count, bool waits, uintptr_t pc);
  // Returns the barrier at an address in shared memory; anything else is a finding.
  Mbarrier* FindMbarrier(Lane& lane, uintptr_t address, uintptr_t pc);
  void Release(Lane& lane, Mbarrier* barrier);
  void Acquire(Lane& lane, const std::vector<uint32_t>& times);
  // Orders what any of the lanes acquired before the present of all.
  void JoinAcquired(Warp* warp, uint32_t mask);
  // Waits until the phase is complete. Returns false where it gives up.
  bool WaitForPhase(Lane& lane, const Mbarrier* barrier, uint64_t phase, bool may_give_up,
                    uintptr_t pc);
  // Resumes lanes that need not wait any more. Returns false if there are none, or the launch is to
  // stop because there can be none.
  bool ReleaseBlocked();
  void ReportDeadlock();
  std::string BarrierName(const Mbarrier* barrier) const;
  [[noreturn]] void WrongBarrier(Lane& lane, uintptr_t pc, std::string message);

  // worker_access.cc; the Fast... and what calls them are inlined into AccessOf().
  void Push(Lane& lane, uintptr_t pc, EventKind kind, int log2_bytes, uint64_t address);
  template <int kLog2Bytes, AccessOp kOp>
  [[gnu::noinline]] void AccessAny(Lane& lane, uintptr_t address, uintptr_t pc);
  void AccessDevice(Lane& lane, uintptr_t address, int log2_bytes, AccessOp op, uintptr_t pc);
  bool FastGlobal(Lane& lane, Region* region, uintptr_t address, int log2_bytes, AccessOp op);
  bool FastShared(Lane& lane, uint32_t offset, int log2_bytes, AccessOp op);
  void CheckGlobal(Lane& lane, Region* region, uintptr_t address, int log2_bytes, AccessOp op,
                   uintptr_t pc);
  void CheckShared(Lane& lane, uint32_t offset, int log2_bytes, AccessOp op, uintptr_t pc);
  // Do what these do, for callers in other files.
  void CheckGlobalApart(Lane& lane, uintptr_t address, int log2_bytes, AccessOp op, uintptr_t pc);
  void CheckSharedApart(Lane& lane, uint32_t offset, int log2_bytes, AccessOp op, uintptr_t pc);
  void ExactGlobal(Lane& lane, uintptr_t address, int bytes, AccessOp op, uintptr_t pc);
  void ExactShared(Lane& lane, uint32_t offset, int bytes, AccessOp op, uintptr_t pc);
  void CheckRace(Lane& lane, ExactShadow* shadow, uint64_t address, int bytes, AccessOp op,
                 uintptr_t pc, absl::FunctionRef<std::string()> where);
  // Ends the run from within a lane, so that the launch starts again.
  [[noreturn, gnu::noinline]] void Suspect(Lane& lane, Stop stop);
  [[noreturn, gnu::noinline]] void SuspectFinerCells(Lane& lane, Region* region, int granule_log2);
  // Note that the launch loads from a buffer, and return whether that has to be recorded; that it
  // stores to one.
  [[gnu::noinline]] static bool MustRecordLoads(Region* region);
  [[gnu::noinline]] void BeginStores(Lane& lane, Region* region);
  void Report(Check check, const Lane* lane, bool store, uintptr_t pc, std::string message,
              const Culprit* other = nullptr);
  // Not inlined: their code would slow down the callers, which hardly ever call them.
  [[gnu::noinline]] void AccessElsewhere(Lane& lane, uintptr_t address, int log2_bytes, AccessOp op,
                                         uintptr_t pc);
  [[noreturn, gnu::noinline]] void WildAddress(Lane& lane, uintptr_t address, int log2_bytes,
                                               AccessOp op, uintptr_t pc);
  [[noreturn, gnu::noinline]] void Runaway(Lane& lane, uintptr_t pc);
  // Reports, and ends the launch.
  [[noreturn]] void ReportFatal(Check check, Lane& lane, bool store, uintptr_t pc,
                                std::string message);
  Culprit CulpritOf(uint32_t thread, uintptr_t pc, bool store) const;

  LaunchContext* context_ = nullptr;
  // What every event asks the launch, one load away.
  DeviceMemory* memory_ = nullptr;
  uintptr_t shared_ = 0;      // shared_memory_.
  uint32_t shared_size_ = 0;  // Its bytes.
  uint64_t max_steps_ = 0;
  bool check_ = true;
  bool profile_events_ = true;
  bool one_core_ = true;
  bool exact_ = false;

  std::unique_ptr<FiberStacks> stacks_;
  std::unique_ptr<LazyPages> shared_memory_, shared_written_, shared_cells_;
  std::vector<Lane> lanes_;
  std::vector<Warp> warps_;
  std::array<uint8_t, kWarpLanes> lane_order_;
  std::vector<int> warp_order_;

  std::vector<RunningBlock> blocks_;
  int lane_count_ = 0;     // Of the running blocks.
  int block_lanes_ = 0;    // Lanes from one of them to the next.
  int cluster_lanes_ = 0;  // Of a cluster.
  int warp_count_ = 0;
  uint32_t clock_ = 1;
  uint32_t cluster_clock_ = 1;  // When the cluster started: shared memory's oldest time.
  uint32_t grid_clock_ = 1;     // When the launch did, or left the grid's barrier: global memory's.
  std::vector<Variable> variables_;
  uint32_t shared_end_ = 0;
  ExactShadow global_exact_, shared_exact_;
  Publications publications_;                             // Used in exact runs.
  std::unordered_map<const char*, PtxProgram> programs_;  // Of asm statements, by their texts.

  AsyncReads async_reads_;
  Culprit async_reader_;
  std::vector<BulkLoad> bulk_loads_;  // That have not arrived.

  std::map<uint32_t, Mbarrier> mbarriers_;  // By their offsets in shared memory.
  struct MbarrierInit {
    int lane;
    uint32_t clock;
    uintptr_t pc;
  };
  std::map<uint32_t, MbarrierInit> mbarrier_inits_;  // Of these.
  Mbarrier cluster_barrier_;
  // The last access of each lane to the shared memory of each other block, by lane and rank.
  struct RemoteAccess {
    uint32_t clock;
    uintptr_t pc;
  };
  std::map<std::pair<int, int>, RemoteAccess> remote_accesses_;
  int fruitless_waits_ = 0;  // Rounds since a lane was last resumed by a barrier.

  Profile profile_;
  AccessRecord accesses_;
  std::vector<Finding> findings_;
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_WORKER_H_
