// Correct kernels with bulk copies and tensor maps.

#include <cuda.h>
#include <cudaTypedefs.h>

#include "common/executor/testdata/hopper_kernels.h"
#include "common/executor/testdata/hopper_operations.h"
#include "common/gpu/launch.h"

namespace stridewise::executor {
namespace {

// A box of kBytes a row of the 16 x 16 integers, of which some lie outside; swizzled where its rows
// are wider than a piece needs.
template <int kSwizzle>
struct Box {
  static constexpr int kCols = (kSwizzle == 0 ? 64 : kSwizzle) / 4;
  static constexpr int kBoxRows = 256 / kCols;
  static constexpr int kX = -4, kY = -3;
  static int Want(int i) {
    const int x = i % kCols + kX;
    const int y = i / kCols + kY;
    return x < 0 || x >= 16 || y < 0 || y >= 16 ? 0 : 3 * (y * 16 + x);
  }
};

CUtensorMap MapOf(const int* matrix, int box_cols, int box_rows, int swizzle,
                  CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_INT32) {
  const cuuint64_t extents[] = {16, 16, 1};
  const cuuint64_t strides[] = {64, 1024};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(box_cols), static_cast<cuuint32_t>(box_rows),
                            1};
  const cuuint32_t element_strides[] = {1, 1, 1};
  CUtensorMap map = {};
  cuTensorMapEncodeTiled(&map, type, 3, const_cast<int*>(matrix), extents, strides, box,
                         element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE,
                         static_cast<CUtensorMapSwizzle>(swizzle), CU_TENSOR_MAP_L2_PROMOTION_NONE,
                         CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return map;
}

template <int kSwizzle>
__global__ void TmaBox(int* out, const CUtensorMap map) {
  __shared__ int s[256];
  __shared__ uint64_t full;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT(full, 1);
    EXPECT(full, 1024);
    asm volatile(
        "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes "
        "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(SharedAddress(s)),
        "l"(&map), "r"(Box<kSwizzle>::kX), "r"(Box<kSwizzle>::kY), "r"(0), "r"(SharedAddress(&full))
        : "memory");
  }
  __syncthreads();
  WAIT(full, 0);
  const unsigned address = SharedAddress(s) + 4 * t;
  const unsigned exchanged =
      kSwizzle == 0 ? address : address ^ (((address >> 7) & (kSwizzle / 16 - 1)) << 4);
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(out[t]) : "r"(exchanged));
}

template <int kSwizzle>
absl::Status RunBox(const CorrectArgs& args) {
  using B = Box<kSwizzle>;
  const int number = kSwizzle == 0 ? 0 : kSwizzle == 32 ? 1 : kSwizzle == 64 ? 2 : 3;
  return Launch(TmaBox<kSwizzle>, Grid{1}, Block{256}, 0, args.stream, args.out,
                MapOf(args.in, B::kCols, B::kBoxRows, number));
}

// Floats of many exponents, of either sign, and what the TMA makes of their mantissas: 0x800000
// is one more in the exponent.
struct RoundedMantissa {
  unsigned from, to;
};
constexpr RoundedMantissa kRoundedMantissas[] = {
    {0x000000, 0x000000}, {0x000001, 0x000000}, {0x000fff, 0x000000}, {0x001000, 0x000000},
    {0x001001, 0x002000}, {0x001fff, 0x002000}, {0x002000, 0x002000}, {0x002fff, 0x002000},
    {0x003000, 0x004000}, {0x003001, 0x004000}, {0x3fefff, 0x3fe000}, {0x3ff000, 0x400000},
    {0x7fefff, 0x7fe000}, {0x7ff000, 0x800000}, {0x7ff001, 0x800000}, {0x7fffff, 0x800000}};
__device__ unsigned SignAndExponent(int i) {
  const unsigned exponents[] = {0, 1, 2, 63, 127, 128, 253, 254};
  return static_cast<unsigned>(i % 2) << 31 | exponents[i / 2 % 8] << 23;
}

__global__ void StoreFloats(int* out) {
  const int i = threadIdx.x;
  out[i] = static_cast<int>(SignAndExponent(i) + kRoundedMantissas[i / 16].from);
}

// The box begins in row -3 and column -4.
int WantRounded(int i) {
  using B = Box<0>;
  const int x = i % B::kCols + B::kX;
  const int y = i / B::kCols + B::kY;
  if (x < 0 || x >= 16 || y < 0 || y >= 16) return 0;
  return static_cast<int>(SignAndExponent(y * 16 + x) + kRoundedMantissas[y].to);
}

absl::Status RunRounded(const CorrectArgs& args) {
  const absl::Status stored = Launch(StoreFloats, Grid{1}, Block{256}, 0, args.stream, args.out);
  if (!stored.ok()) return stored;
  using B = Box<0>;
  return Launch(TmaBox<0>, Grid{1}, Block{256}, 0, args.stream, args.out,
                MapOf(args.out, B::kCols, B::kBoxRows, 0, CU_TENSOR_MAP_DATA_TYPE_TFLOAT32));
}

// A plain copy in, a box out, and its buffer used again once it has been read.
__global__ void TmaRoundTrip(int* out, const int* in, const CUtensorMap map) {
  __shared__ int s[256];
  __shared__ uint64_t full;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT(full, 1);
    EXPECT(full, 1024);
    BULK_LOAD(s, in, 1024, full);
  }
  __syncthreads();
  WAIT(full, 0);
  s[t] += 7;
  PROXY_FENCE();
  __syncthreads();
  if (t == 0) {
    asm volatile(
        "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], "
        "[%4];" ::"l"(&map),
        "r"(0), "r"(0), "r"(0), "r"(SharedAddress(s))
        : "memory");
    BULK_COMMIT();
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
  }
  __syncthreads();
  s[t] = 0;
  if (t == 0) BULK_WAIT();
}

// One thread loads, all others read; the stage is loaded again when all have read it.
__global__ void BulkPipeline(int* out, const int* in) {
  __shared__ int stage[64];
  __shared__ uint64_t full, empty;
  const int t = threadIdx.x;
  if (t == 0) {
    INIT_UNFENCED(full, 1);
    INIT_UNFENCED(empty, 256);
    PROXY_FENCE();
  }
  __syncthreads();
  int sum = 0;
  for (int i = 0; i < 4; ++i) {
    if (t == 0) {
      if (i > 0) WAIT(empty, (i - 1) % 2);
      EXPECT(full, 256);
      BULK_LOAD(stage, in + 64 * i, 256, full);
    }
    WAIT(full, i % 2);
    sum += stage[t % 64];
    ARRIVE(empty);
  }
  out[t] = sum;
}

}  // namespace

std::vector<CorrectKernel> BulkKernels() {
  return {
      {"TmaBox", false, RunBox<0>, Box<0>::Want},
      {"TmaBoxOf32", false, RunBox<32>, Box<32>::Want},
      {"TmaBoxOf64", false, RunBox<64>, Box<64>::Want},
      {"TmaBoxOf128", false, RunBox<128>, Box<128>::Want},
      {"TmaRoundsToTf32", false, RunRounded, WantRounded},
      {"TmaRoundTrip", false,
       [](const CorrectArgs& args) -> absl::Status {
         return Launch(TmaRoundTrip, Grid{1}, Block{256}, 0, args.stream, args.out, args.in,
                       MapOf(args.out, 16, 16, 0));
       },
       [](int i) { return 3 * i + 7; }},
      HOPPER_KERNEL(BulkPipeline, [](int i) { return 3 * (4 * (i % 64) + 64 * 6); }),
  };
}

}  // namespace stridewise::executor
