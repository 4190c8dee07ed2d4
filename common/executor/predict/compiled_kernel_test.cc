#include "common/executor/predict/compiled_kernel.h"

#include "common/executor/executor.h"
#include "common/executor/predict/demand.h"
#include "common/executor/predict/machine_model.h"
#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

TEST(KernelKey, LeavesNamespacesAndArgumentsOut) {
  const struct {
    const char* demangled;
    const char* key;
  } kCases[] = {
      {"", ""},
      {"Copy", "Copy"},
      {"void Copy<float>(float*)", "Copy<float>"},
      {"void stridewise::(anonymous namespace)::Tiled<float, true, 32>(int, int)",
       "Tiled<float,true,32>"},
      {"void stridewise::executor::(anonymous namespace)::Outer<stridewise::executor::Tile<8> >()",
       "Outer<Tile<8>>"},
      {"void Epilogue<(Kind)1, int (*)(int)>(float*)", "Epilogue<(Kind)1,int(*)(int)>"},
  };
  for (const auto& c : kCases) EXPECT_EQ(KernelKey(c.demangled), c.key);
}

// A block of two warps, each with 8 loads from shared memory and 4 from global memory, and with as
// many barriers as the launch says. All warps load the same line.
LaunchReport Launch(uint64_t barriers) {
  LaunchReport launch;
  launch.grid = {1, 1, 1};
  launch.block = {64, 1, 1};
  launch.profile.warps = 2;
  launch.profile.barriers = barriers;
  launch.accesses.buffers = {{"in", 128}};
  for (int warp = 0; warp < 2; ++warp) {
    for (int i = 0; i < 12; ++i) {
      AccessRequest request;
      const EventKind kind = i < 8 ? EventKind::kSharedLoad : EventKind::kGlobalLoad;
      request.site = MakeSite(1, kind, /*log2_bytes=*/2);
      request.warp = warp;
      request.lanes = ~0u;
      request.buffer = i < 8 ? AccessRequest::kShared : 0;
      request.offset.fill(i < 8 ? i * 4 : 0);
      launch.accesses.requests.push_back(request);
    }
  }
  return launch;
}

Totals TotalsOf(const LaunchReport& launch, const CompiledKernel& compiled) {
  return DemandOf(launch, **FindMachine("--machine", "h200"), &compiled).totals;
}

CompiledLoop Loop(int instructions, int shared_bytes, int global_loads, int barriers) {
  CompiledLoop loop;
  loop.instructions = instructions;
  loop.multiply_adds = 1;
  loop.shared_bytes = shared_bytes;
  loop.global_loads = global_loads;
  loop.barriers = barriers;
  loop.shared_rounds = 0.5;
  return loop;
}

TEST(DemandOf, CountsTheInstructionsOfLoops) {
  CompiledKernel kernel;
  kernel.name = "Kernel";
  kernel.loads_together = 2;
  kernel.instructions = 7;
  const struct {
    CompiledLoop inner, outer;
    double inner_turns, outer_turns;  // Of both warps.
  } kCases[] = {
      {Loop(100, 16, 0, 0), Loop(0, 0, 0, 0), 4, 0},
      {Loop(100, 0, 2, 0), Loop(0, 0, 0, 0), 4, 0},
      {Loop(100, 32, 4, 0), Loop(0, 0, 0, 0), 2, 0},  // Shared memory tells, not global memory.
      {Loop(100, 16, 0, 0), Loop(10, 0, 4, 2), 4, 3},
      {Loop(100, 2, 0, 0), Loop(10, 8, 4, 2), 20, 3},  // 64 bytes without the outer loop's 24.
      {Loop(100, 16, 0, 0), Loop(10, 0, 4, 0), 4, 2},  // Without barriers its loads tell.
      {Loop(100, 0, 1, 0), Loop(10, 0, 4, 2), 0, 3},   // Nothing is left for the inner loop.
      {Loop(100, 0, 0, 0), Loop(0, 0, 0, 0), 0, 0},
  };
  for (const auto& c : kCases) {
    kernel.inner = c.inner;
    kernel.outer = c.outer;
    const Totals totals = TotalsOf(Launch(/*barriers=*/3), kernel);
    EXPECT_EQ(totals[Quantity::kInstructions], 14 + 100 * c.inner_turns + 10 * c.outer_turns)
        << &c - kCases;
    EXPECT_EQ(totals[Quantity::kFusedMultiplyAdds], c.inner_turns + c.outer_turns) << &c - kCases;
    EXPECT_EQ(totals[Quantity::kSharedRounds], (c.inner_turns + c.outer_turns) / 2) << &c - kCases;
  }
}

TEST(DemandOf, TakesWidthsAndWaitsFromCompiledCode) {
  CompiledKernel kernel;
  kernel.inner = Loop(100, 16, 0, 0);
  kernel.loads_together = 2;
  kernel.shared_load_bytes = 16;
  Totals totals = TotalsOf(Launch(0), kernel);
  EXPECT_EQ(totals[Quantity::kSharedRequests], 4);
  EXPECT_EQ(totals[Quantity::kDramRounds] + totals[Quantity::kL1Rounds], 4);
  kernel.shared_load_bytes = 4;
  kernel.loads_together = 4;
  totals = TotalsOf(Launch(0), kernel);
  EXPECT_EQ(totals[Quantity::kSharedRequests], 16);
  EXPECT_EQ(totals[Quantity::kDramRounds] + totals[Quantity::kL1Rounds], 2);
}

TEST(DemandOf, RegistersLimitWhatIsResident) {
  CompiledKernel kernel;
  const MachineModel& h200 = **FindMachine("--machine", "h200");
  EXPECT_EQ(DemandOf(Launch(0), h200, &kernel).resident_blocks, 32);
  kernel.registers = 255;
  EXPECT_EQ(DemandOf(Launch(0), h200, &kernel).resident_blocks, 4);
  // Without a loop nothing else is known, and instructions are estimated.
  EXPECT_EQ(DemandOf(Launch(0), h200, &kernel).totals[Quantity::kInstructions], 0);
}

}  // namespace
}  // namespace stridewise::executor
