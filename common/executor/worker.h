// The part of a launch that one core runs: whole clusters of blocks, one after the other, with a
// fiber for each thread. Most clusters are a single block. A cooperative launch is run as a cluster
// of all blocks would be, but for what only clusters have.
//
// Lanes run one at a time until they wait, warp after warp. When all lanes of a warp wait, their
// events are replayed as the warp would have issued them. The instrumentation (hooks.cc) calls the
// worker through running_lane, from within a fiber.

#ifndef STRIDEWISE_COMMON_EXECUTOR_WORKER_H_
#define STRIDEWISE_COMMON_EXECUTOR_WORKER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/executor/access_checker.h"
#include "common/executor/access_record.h"
#include "common/executor/finding.h"
#include "common/executor/lane.h"
#include "common/executor/launch_context.h"
#include "common/executor/profile.h"
#include "common/executor/ptx/mbarrier.h"
#include "common/executor/ptx/program.h"
#include "common/executor/ptx/shared_descriptor.h"
#include "common/executor/running_block.h"
#include "common/executor/shim/simt_entry_points.h"
#include "common/executor/shim/simt_tensor_map.h"
#include "common/executor/trace.h"

namespace stridewise::executor {

class Worker : public AccessChecker {
 public:
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

  // Called from within a lane's fiber, as the functions of AccessChecker are.
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
  // Make the blocks of a cluster, and a lane of them, what they are before their first instruction.
  void BeginBlocks(uint64_t cluster);
  void BeginLane(int i, uint32_t first_thread);

  // worker_schedule.cc and worker_replay.cc
  bool RunWarp(Warp* warp);
  void Resume(Lane* lane);
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
  void CheckBulkCopiesAreDone();
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
  // Counts the bytes of a store of st.async or red.async at its mbarrier, which releases it.
  void CompleteBytes(Lane& lane, uintptr_t address, int64_t bytes, uintptr_t pc);
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
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_WORKER_H_
