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
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "common/executor/access_record.h"
#include "common/executor/async_reads.h"
#include "common/executor/device_memory.h"
#include "common/executor/exact_shadow.h"
#include "common/executor/executor.h"
#include "common/executor/fiber.h"
#include "common/executor/finding.h"
#include "common/executor/lane.h"
#include "common/executor/launch_context.h"
#include "common/executor/profile.h"
#include "common/executor/ptx/mbarrier.h"
#include "common/executor/ptx/program.h"
#include "common/executor/ptx/shared_descriptor.h"
#include "common/executor/publication.h"
#include "common/executor/running_block.h"
#include "common/executor/shadow.h"
#include "common/executor/shim/simt_entry_points.h"
#include "common/executor/shim/simt_tensor_map.h"
#include "common/executor/trace.h"
#include "common/executor/warp_trace.h"

namespace stridewise::executor {

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
    const Site site = MakeSite(pc, EventKind::kBasicBlock, 0);
    if (!lane.path.Follow(site)) NewBasicBlock(lane, site);
  }
  // Counts accesses of one byte without a check.
  void Count(Lane& lane, EventKind kind, uintptr_t address, int times, uintptr_t pc);
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
  // Returns the address of the __shared__ variable with this control word in the lane's block;
  // `bytes` is 0 for the dynamic one.
  void* SharedVariable(Lane& lane, const void* control, size_t bytes, uintptr_t pc) {
    if (control != recent_.control) FindSharedVariable(lane, control, bytes, pc);
    return reinterpret_cast<void*>(shared_ + lane.arena + recent_.offset);
  }

  SimtIndex block_index(const Lane& lane) const { return blocks_[lane.rank].index; }
  SimtIndex block_dim() const { return context_->block; }
  SimtIndex grid_dim() const { return context_->grid; }

 private:
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
  // Does so for a basic block, and counts it.
  [[gnu::noinline]] void NewBasicBlock(Lane& lane, Site site);
  [[noreturn]] void Leave(Lane& lane);

  // warp_operations.cc
  // Lets `recent_` be the variable, which begins where it is first asked for.
  [[gnu::noinline]] void FindSharedVariable(Lane& lane, const void* control, size_t bytes,
                                            uintptr_t pc);
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
  template <int kLog2Bytes, AccessOp kOp>
  [[gnu::noinline]] void AccessShared(Lane& lane, uint32_t offset, uintptr_t pc);
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
  Variable recent_ = {};  // That of these which was last asked for.
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
