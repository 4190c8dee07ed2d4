// What a kernel does for a call, as far as the choice of `auto` needs it: counts, from which
// cost_model.h predicts a time. Computed from shape, form, alignment, workspace and device alone,
// in some tens of nanoseconds.
//
// A line of kernels.inc names the function that counts. TileWork() serves kernels with tiles;
// others stand below it.

#ifndef STRIDEWISE_MATMUL_KERNEL_WORK_H_
#define STRIDEWISE_MATMUL_KERNEL_WORK_H_

#include <cstdint>

#include "common/gpu/device_model.h"
#include "matmul/args.h"
#include "matmul/split_cost.h"

namespace stridewise {

// A workspace_bytes that is enough for any kernel, for predictions before there is a workspace.
inline constexpr int64_t kAnyWorkspace = INT64_MAX;

// A number that counts are divided by: a multiplication takes a fifth of the time of a division.
struct MatMulDivisor {
  constexpr MatMulDivisor(double number = 1)  // NOLINT(google-explicit-constructor)
      : value(number), inverse(1 / number) {}
  constexpr MatMulDivisor(double number, double one_over_it)
      : value(number), inverse(one_over_it) {}

  double value;
  double inverse;
};

inline constexpr MatMulDivisor operator*(const MatMulDivisor& x, const MatMulDivisor& y) {
  return {x.value * y.value, x.inverse * y.inverse};
}

// A call, as counting needs it: what several kernels look at is computed once. Counts are computed
// in floating point, and are exact below 2^53.
struct MatMulCall {
  MatMulCall(const MatMulArgs& call_args, const DeviceModel& call_device);

  const MatMulArgs& args;
  const DeviceModel& device;
  double m, n, batch;
  double k;         // What is computed: 0 where alpha is 0.
  double elements;  // Of C, of the whole batch.
  double one_over_elements;
  MatMulDivisor multiprocessors;
  double workspace_bytes;
  double dram_mb;  // Of the operands, each read once, and of C.
  // Whether every row of the operand, as stored, begins and ends at a multiple of 16 bytes.
  bool vectors_a, vectors_b;
};

// What passes on a multiprocessor that has the most to do. "Resident" are the blocks that it runs
// at the same time. Each field costs a time of its own, a constant of the kernel and the GPU.
#define STRIDEWISE_MATMUL_WORK(MATMUL_WORK)                                                        \
  MATMUL_WORK(launches)       /* Kernels, one after the other. */                                  \
  MATMUL_WORK(rounds)         /* Tiles of a block slot: prologues and epilogues. */                \
  MATMUL_WORK(tiles)          /* The same, times the resident blocks. */                           \
  MATMUL_WORK(steps)          /* k steps of a block slot: what latency costs. */                   \
  MATMUL_WORK(block_steps)    /* The same, times the resident blocks: what arithmetic costs. */    \
  MATMUL_WORK(slow_copies)    /* The part of block_steps that copies 4 bytes at a time. */         \
  MATMUL_WORK(mfma)           /* Millions of multiply-adds, where steps do not tell. */            \
  MATMUL_WORK(fixup_mb)       /* MB of partial sums, written and read again. */                    \
  MATMUL_WORK(fixup_depth)    /* Partial sums that a thread adds, one after the other. */          \
  MATMUL_WORK(cluster_tiles)  /* Tiles whose sums the blocks of a cluster add. */                  \
  MATMUL_WORK(cluster_blocks) /* The same, times the blocks of the cluster. */                     \
  MATMUL_WORK(planned)   /* The time that the kernel's own plan predicts, in a unit of its own. */ \
  MATMUL_WORK(packed_mb) /* MB of operands that are copied before the product. */                  \
  MATMUL_WORK(dram_mb)   /* MB of operands and result: what memory costs. */

struct MatMulWork {
#define MATMUL_WORK(field) double field;
  STRIDEWISE_MATMUL_WORK(MATMUL_WORK)
#undef MATMUL_WORK

  // What corrections look at beside the fields.
  double fill;   // Blocks over the blocks that the device runs at the same time.
  double last;   // The part of these that the last round has.
  double waste;  // Elements of C that tiles cover, over those that there are.
  double units;  // Work units of tiles that are split along k; 0 where none is.
};

// The part of C that a block computes at a time, and what else a kernel's tile policy says
// (matmul/device/tile_policies.h).
struct MatMulTile {
  MatMulDivisor rows;
  MatMulDivisor cols;
  MatMulDivisor k;          // Of a step.
  MatMulDivisor resident;   // Blocks on a multiprocessor.
  SplitCost split_cost;     // kSplitCost.
  double cluster_cost = 0;  // kClusterCost.
};

// Counts the work of a kernel with tiles whose last round is split along k as PlanSplit() of
// matmul/device/split_plan.h does it, where the workspace suffices.
MatMulWork TileWork(const MatMulCall& call, const MatMulTile& tile);

// Counts the work of a kernel with tiles that are never split.
MatMulWork WholeTileWork(const MatMulCall& call, const MatMulTile& tile);

// Count the work of the kernels that these lines of kernels.inc name.
MatMulWork TinyWork(const MatMulCall& call, const MatMulTile& tile);
MatMulWork ThinWork(const MatMulCall& call, const MatMulTile& tile);
MatMulWork TmaWork(const MatMulCall& call, const MatMulTile& tile);
MatMulWork RaggedWork(const MatMulCall& call, const MatMulTile& tile);
MatMulWork RaggedStreamKWork(const MatMulCall& call, const MatMulTile& tile);
MatMulWork MatVecWork(const MatMulCall& call, const MatMulTile& tile);
MatMulWork SkinnyWork(const MatMulCall& call, const MatMulTile& tile);
MatMulWork OuterWork(const MatMulCall& call, const MatMulTile& tile);
MatMulWork BriefMatVecWork(const MatMulCall& call, const MatMulTile& tile);
MatMulWork BriefWork(const MatMulCall& call, const MatMulTile& tile);
MatMulWork DirectWork(const MatMulCall& call, const MatMulTile& tile);
MatMulWork DotsWork(const MatMulCall& call, const MatMulTile& tile);
MatMulWork FittedWork(const MatMulCall& call, const MatMulTile& tile);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_KERNEL_WORK_H_
