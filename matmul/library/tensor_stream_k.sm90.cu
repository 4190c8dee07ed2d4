// BF16 and FP16 for few tiles and a long k: `tensor_stream_k`. matmul/device/tensor/stream_k.h has
// the kernels, stream_k_plan.h divides a call; here it is launched.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "common/base/status_macros.h"
#include "common/gpu/launch.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor/output.h"
#include "matmul/device/tensor/plan.h"
#include "matmul/device/tensor/stream_k.h"
#include "matmul/device/tensor/stream_k_plan.h"
#include "matmul/device/tensor/stream_k_sums.h"
#include "matmul/device/tensor_launch.h"

namespace stridewise {
namespace {

template <typename Tile>
StreamKWork WorkOf(const MatMulArgs& args, const StreamKPlan& plan) {
  StreamKWork work = {};
  work.steps = static_cast<int>(CeilDiv(args.k, int64_t{Tile::kBlockK}));
  work.rows = static_cast<int>(CeilDiv(args.m, int64_t{Tile::kBlockM * Tile::kCluster}));
  work.cols = static_cast<int>(CeilDiv(args.n, int64_t{Tile::kBlockN}));
  work.tiles = static_cast<int>(work.rows * work.cols * args.batch);
  work.clusters = static_cast<int>(plan.clusters);
  return work;
}

template <typename Element>
LaunchStatus AddSums(const StreamKWork& work, const StreamKShape& shape, const CallOfTiles& call) {
  const auto launch = [&](auto kernel) {
    const int64_t vectors = int64_t{work.tiles} * shape.part_vectors;
    return LaunchDependent(kernel, Grid{CeilDiv(vectors, int64_t{kStreamKSumThreads})},
                           Block{kStreamKSumThreads}, 0, call.args.stream, work, shape,
                           static_cast<const float4*>(call.args.workspace), call.c);
  };
  return call.args.c.type == ElementType::kFloat ? launch(AddStreamKSums<float>)
                                                 : launch(AddStreamKSums<Element>);
}

template <typename Tile>
LaunchStatus LaunchTile(const CallOfTiles& call, const StreamKPlan& plan) {
  using Element = typename Tile::Element;
  const MatMulArgs& args = call.args;
  const TensorOperand<Element> a = {args.A<Element>(), MatrixCount(args.batch, args.a.stride)};
  const TensorOperand<Element> b = {args.B<Element>(), MatrixCount(args.batch, args.b.stride)};
  ASSIGN_OR_RETURN(const CUtensorMap map_a, OperandMapOf(a, Tile::kBoxRowsA));
  ASSIGN_OR_RETURN(const CUtensorMap map_b, OperandMapOf(b, Tile::kBoxRowsB));
  TensorGemm gemm = {};
  gemm.a_moves = a.matrices.count > 1 ? 1 : 0;
  gemm.b_moves = b.matrices.count > 1 ? 1 : 0;
  const StreamKWork work = WorkOf<Tile>(args, plan);
  RETURN_IF_ERROR(LaunchDependentClusters(
      Tile::kCluster, TensorStreamK<Tile>, Grid{int64_t{work.clusters} * Tile::kCluster},
      Block{kSingleThreads<Tile>}, Tile::kSharedBytes, args.stream, map_a, map_b, gemm, work,
      static_cast<float4*>(args.workspace)));
  return AddSums<Element>(
      work, {Tile::kBlockM * Tile::kCluster, Tile::kBlockN, Tile::kVectors, Tile::kPartVectors},
      call);
}

template <typename Element, int kColumns, OperandLayout kMajorA, OperandLayout kMajorB>
LaunchStatus LaunchCluster(const CallOfTiles& call, const StreamKPlan& plan) {
  // Two blocks cannot divide three panels of columns that do not lie along k.
  if constexpr (kMajorB == OperandLayout::kKMajor || kColumns % 128 == 0) {
    if (plan.cluster == 2) {
      return LaunchTile<StreamKTile<Element, kColumns, 2, kMajorA, kMajorB>>(call, plan);
    }
  }
  return LaunchTile<StreamKTile<Element, kColumns, 1, kMajorA, kMajorB>>(call, plan);
}

template <typename Element, OperandLayout kMajorA, OperandLayout kMajorB>
LaunchStatus LaunchCols(const CallOfTiles& call, const StreamKPlan& plan) {
  if constexpr (kMajorB == OperandLayout::kKMajor) {
    if (plan.cols == 144) return LaunchCluster<Element, 144, kMajorA, kMajorB>(call, plan);
    if (plan.cols == 224) return LaunchCluster<Element, 224, kMajorA, kMajorB>(call, plan);
  }
  switch (plan.cols) {
    case 128:
      return LaunchCluster<Element, 128, kMajorA, kMajorB>(call, plan);
    case 192:
      return LaunchCluster<Element, 192, kMajorA, kMajorB>(call, plan);
    default:
      return LaunchCluster<Element, 256, kMajorA, kMajorB>(call, plan);
  }
}

template <typename Element>
LaunchStatus Run(const MatMulArgs& args, const StreamKPlan& plan) {
  const CallOfTiles call(args, plan.transposed);
  return ForLayouts(call.args,
                    [&](auto a, auto b) { return LaunchCols<Element, a(), b()>(call, plan); });
}

// Runs what this kernel does not take.
const MatMulFunctions& Fallback() {
  static const MatMulFunctions fallback = FunctionsOf("tensor_split");
  return fallback;
}

// Returns the plan, without columns where the kernel does not take the call.
StreamKPlan PlanOf(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return {};
  const DeviceModel device = DeviceOf(args);
  return TmaTakes(args, device) ? PlanTensorStreamK(args, device) : StreamKPlan();
}

}  // namespace

int64_t MatMulTensorStreamKWorkspaceBytes(const MatMulArgs& args) {
  const StreamKPlan plan = PlanOf(args);
  return plan.cols == 0 ? 0 : plan.WorkspaceBytes();
}

LaunchStatus MatMulTensorStreamK(const MatMulArgs& args) {
  const StreamKPlan plan = PlanOf(args);
  if (plan.cols == 0 || args.workspace_bytes < plan.WorkspaceBytes()) return Fallback().run(args);
  return args.a.type == ElementType::kBf16 ? Run<__nv_bfloat16>(args, plan)
                                           : Run<__half>(args, plan);
}

}  // namespace stridewise
