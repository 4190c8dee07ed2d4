// The general form, C = alpha * op(A) * op(B) + beta * C of a batch, as kernels take it.

#ifndef STRIDEWISE_MATMUL_DEVICE_GEMM_ARGS_H_
#define STRIDEWISE_MATMUL_DEVICE_GEMM_ARGS_H_

#include <cstdint>
#include <type_traits>

#include "common/gpu/current_device.h"
#include "common/gpu/device_model.h"
#include "common/gpu/launch_status.h"
#include "matmul/args.h"
#include "matmul/device/epilogue.h"
#include "matmul/device/operand.h"
#include "matmul/device/vector_access.h"

namespace stridewise {

// A kernel's argument, the same for every block.
template <typename Types>
struct Gemm {
  Operand<typename Types::A> a;
  Operand<typename Types::B> b;
  Matrix<typename Types::C> c;
  int k;  // 0 where alpha is 0: A and B are not read.
  Epilogue<Types> epilogue;
  int64_t stride_a, stride_b, stride_c;  // From one multiplication of a batch to the next.
};

// Returns whether every row of every matrix of the batch begins and ends at a multiple of 16 bytes.
template <typename T>
bool IsMadeOfVectors(const ConstMatrix<T>& stored, int64_t batch, int64_t stride) {
  constexpr int64_t kElements = kVectorBytes / static_cast<int64_t>(sizeof(T));
  return IsMadeOfVectors(stored) && (batch == 1 || stride % kElements == 0);
}

template <typename Types>
Gemm<Types> GemmOf(const MatMulArgs& args) {
  using Accumulator = typename Types::Accumulator;
  const auto alpha = static_cast<Accumulator>(args.alpha);
  const auto a = args.A<typename Types::A>();
  const auto b = args.B<typename Types::B>();
  Gemm<Types> gemm;
  gemm.a = {a.data, a.ld, args.m, IsMadeOfVectors(a, args.batch, args.a.stride)};
  gemm.b = {b.data, b.ld, args.n, IsMadeOfVectors(b, args.batch, args.b.stride)};
  gemm.c = args.C<typename Types::C>();
  gemm.k = alpha == 0 ? 0 : static_cast<int>(args.k);
  gemm.epilogue = {gemm.k == 0 ? 0 : alpha, static_cast<Accumulator>(args.beta)};
  gemm.stride_a = args.a.stride;
  gemm.stride_b = args.b.stride;
  gemm.stride_c = args.c.stride;
  return gemm;
}

// Returns the device that plans are made for: the caller's, or else the current one.
inline const DeviceModel& DeviceOf(const MatMulArgs& args) {
  return args.device_model != nullptr ? *args.device_model : CurrentDeviceModel();
}

// Returns the factors of FP8 operands.
inline TensorScales ScalesOf(const MatMulArgs& args) {
  TensorScales scales = {args.scales.a, args.scales.b};
  if (args.scales.per_128) {
    scales.blocks_of_k = static_cast<int>(CeilDiv(args.k, kScaledBlock));
    scales.blocks_of_n = static_cast<int>(CeilDiv(args.n, kScaledBlock));
  }
  return scales;
}

// Calls fn with the two operands' layouts as constants.
template <typename Fn>
LaunchStatus ForLayouts(const MatMulArgs& args, Fn fn) {
  using KMajor = std::integral_constant<OperandLayout, OperandLayout::kKMajor>;
  using MnMajor = std::integral_constant<OperandLayout, OperandLayout::kMnMajor>;
  if (args.a.transposed) {
    return args.b.transposed ? fn(MnMajor(), KMajor()) : fn(MnMajor(), MnMajor());
  }
  return args.b.transposed ? fn(KMajor(), KMajor()) : fn(KMajor(), MnMajor());
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_GEMM_ARGS_H_
