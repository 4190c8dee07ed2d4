// The kernel of tensor cores for up to 16 rows or columns beside a matrix whose rows lie along k,
// as weights do in decoding: its lines arrive whole, in the order in which they lie in memory.
//
// 117 MB take 43 us on an H100 in bulk copies of whole lines, and 48 in boxes of 128 lines and 128
// bytes, as wgmma wants them. So the few stay in registers, where each of 16 warps has its part of
// k, and eight lines of the many are the columns of mma.sync. The warps' sums for these meet in
// shared memory.

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_LINES_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_LINES_H_

#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/ptx_sm90.h"
#include "matmul/device/ptx_sm90_cluster.h"
#include "matmul/device/tensor/epilogue.h"
#include "matmul/device/tensor/general_operand.h"
#include "matmul/device/tensor/lines_few.h"
#include "matmul/device/tensor/lines_plan.h"

namespace stridewise {

constexpr int kLinesConsumers = kLinesWarps * 32;
constexpr int kLinesThreads = kLinesConsumers + 32;

// What the kernel needs to know of the product.
struct TensorLinesGemm {
  GeneralOperand few;
  const uint16_t* many;
  int64_t many_ld;
  int many_lines, k;
  int chunks, stages, pitch_bytes;  // See LinesPlan.
  int out_bytes;                    // Of an element of C: 4, or 2 for the type of the operands.
  TensorOutput c;
};

// The shared memory of a block.
struct LinesMemory {
  Mbarrier* full;
  Mbarrier* empty;
  float* sums;  // Two buffers of all warps' sums.
  char* stages;

  __device__ explicit LinesMemory(char* raw) {
    full = reinterpret_cast<Mbarrier*>(raw);
    empty = full + kLinesMaxStages;
    sums = reinterpret_cast<float*>(empty + kLinesMaxStages);
    stages = reinterpret_cast<char*>(sums + 2 * kLinesWarps * kLinesSums);
  }
};

// Stores the sum that has place `at` among those of a warp and a stage: a lane has four.
template <typename Out>
__device__ inline void StoreLinesSum(const TensorOutput& c, float sum, int64_t first, int at) {
  const int lane = at / 4;
  const int64_t few = lane / 4 + at / 2 % 2 * 8;
  const int64_t many = first + lane % 4 * 2 + at % 2;
  const int64_t row = c.transposed ? few : many;
  const int64_t col = c.transposed ? many : few;
  if (row >= c.rows || col >= c.cols) return;
  Out* const to = static_cast<Out*>(c.data) + row * c.ld + col;
  const Out* const bias = static_cast<const Out*>(c.bias);
  *to = static_cast<Out>(c.Finish(sum, c.beta != 0 ? static_cast<float>(*to) : 0.0f,
                                  bias != nullptr ? static_cast<float>(bias[col]) : 0.0f));
}

// Fills stages with this block's lines, by one warp: the first ones before the block has met, the
// others after that.
class LinesProducer {
 public:
  __device__ LinesProducer(const TensorLinesGemm& gemm, const LinesMemory& memory)
      : gemm_(gemm), memory_(memory), group_(static_cast<int>(blockIdx.x)) {}

  // Fills at most `count` stages.
  __device__ void Fill(int count) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int groups = (gemm_.many_lines + kLinesTogether - 1) / kLinesTogether;
    const auto bytes = static_cast<uint32_t>(gemm_.k) * 2;
#pragma unroll 1
    for (; count > 0 && group_ < groups; --count, group_ += static_cast<int>(gridDim.x)) {
      memory_.empty[stage_].Wait(phase_ ^ 1);
      if (lane == 0) memory_.full[stage_].ArriveExpecting(kLinesTogether * bytes);
      __syncwarp();
      if (lane < kLinesTogether) {
        // Lines beyond the last are the last one.
        const int line = min(group_ * kLinesTogether + lane, gemm_.many_lines - 1);
        CopyBytes(
            gemm_.many + line * gemm_.many_ld, bytes,
            SharedAddress(memory_.stages) + (stage_ * kLinesTogether + lane) * gemm_.pitch_bytes,
            memory_.full[stage_]);
      }
      if (++stage_ == gemm_.stages) {
        stage_ = 0;
        phase_ ^= 1;
      }
    }
  }

 private:
  const TensorLinesGemm& gemm_;
  const LinesMemory& memory_;
  int group_, stage_ = 0;
  uint32_t phase_ = 0;
};

// Writes 0 where warps read more of k than there is: no copy arrives there.
__device__ inline void ClearLineEnds(const TensorLinesGemm& gemm, const LinesMemory& memory) {
  constexpr int kVector = sizeof(uint4);
  const int vectors = (gemm.pitch_bytes - gemm.k * 2) / kVector;
  const int lines = gemm.stages * kLinesTogether;
  for (int i = static_cast<int>(threadIdx.x); i < lines * vectors; i += kLinesConsumers) {
    char* const to = memory.stages + i / vectors * gemm.pitch_bytes + gemm.k * 2;
    reinterpret_cast<uint4*>(to)[i % vectors] = make_uint4(0, 0, 0, 0);
  }
}

// Multiplies this block's lines, by the consumers, and stores sums.
template <typename Element>
__device__ inline void DrainLines(const TensorLinesGemm& gemm, const LinesMemory& memory,
                                  const LinesFew<Element>& few, int first_k) {
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int own_bytes = lane / 4 * gemm.pitch_bytes + (first_k + lane % 4 * 8) * 2;
  const int groups = (gemm.many_lines + kLinesTogether - 1) / kLinesTogether;
  int stage = 0;
  uint32_t phase = 0;
  float* buffer = memory.sums;
#pragma unroll 1
  for (int i = static_cast<int>(blockIdx.x); i < groups; i += static_cast<int>(gridDim.x)) {
    float d[4] = {};
    memory.full[stage].Wait(phase);
    few.Multiply(memory.stages + stage * kLinesTogether * gemm.pitch_bytes + own_bytes, gemm.chunks,
                 d);
    *reinterpret_cast<float4*>(buffer + warp * kLinesSums + lane * 4) =
        make_float4(d[0], d[1], d[2], d[3]);
    // Once for each stage: what the buffer held before was read before the last time.
    asm volatile("bar.sync 1, %0;" ::"n"(kLinesConsumers) : "memory");
    if (threadIdx.x == kLinesConsumers - 1) memory.empty[stage].Arrive();
    if (++stage == gemm.stages) {
      stage = 0;
      phase ^= 1;
    }
    if (threadIdx.x < kLinesSums) {
      float sum = 0;
#pragma unroll
      for (int w = 0; w < kLinesWarps; ++w) sum += buffer[w * kLinesSums + threadIdx.x];
      const int64_t first = int64_t{i} * kLinesTogether;
      if (gemm.out_bytes == 4) {
        StoreLinesSum<float>(gemm.c, sum, first, static_cast<int>(threadIdx.x));
      } else {
        StoreLinesSum<Element>(gemm.c, sum, first, static_cast<int>(threadIdx.x));
      }
    }
    buffer = buffer == memory.sums ? buffer + kLinesWarps * kLinesSums : memory.sums;
  }
}

template <typename Element>
__global__ void __launch_bounds__(kLinesThreads, 1)
    TensorLines(const __grid_constant__ TensorLinesGemm gemm) {
#if __CUDA_ARCH__ >= 900
  extern __shared__ char raw[];
  const LinesMemory memory(raw);
  const int warp = static_cast<int>(threadIdx.x) / 32;
  if (threadIdx.x == kLinesConsumers) {
    for (int i = 0; i < gemm.stages; ++i) {
      memory.full[i].Init(1);
      memory.empty[i].Init(1);
    }
    Mbarrier::InitDone();
  }
  WaitForPreviousKernel();  // Which may have made copies of operands.
  // The first lines are on their way before the few: a microsecond less.
  LinesProducer producer(gemm, memory);
  LinesFew<Element> few;
  const int first_k = warp * gemm.chunks * kLinesChunk;
  if (warp == kLinesWarps) {
    __syncwarp();
    producer.Fill(gemm.stages);
  } else {
    few.Load(gemm.few, first_k, gemm.chunks, gemm.k, memory.sums + warp * 2 * kLinesSums);
    ClearLineEnds(gemm, memory);
  }
  __syncthreads();
  if (warp == kLinesWarps) {
    producer.Fill(gemm.many_lines);
  } else {
    DrainLines(gemm, memory, few, first_k);
  }
#endif
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_LINES_H_
