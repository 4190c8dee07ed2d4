// The general form as the kernels that work on tiles want it.

#ifndef STRIDEWISE_MATMUL_DEVICE_GEMM_ARGS_H_
#define STRIDEWISE_MATMUL_DEVICE_GEMM_ARGS_H_

#include <cstdint>
#include <type_traits>

#include "absl/status/status.h"
#include "common/base/status_macros.h"
#include "common/gpu/argument_checks.h"
#include "matmul/args.h"
#include "matmul/device/tile_copy.h"
#include "matmul/device/tile_edges.h"
#include "matmul/device/tile_store.h"

namespace stridewise {

// A kernel's argument. The same for every block.
struct Gemm {
  Operand a;
  Operand b;
  Matrix<float> c;
  int depth;  // Terms of a sum; 0 where alpha is 0.
  Scale scale;
  int64_t stride_a, stride_b, stride_c;  // From one multiplication of a batch to the next.
};

// Whether every row begins, and ends, at a multiple of 16 bytes, in every matrix of the batch.
inline bool IsMadeOfVectors(const ConstMatrix<float>& stored, int64_t batch, int64_t stride) {
  return IsMadeOfVectors(stored) && (batch == 1 || stride % kVector == 0);
}

inline Gemm GemmOf(const MatMulArgs& args) {
  const auto alpha = static_cast<float>(args.alpha);
  const ConstMatrix<float> a = args.A<float>();
  const ConstMatrix<float> b = args.B<float>();
  Gemm gemm;
  gemm.a = {a.data, a.ld, args.m, IsMadeOfVectors(a, args.batch, args.a.stride)};
  gemm.b = {b.data, b.ld, args.n, IsMadeOfVectors(b, args.batch, args.b.stride)};
  gemm.c = args.C<float>();
  gemm.depth = alpha == 0 ? 0 : static_cast<int>(args.k);
  gemm.scale = {gemm.depth == 0 ? 0 : alpha, static_cast<float>(args.beta)};
  gemm.stride_a = args.a.stride;
  gemm.stride_b = args.b.stride;
  gemm.stride_c = args.c.stride;
  return gemm;
}

// InvalidArgument where tile_copy.h cannot count offsets.
inline absl::Status CheckTileLd(const MatMulArgs& args) {
  RETURN_IF_ERROR(CheckAtMost("lda", args.a.ld, kMaxTileLd));
  return CheckAtMost("ldb", args.b.ld, kMaxTileLd);
}

template <Access kAccess>
using AccessConstant = std::integral_constant<Access, kAccess>;

// Calls fn with the two operands' accesses as constants.
template <typename Fn>
absl::Status ForAccesses(const MatMulArgs& args, Fn fn) {
  using Along = AccessConstant<Access::kAlongTerms>;
  using Across = AccessConstant<Access::kAcross>;
  if (args.a.transposed) {
    return args.b.transposed ? fn(Across(), Along()) : fn(Across(), Across());
  }
  return args.b.transposed ? fn(Along(), Along()) : fn(Along(), Across());
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_GEMM_ARGS_H_
