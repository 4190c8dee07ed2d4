// FP32 products by tensor cores: `split_flat`. Six INT8 products, as `split_int8`, where the rows
// of op(A) and the columns of op(B) are flat enough for them, and three FP16 products, as
// `split_fp16`, where they are not. The device chooses (matmul/device/split_chosen.h), for all of
// the call.
//
// Five launches instead of two, of which two end at once. Where rows are flat the call reads and
// writes no more than `split_int8`; where they are not, a first split that is thrown away moves 7
// bytes for each element of A and B beside the 8 of the second.

#include <cstdint>
#include <limits>

#include "matmul/device/split_flat.h"
#include "matmul/device/split_launch.h"
#include "matmul/device/split_slices.h"

namespace stridewise {
namespace {

constexpr int kChooseThreads = 1024;

// Returns the least range of all rows or columns, to thread 0. Called by the whole block.
__device__ int LeastRange(const SplitScale* scales, int64_t count, int* of_warps) {
  constexpr int kWarp = 32;
  int least = 1 << 24;
#pragma unroll 4
  for (int64_t i = threadIdx.x; i < count; i += kChooseThreads) {
    least = min(least, RangeOf(scales[i]) >> 1);
  }
  least = __reduce_min_sync(~0u, least);
  if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = least;
  __syncthreads();
  for (int i = 0; i < kChooseThreads / kWarp; ++i) least = min(least, of_warps[i]);
  return least;
}

// Looks at the words that the split has left, by one block: some 2 us for 16384 rows and columns.
// A choice by the kernels themselves would have each block of each of them read all words.
__global__ void __launch_bounds__(kChooseThreads)
    ChooseScheme(const SplitScale* rows, int64_t row_count, const SplitScale* cols,
                 int64_t col_count, RowsAreFlat* rows_are_flat) {
  __shared__ int of_rows[kChooseThreads / 32], of_cols[kChooseThreads / 32];
  WaitForPreviousKernel();
  const int least_of_rows = LeastRange(rows, row_count, of_rows);
  const int least_of_cols = LeastRange(cols, col_count, of_cols);
  if (threadIdx.x == 0) {
    *rows_are_flat = PartsSuffice(/*poor=*/true, least_of_rows, least_of_cols) ? 1 : 0;
  }
}

// What the rows do not matter for: the call is one of pairs, or of FP32.
const MatMulFunctions& Pairs() {
  static const MatMulFunctions pairs = FunctionsOf("split_fp16");
  return pairs;
}

}  // namespace

LaunchStatus MatMulSplitFlat(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const DeviceModel device = DeviceOf(args);
  if (!CanSplitFlat(args, device)) return Pairs().run(args);
  const SplitSources of = SourcesOf<Int8Slices>(args, device);
  RETURN_IF_ERROR(LaunchSplit<Int8Slices>(of, args.stream));
  auto* const rows_are_flat =
      reinterpret_cast<RowsAreFlat*>(static_cast<char*>(args.workspace) + FlatPartsBytes(args));
  RETURN_IF_ERROR(LaunchDependent(ChooseScheme, Grid{1}, Block{kChooseThreads}, 0, args.stream,
                                  of.a.scales, of.a.count * args.m, of.b.scales,
                                  of.b.count * args.n, rows_are_flat));
  // Both halves wait for the choice: this one's first kernel does not begin before it is made.
  RETURN_IF_ERROR(MatMulPairsIfChosen(args, device, {rows_are_flat, 0}));
  return LaunchProduct<Int8Slices>(args, device, of, IfChosen{rows_are_flat, 1});
}

int64_t MatMulSplitFlatWorkspaceBytes(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return 0;
  MatMulArgs any = args;
  any.workspace_bytes = std::numeric_limits<int64_t>::max();
  return CanSplitFlat(any, DeviceOf(args)) ? FlatWorkspaceBytes(args)
                                           : Pairs().workspace_bytes(args);
}

}  // namespace stridewise
