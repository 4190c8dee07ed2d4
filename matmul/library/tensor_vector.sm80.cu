// BF16 and FP16 for a single row or column, with operands of any alignment: `tensor_vector`.
// matmul/device/tensor/vector_lines.h, vector_columns.h and vector_rows.h are the kernels; here a
// call is planned.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor/output.h"
#include "matmul/device/tensor/vector_columns.h"
#include "matmul/device/tensor/vector_lines.h"
#include "matmul/device/tensor/vector_plan.h"
#include "matmul/device/tensor/vector_rows.h"

namespace stridewise {
namespace {

template <typename Element>
LaunchStatus Run(const MatMulArgs& args) {
  const VectorPlan plan = PlanTensorVector(args, DeviceOf(args));
  const bool is_row = args.m == 1;
  const MatMulInput& x = is_row ? args.b : args.a;
  const MatMulInput& y = is_row ? args.a : args.b;
  TensorVector product = {};
  product.x = static_cast<const uint16_t*>(x.data);
  product.y = static_cast<const uint16_t*>(y.data);
  product.ld = x.ld;
  product.y_step = y.transposed == is_row ? y.ld : 1;
  product.cols = is_row ? args.n : args.m;
  product.c = OutputOf(args);
  product.c.transposed = is_row;
  product.k = product.c.alpha == 0 ? 0 : static_cast<int>(args.k);
  product.parts = plan.parts;
  product.k_of_part = static_cast<int>(CeilDiv(product.k, plan.parts));
  product.out_bytes = static_cast<int>(ElementBytes(args.c.type));
  product.c_step = is_row ? 1 : args.c.ld;
  product.x_stride = x.stride;
  product.y_stride = y.stride;
  if (plan.aligned && product.k > 0) {
    // Blocks of which several run at once on a multiprocessor; more of them are as fast.
    constexpr int64_t kBlocks = 16;
    const Grid grid = {
        std::min<int64_t>(product.cols, kBlocks * std::max(1, DeviceOf(args).multiprocessors)),
        args.batch};
    const auto launch = [&](auto kernel) {
      return Launch(kernel, grid, Block{kVectorThreads}, 0, args.stream, product);
    };
    const int64_t vectors = CeilDiv(product.k, kVectorThreads * kVectorChunk);
    return vectors == 1 ? launch(TensorVectorLines<Element, 1>)
                        : launch(TensorVectorLines<Element, 2>);
  }
  const int64_t tiles = CeilDiv(product.cols, plan.along_k ? kVectorLines : kVectorCols);
  return LaunchClusters(
      plan.parts, plan.along_k ? TensorVectorRows<Element> : TensorVectorColumns<Element>,
      Grid{tiles * plan.parts, args.batch}, Block{kVectorThreads}, 0, args.stream, product);
}

// Runs what this kernel does not take.
const MatMulFunctions& Fallback() {
  static const MatMulFunctions fallback = FunctionsOf("tensor_direct");
  return fallback;
}

}  // namespace

LaunchStatus MatMulTensorVector(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  if (!TensorVectorTakes(args)) return Fallback().run(args);
  return args.a.type == ElementType::kBf16 ? Run<__nv_bfloat16>(args) : Run<__half>(args);
}

}  // namespace stridewise
