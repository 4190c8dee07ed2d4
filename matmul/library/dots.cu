// Batches of products with few elements of C and a deep k: dot products, whose lanes lie along k.
//
// Kernels with tiles in shared memory copy such operands 4 bytes at a time where their rows have no
// multiple of 16 bytes, and have next to nothing to multiply them with. Here a warp computes 8x8
// elements of C, each lane from every 32nd k: what is loaded goes to registers, a row of 32
// elements with one instruction, and to 64 fma. At the end a warp adds its lanes' sums by
// exchanging halves of them, 62 shuffles for 64 sums, and a block those of the warps that share a
// tile.

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/device/gemm_args.h"
#include "matmul/dots_plan.h"

namespace stridewise {
namespace {

constexpr int kWarps = kDotsWarps;

// Rows of op(A), or columns of op(B), along k.
template <int kSide, bool kKMajor>
class DotsReader {
 public:
  // The first element is that of the lane's first k.
  __device__ DotsReader(const Operand<float>& operand, int64_t matrix, int64_t first_mn,
                        int64_t first_k)
      : next_(operand.data + (matrix + (kKMajor ? first_mn * operand.ld + first_k
                                                : first_k * operand.ld + first_mn))),
        ld_(operand.ld),
        count_(static_cast<int>(min(operand.mn - first_mn, int64_t{kSide}))) {}

  // Loads those elements of one k that exist, and leaves the others.
  __device__ void Load(float (&values)[kSide]) const {
#pragma unroll
    for (int i = 0; i < kSide; ++i) {
      if (i < count_) values[i] = next_[kKMajor ? i * ld_ : i];
    }
  }

  __device__ void Advance(int count) { next_ += kKMajor ? count : count * ld_; }

 private:
  const float* next_;
  int64_t ld_;
  int count_;
};

// The elements of a tile whose sums a lane has, the first in its first sum.
struct DotsElements {
  int first;
  int count;
};

// Adds the lanes' sums of kCount elements. A lane hands over half of what it has to the lane with
// the other bit kMask, and so on.
template <int kCount, int kMask = kWarpSize / 2, int kSums>
__device__ inline void AddLanes(float (&sums)[kSums], int lane, DotsElements* elements) {
  if constexpr (kMask > 0) {
    constexpr int kHalf = (kCount + 1) / 2;
    const bool upper = (lane & kMask) != 0;
#pragma unroll
    for (int i = 0; i < kHalf; ++i) {
      const float other = i + kHalf < kCount ? sums[i + kHalf] : 0;
      const float given = upper ? sums[i] : other;
      sums[i] = (upper ? other : sums[i]) + __shfl_xor_sync(~0u, given, kMask);
    }
    elements->first += upper ? kHalf : 0;
    elements->count = upper ? elements->count - kHalf : min(elements->count, kHalf);
    AddLanes<kHalf, kMask / 2>(sums, lane, elements);
  }
}

// Returns the most elements that a lane has after AddLanes().
constexpr int DotsOfLane(int count) {
  for (int mask = kWarpSize / 2; mask > 0; mask /= 2) count = (count + 1) / 2;
  return count;
}
template <int kSide>
inline constexpr int kDotsOfLane = DotsOfLane(kSide* kSide);

template <int kSide, bool kKMajorA, bool kKMajorB>
__global__ void __launch_bounds__(kWarps* kWarpSize, kSide == 8 ? 2 : 1)
    Dots(Gemm<Float32> gemm, DotsPlan plan) {
  constexpr int kSums = kSide * kSide;
  constexpr int kOfLane = kDotsOfLane<kSide>;
  __shared__ float parts[kWarps][kOfLane][kWarpSize];
  const int lane = static_cast<int>(threadIdx.x % kWarpSize);
  const int warp = static_cast<int>(threadIdx.x / kWarpSize);
  const int slice = warp & (plan.slices - 1);
  const uint32_t tile = blockIdx.x * (kWarps >> plan.log_slices) + (warp >> plan.log_slices);
  const bool exists = tile < plan.tiles;
  const uint32_t index = exists ? tile / plan.tiles_of_product : 0;
  const uint32_t in_product = exists ? tile - index * plan.tiles_of_product : 0;
  const uint32_t tile_row = in_product / plan.tiles_n;
  const int64_t row = int64_t{tile_row} * kSide;
  const int64_t col = int64_t{in_product - tile_row * plan.tiles_n} * kSide;

  float sums[kSums] = {};
  int k = slice * kWarpSize + lane;
  DotsReader<kSide, kKMajorA> read_a(gemm.a, index * gemm.stride_a, row, k);
  DotsReader<kSide, kKMajorB> read_b(gemm.b, index * gemm.stride_b, col, k);
  float a[kSide] = {};
  float b[kSide] = {};
  const auto add = [&] {
#pragma unroll
    for (int i = 0; i < kSide; ++i) {
#pragma unroll
      for (int j = 0; j < kSide; ++j) sums[i * kSide + j] = fma(a[i], b[j], sums[i * kSide + j]);
    }
  };
  const int step = plan.slices * kWarpSize;
  const int end = exists ? gemm.k : 0;
  // Two steps' loads stand before the first use of either.
#pragma unroll 2
  for (; k - lane + kWarpSize <= end; k += step) {
    read_a.Load(a);
    read_b.Load(b);
    add();
    read_a.Advance(step);
    read_b.Advance(step);
  }
  if (k < end) {
    read_a.Load(a);
    read_b.Load(b);
    add();
  }

  DotsElements elements = {0, kSums};
  AddLanes<kSums>(sums, lane, &elements);
  if (plan.slices > 1) {
#pragma unroll
    for (int i = 0; i < kOfLane; ++i) parts[warp][i][lane] = sums[i];
    __syncthreads();
    if (slice > 0) return;
#pragma unroll 1
    for (int other = 1; other < plan.slices; ++other) {
#pragma unroll
      for (int i = 0; i < kOfLane; ++i) sums[i] += parts[warp + other][i][lane];
    }
  }
  if (!exists) return;
  float* const c = gemm.c.data + index * gemm.stride_c;
#pragma unroll
  for (int i = 0; i < kOfLane; ++i) {
    const int element = elements.first + i;
    const int64_t c_row = row + element / kSide;
    const int64_t c_col = col + element % kSide;
    if (i >= elements.count || c_row >= gemm.c.rows || c_col >= gemm.c.cols) continue;
    gemm.epilogue.Store(sums[i], c, c_row * gemm.c.ld + c_col);
  }
}

template <int kSide>
LaunchStatus LaunchDots(const Gemm<Float32>& gemm, const DotsPlan& plan, const MatMulArgs& args) {
  return ForLayouts(args, [&](auto layout_a, auto layout_b) {
    return Launch(
        Dots<kSide, layout_a() == OperandLayout::kKMajor, layout_b() == OperandLayout::kKMajor>,
        Grid{plan.Blocks()}, Block{kWarps * kWarpSize}, 0, args.stream, gemm, plan);
  });
}

}  // namespace

LaunchStatus MatMulDots(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const Gemm<Float32> gemm = GemmOf<Float32>(args);
  const DotsPlan plan =
      PlanDots(args.m, args.n, gemm.k, args.batch, DeviceOf(args).multiprocessors);
  return plan.side == 8 ? LaunchDots<8>(gemm, plan, args) : LaunchDots<12>(gemm, plan, args);
}

}  // namespace stridewise
