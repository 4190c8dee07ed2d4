// A call whose operands the TMA cannot address, with copies of them in its workspace (pack.h).

#ifndef STRIDEWISE_MATMUL_DEVICE_TENSOR_PACKED_CALL_H_
#define STRIDEWISE_MATMUL_DEVICE_TENSOR_PACKED_CALL_H_

#include <algorithm>
#include <cstdint>

#include "common/gpu/launch_geometry.h"
#include "matmul/args.h"
#include "matmul/device/tensor/chunk.h"
#include "matmul/device/tensor/pack.h"
#include "matmul/device/tensor/plan.h"

namespace stridewise {

// An operand whose copy the TMA can address.
struct OperandCopy {
  PackedOperand packed;
  MatMulInput input;  // As the copy is multiplied.

  int64_t bytes() const {
    return int64_t{packed.count} * packed.rows * packed.pitch * static_cast<int64_t>(sizeof(uint4));
  }
};

// Returns the copy, at the beginning of `to`, of an operand that is stored as rows x cols; one of
// no bytes where the TMA can address the operand itself.
inline OperandCopy CopyOf(const MatMulInput& input, int64_t rows, int64_t cols, int64_t batch,
                          void* to) {
  OperandCopy copy;
  copy.packed = {};
  copy.input = input;
  if (TmaTakesOperand(input, rows, cols, batch)) return copy;
  const int64_t count = input.stride == 0 ? 1 : batch;
  copy.packed.from = static_cast<const uint16_t*>(input.data);
  copy.packed.rows = static_cast<uint32_t>(rows);
  copy.packed.cols = static_cast<uint32_t>(cols);
  copy.packed.count = static_cast<uint32_t>(count);
  copy.packed.chunks = static_cast<uint32_t>(CeilDiv(cols, kChunk));
  copy.packed.pitch = PackedPitch(copy.packed.chunks);
  copy.packed.ld = input.ld;
  copy.packed.stride = input.stride;
  copy.packed.to = static_cast<uint4*>(to);
  copy.input.data = to;
  copy.input.ld = int64_t{copy.packed.pitch} * kChunk;
  copy.input.stride = count == 1 ? 0 : rows * copy.input.ld;
  return copy;
}

// The copies of a call's operands, and the call with these.
struct PackedCall {
  OperandCopy a, b;
  MatMulArgs args;

  // Returns where b's copy and, behind the copies, the workspace of a kernel begin.
  int64_t b_offset() const { return AlignedUp(a.bytes()); }
  int64_t bytes() const { return b_offset() + AlignedUp(b.bytes()); }
  double written_bytes() const {
    return static_cast<double>(a.packed.vectors() + b.packed.vectors()) * sizeof(uint4);
  }

  static int64_t AlignedUp(int64_t bytes) {
    constexpr int64_t kAlignment = 256;
    return CeilDiv(bytes, kAlignment) * kAlignment;
  }
};

inline PackedCall PackedCallOf(const MatMulArgs& args) {
  PackedCall call;
  const auto copy = [&](const MatMulInput& input, int64_t rows, int64_t cols, void* to) {
    return input.transposed ? CopyOf(input, cols, rows, args.batch, to)
                            : CopyOf(input, rows, cols, args.batch, to);
  };
  call.a = copy(args.a, args.m, args.k, args.workspace);
  // Through an integer: without a workspace there is no address to add to.
  const auto behind = [&](int64_t bytes) {
    return reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(args.workspace) +
                                   static_cast<uintptr_t>(bytes));
  };
  call.b = copy(args.b, args.k, args.n, behind(call.b_offset()));
  call.args = args;
  call.args.a = call.a.input;
  call.args.b = call.b.input;
  call.args.workspace = behind(call.bytes());
  call.args.workspace_bytes = std::max<int64_t>(0, args.workspace_bytes - call.bytes());
  return call;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_TENSOR_PACKED_CALL_H_
