// Products of float with operands rounded to BF16 or FP16: `tensor_rounded`. One kernel rounds both
// into the workspace, each number once and to the nearest, ties to even, and `tensor` multiplies
// what it has left there.
//
// A number that FP16 cannot hold becomes infinite, from 65520 on, and one below 2^-24 loses its
// digits; BF16 has the exponents of float. A call without the workspace is one of TF32, which
// keeps FP16's digits and the exponents of float.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "common/base/return_if_error.h"
#include "common/gpu/launch.h"
#include "matmul/device/copied_vector.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/rounded_choice.h"

namespace stridewise {
namespace {

constexpr int kThreads = 256;
constexpr int kBlocks = 4;    // On a multiprocessor.
constexpr int kTogether = 4;  // Vectors of a thread that are under way together.
constexpr int kVector16 = 8;  // Elements of the copy in 16 bytes.

// Matrices of a batch as they are stored, and their copy, whose rows begin at multiples of 16
// bytes.
struct RoundedOperand {
  const float* from;
  uint32_t rows, cols, count;
  uint32_t chunks;  // Vectors of a row of the copy.
  bool vectors;     // Each row begins at a multiple of 16 bytes.
  int64_t ld, stride;
  int64_t out_ld;
  uint16_t* to;

  __host__ __device__ int64_t vectors_of_copy() const { return int64_t{count} * rows * chunks; }
};

template <typename Element>
__device__ inline uint32_t RoundTwo(float x, float y) {
  uint32_t bits;
  if constexpr (std::is_same_v<Element, __half>) {
    const __half2 two = __floats2half2_rn(x, y);
    bits = *reinterpret_cast<const uint32_t*>(&two);
  } else {
    const __nv_bfloat162 two = __floats2bfloat162_rn(x, y);
    bits = *reinterpret_cast<const uint32_t*>(&two);
  }
  return bits;
}

// Loads `left` of eight neighbours, or as many as there are; 0 behind them.
__device__ inline void LoadEight(const float* from, int64_t left, bool vectors, float (&x)[8]) {
  if (vectors && left >= kVector16) {
    LoadFour(from, x);
    LoadFour(from + 4, x + 4);
    return;
  }
#pragma unroll
  for (int i = 0; i < kVector16; ++i) x[i] = i < left ? from[i] : 0;
}

// Rounds two operands. REQUIRES: together they have fewer than 2^31 vectors, so that divisions need
// no 64 bits, which would take longer than the copy.
template <typename Element>
__global__ void __launch_bounds__(kThreads, kBlocks)
    RoundOperands(const __grid_constant__ RoundedOperand first,
                  const __grid_constant__ RoundedOperand second) {
  LetNextKernelBegin();
  const auto of_first = static_cast<uint32_t>(first.vectors_of_copy());
  const uint32_t all = of_first + static_cast<uint32_t>(second.vectors_of_copy());
  const uint32_t threads = gridDim.x * kThreads;
  for (uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < all; i += threads * kTogether) {
    float x[kTogether][kVector16];
    uint16_t* to[kTogether];
#pragma unroll
    for (int j = 0; j < kTogether; ++j) {
      const uint32_t number = i + j * threads;
      const auto at = FindCopiedVector(number, of_first, first, second);
      const RoundedOperand& operand = at.operand;
      const int64_t col = int64_t{at.chunk} * kVector16;
      const float* const from =
          operand.from + at.matrix * operand.stride + int64_t{at.row} * operand.ld + col;
      to[j] = operand.to + at.line * operand.out_ld + col;
      LoadEight(from, number < all ? operand.cols - col : 0, operand.vectors, x[j]);
    }
#pragma unroll
    for (int j = 0; j < kTogether; ++j) {
      if (i + j * threads >= all) break;
      *reinterpret_cast<uint4*>(to[j]) =
          make_uint4(RoundTwo<Element>(x[j][0], x[j][1]), RoundTwo<Element>(x[j][2], x[j][3]),
                     RoundTwo<Element>(x[j][4], x[j][5]), RoundTwo<Element>(x[j][6], x[j][7]));
    }
  }
}

// An operand and, in its place, the copy.
struct OperandCopy {
  RoundedOperand rounded;
  MatMulInput input;
};

OperandCopy CopyOf(const MatMulInput& input, const ConstMatrix<float>& stored,
                   const SplitLayout& layout, ElementType type, uintptr_t to) {
  constexpr uintptr_t kBytes = 16;
  OperandCopy copy;
  RoundedOperand& rounded = copy.rounded;
  rounded.from = stored.data;
  rounded.rows = static_cast<uint32_t>(stored.rows);
  rounded.cols = static_cast<uint32_t>(stored.cols);
  rounded.count = static_cast<uint32_t>(layout.count);
  rounded.chunks = static_cast<uint32_t>(CeilDiv(stored.cols, kVector16));
  rounded.ld = stored.ld;
  rounded.stride = layout.count > 1 ? input.stride : 0;
  rounded.vectors = reinterpret_cast<uintptr_t>(stored.data) % kBytes == 0 &&
                    (rounded.ld | rounded.stride) % 4 == 0;
  rounded.out_ld = layout.out_ld;
  rounded.to = reinterpret_cast<uint16_t*>(to);  // NOLINT(performance-no-int-to-ptr)
  copy.input = input;
  copy.input.data = rounded.to;
  copy.input.type = type;
  copy.input.ld = layout.out_ld;
  copy.input.stride = layout.count > 1 ? stored.rows * layout.out_ld : 0;
  return copy;
}

// A call's copies, and the call with them.
struct RoundedCall {
  RoundedOperand a, b;
  MatMulArgs args;
};

RoundedCall RoundedCallOf(const MatMulArgs& args) {
  const ElementType type =
      args.precision == MatMulPrecision::kBf16 ? ElementType::kBf16 : ElementType::kFp16;
  // An integer: where the workspace is asked for there is none yet.
  const auto workspace = reinterpret_cast<uintptr_t>(args.workspace);
  const auto behind_a = workspace + static_cast<uintptr_t>(RoundedBytesOfA(args));
  const auto behind_b = workspace + static_cast<uintptr_t>(RoundedBytes(args));
  const OperandCopy a =
      CopyOf(args.a, args.A<float>(), SplitLayoutOfA(args, kRoundedForm), type, workspace);
  const OperandCopy b =
      CopyOf(args.b, args.B<float>(), SplitLayoutOfB(args, kRoundedForm), type, behind_a);
  RoundedCall call = {a.rounded, b.rounded, args};
  call.args.a = a.input;
  call.args.b = b.input;
  call.args.precision = MatMulPrecision::kFp32;  // Of operands of float, which these are not.
  call.args.workspace = reinterpret_cast<void*>(behind_b);  // NOLINT(performance-no-int-to-ptr)
  call.args.workspace_bytes -= RoundedBytes(args);
  return call;
}

const MatMulFunctions& Tensor() {
  static const MatMulFunctions tensor = FunctionsOf("tensor");
  return tensor;
}

// Runs what has no copies.
const MatMulFunctions& Tf32() {
  static const MatMulFunctions tf32 = FunctionsOf("tensor_tf32");
  return tf32;
}

}  // namespace

LaunchStatus MatMulTensorRounded(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const DeviceModel device = DeviceOf(args);
  if (!CanRound(args, device)) return Tf32().run(args);
  const RoundedCall call = RoundedCallOf(args);
  const int64_t vectors = call.a.vectors_of_copy() + call.b.vectors_of_copy();
  const int64_t blocks =
      std::min<int64_t>(CeilDiv(vectors, kThreads), int64_t{device.multiprocessors} * kBlocks);
  const auto round = [&](auto kernel) {
    return Launch(kernel, Grid{blocks}, Block{kThreads}, 0, args.stream, call.a, call.b);
  };
  RETURN_IF_ERROR(args.precision == MatMulPrecision::kBf16 ? round(RoundOperands<__nv_bfloat16>)
                                                           : round(RoundOperands<__half>));
  return Tensor().run(call.args);
}

int64_t MatMulTensorRoundedWorkspaceBytes(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return 0;
  MatMulArgs any = args;
  any.workspace = nullptr;
  any.workspace_bytes = std::numeric_limits<int64_t>::max();
  if (!CanRound(any, DeviceOf(args))) return Tf32().workspace_bytes(args);
  return RoundedBytes(args) + Tensor().workspace_bytes(RoundedCallOf(any).args);
}

}  // namespace stridewise
