// What a kernel does for a call, as far as the choice of `auto` needs it: counts, from which
// cost_model.h predicts a time. Computed from shape, form, alignment, workspace and device alone, in
// some tens of nanoseconds.
//
// A line of kernels.inc names the function that counts. The functions here serve kernels with tiles
// (TileWork), and those of a few kernels that divide their work in another way.

#ifndef STRIDEWISE_MATMUL_KERNEL_WORK_H_
#define STRIDEWISE_MATMUL_KERNEL_WORK_H_

#include <cstdint>

#include "common/gpu/device_model.h"
#include "matmul/args.h"

namespace stridewise {

// A workspace_bytes that is enough for any kernel, for predictions before there is a workspace.
inline constexpr int64_t kAnyWorkspace = INT64_MAX;

// What passes on a multiprocessor that has the most to do. "Resident" are the blocks that it runs at
// the same time. Every field costs a time of its own, a constant of the kernel and the GPU:
// MATMUL_WORK(field, unit) lists them.
#define STRIDEWISE_MATMUL_WORK(MATMUL_WORK)                                                 \
  MATMUL_WORK(launches)     /* Kernels, one after the other. */                             \
  MATMUL_WORK(rounds)       /* Tiles of a block slot: prologues and epilogues. */           \
  MATMUL_WORK(tiles)        /* The same, times the resident blocks. */                      \
  MATMUL_WORK(steps)        /* k steps of a block slot: what latency costs. */              \
  MATMUL_WORK(block_steps)  /* The same, times the resident blocks: what arithmetic costs. */ \
  MATMUL_WORK(slow_copies)  /* The part of block_steps whose operands are copied 4 bytes at a time. */ \
  MATMUL_WORK(fixup_mb)     /* MB of partial sums, written and read again. */               \
  MATMUL_WORK(packed_mb)    /* MB of operands that are copied before the product. */        \
  MATMUL_WORK(dram_mb)      /* MB of operands and result: what memory costs. */

struct MatMulWork {
#define MATMUL_WORK(field) double field = 0;
  STRIDEWISE_MATMUL_WORK(MATMUL_WORK)
#undef MATMUL_WORK

  // What corrections look at beside the fields.
  double fill = 0;   // Blocks over the blocks that the device runs at the same time.
  double waste = 1;  // Elements of C that tiles cover, over those that there are.
  double units = 0;  // Work units of tiles that are split along k; 0 where none is.
};

// Return whether every row of the operand, as stored, begins and ends at a multiple of 16 bytes.
bool HasVectorsA(const MatMulArgs& args);
bool HasVectorsB(const MatMulArgs& args);

// The part of C that a block computes at a time, and what else a kernel's tile policy says
// (matmul/device/tile_policies.h).
struct MatMulTile {
  const char* policy = "";  // Its name.
  int rows = 0;             // 0: the kernel has no tile policy.
  int cols = 0;
  int k = 0;              // Of a step.
  int resident = 0;       // Blocks on a multiprocessor.
  double split_cost = 0;  // kSplitCost.
};

// Counts the work of a kernel with tiles whose last round is split along k as PlanSplit() of
// matmul/device/split_plan.h does it, where the workspace suffices.
MatMulWork TileWork(const MatMulArgs& args, const DeviceModel& device, const MatMulTile& tile);

// Counts the work of a kernel with tiles that are never split.
MatMulWork WholeTileWork(const MatMulArgs& args, const DeviceModel& device, const MatMulTile& tile);

// Count the work of the kernels that these lines of kernels.inc name.
MatMulWork TinyWork(const MatMulArgs& args, const DeviceModel& device, const MatMulTile& tile);
MatMulWork ThinWork(const MatMulArgs& args, const DeviceModel& device, const MatMulTile& tile);
MatMulWork RaggedWork(const MatMulArgs& args, const DeviceModel& device, const MatMulTile& tile);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_KERNEL_WORK_H_
