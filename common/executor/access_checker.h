// How a worker checks, counts and records what the threads of a kernel do to memory. The
// instrumentation (hooks.cc) and the instructions that the worker executes call it.
//
// The first run of a launch only looks for suspicious accesses and stops at the first one; an exact
// run on one core then finds what is wrong.

#ifndef STRIDEWISE_COMMON_EXECUTOR_ACCESS_CHECKER_H_
#define STRIDEWISE_COMMON_EXECUTOR_ACCESS_CHECKER_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "common/executor/device_memory.h"
#include "common/executor/exact_shadow.h"
#include "common/executor/finding.h"
#include "common/executor/lane.h"
#include "common/executor/launch_context.h"
#include "common/executor/trace.h"
#include "common/executor/worker_state.h"

namespace stridewise::executor {

class AccessChecker : public WorkerState {
 public:
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
  // An access to what is the lane's alone.
  void LocalAccess(Lane& lane, uintptr_t address, AccessOp op, uintptr_t pc);

 protected:
  // access_checker_path.cc
  // Suspends the lane's fiber until it is ready again.
  void Wait(Lane& lane, LaneState state, uintptr_t pc);
  // Adds an event that the lane's path does not expect, once there is room for it.
  [[gnu::noinline]] void AddToPath(Lane& lane, Site site);
  // Does so for a basic block, and counts it.
  [[gnu::noinline]] void NewBasicBlock(Lane& lane, Site site);
  [[noreturn, gnu::noinline]] void Runaway(Lane& lane, uintptr_t pc);

  // access_checker_restart.cc
  // Ends the run from within a lane, so that the launch starts again.
  [[noreturn, gnu::noinline]] void Suspect(Lane& lane, Stop stop);
  [[noreturn, gnu::noinline]] void SuspectFinerCells(Lane& lane, Region* region, int granule_log2);
  // Note that the launch loads from a buffer, and return whether that has to be recorded; that it
  // stores to one.
  [[gnu::noinline]] static bool MustRecordLoads(Region* region);
  [[gnu::noinline]] void BeginStores(Lane& lane, Region* region);
  // Suspends the lane's fiber for good: the launch ends or starts again.
  [[noreturn]] void Leave(Lane& lane);

  // access_checker.cc; the Fast... and what calls them are inlined into AccessOf().
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
  // Not inlined: their code would slow down the callers, which hardly ever call them.
  [[gnu::noinline]] void AccessElsewhere(Lane& lane, uintptr_t address, int log2_bytes, AccessOp op,
                                         uintptr_t pc);
  [[noreturn, gnu::noinline]] void WildAddress(Lane& lane, uintptr_t address, int log2_bytes,
                                               AccessOp op, uintptr_t pc);

  // access_checker_shared.cc
  // Checks an access to another block's memory, from within the lane's fiber.
  [[gnu::noinline]] void CheckRemoteAccess(Lane& lane, uint32_t offset, uintptr_t pc);
  // Returns false, and reports, where the other block may not have begun.
  bool NoteRemoteAccess(Lane& lane, uint32_t offset, uintptr_t pc);
  // Checks an asynchronous read, outside of fibers. Returns false if the launch is to stop.
  bool CheckAsyncRead(const Lane& lane, uint32_t offset, uintptr_t pc);
  // Returns whether a store at that time is one that an asynchronous read of this lane sees.
  bool Fenced(const Lane& reader, uint32_t thread, uint32_t clock) const;
  // Returns an asynchronous read of the bytes that has not ended before the lane's present, until
  // the next call; null where there is none. Forgets all of them.
  const Culprit* AsyncReadsRunAt(const Lane& lane, uint32_t offset, int bytes);
  // Checks a store, from within the lane's fiber.
  [[gnu::noinline]] void CheckAgainstAsyncReads(Lane& lane, uint32_t offset, int bytes,
                                                uintptr_t pc);
  // Does so for an asynchronous write.
  bool CheckAsyncWrite(Lane& lane, uint32_t offset, uintptr_t pc);

  // access_checker_exact.cc
  void ExactGlobal(Lane& lane, uintptr_t address, int bytes, AccessOp op, uintptr_t pc);
  void ExactShared(Lane& lane, uint32_t offset, int bytes, AccessOp op, uintptr_t pc);
  void CheckRace(Lane& lane, ExactShadow* shadow, uint64_t address, int bytes, AccessOp op,
                 uintptr_t pc, absl::FunctionRef<std::string()> where);
  void Report(Check check, const Lane* lane, bool store, uintptr_t pc, std::string message,
              const Culprit* other = nullptr);
  // Reports, and ends the launch.
  [[noreturn]] void ReportFatal(Check check, Lane& lane, bool store, uintptr_t pc,
                                std::string message);
  Culprit CulpritOf(uint32_t thread, uintptr_t pc, bool store) const;
  // Ends the launch with a finding, outside of fibers.
  void ReportOutside(Check check, const Lane& lane, uintptr_t pc, std::string message);
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_ACCESS_CHECKER_H_
