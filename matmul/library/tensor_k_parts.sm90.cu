// BF16 and FP16 for few tiles and a long k: `tensor_k_parts`. matmul/device/tensor/k_parts.h has
// the kernels, k_parts_plan.h divides a call; here it is launched.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "absl/status/status.h"
#include "common/base/status_macros.h"
#include "common/gpu/launch.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor/k_parts.h"
#include "matmul/device/tensor/k_parts_plan.h"
#include "matmul/device/tensor/k_parts_sums.h"
#include "matmul/device/tensor/output.h"
#include "matmul/device/tensor/plan.h"
#include "matmul/device/tensor_launch.h"

namespace stridewise {
namespace {

template <typename Tile>
KPartsWork WorkOf(const MatMulArgs& args, const KPartsPlan& plan) {
  KPartsWork work = {};
  work.steps = static_cast<int>(CeilDiv(args.k, int64_t{Tile::kBlockK}));
  work.rows = static_cast<int>(CeilDiv(args.m, int64_t{Tile::kBlockM}));
  work.cols = static_cast<int>(CeilDiv(args.n, int64_t{Tile::kBlockN}));
  work.tiles = static_cast<int>(work.rows * work.cols * args.batch);
  work.parts = static_cast<int>(plan.parts);
  return work;
}

template <typename Element>
LaunchStatus AddParts(const KPartsWork& work, const KPartsTileSums& tile, const CallOfTiles& call) {
  const auto launch = [&](auto kernel) {
    return LaunchDependent(kernel, Grid{int64_t{tile.groups} * tile.vectors, work.tiles},
                           Block{kWarpgroupThreads}, 0, call.args.stream, work, tile,
                           static_cast<const float4*>(call.args.workspace), call.c);
  };
  return call.args.c.type == ElementType::kFloat ? launch(AddKParts<float>)
                                                 : launch(AddKParts<Element>);
}

template <typename Tile>
LaunchStatus LaunchTile(const CallOfTiles& call, const KPartsPlan& plan) {
  using Element = typename Tile::Element;
  const MatMulArgs& args = call.args;
  const TensorOperand<Element> a = {args.A<Element>(), MatrixCount(args.batch, args.a.stride)};
  const TensorOperand<Element> b = {args.B<Element>(), MatrixCount(args.batch, args.b.stride)};
  ASSIGN_OR_RETURN(const CUtensorMap map_a, OperandMapOf(a, Tile::kBoxRowsA));
  ASSIGN_OR_RETURN(const CUtensorMap map_b, OperandMapOf(b, Tile::kBoxRowsB));
  TensorGemm gemm = {};
  gemm.a_moves = a.matrices.count > 1 ? 1 : 0;
  gemm.b_moves = b.matrices.count > 1 ? 1 : 0;
  const KPartsWork work = WorkOf<Tile>(args, plan);
  RETURN_IF_ERROR(LaunchDependent(TensorKParts<Tile>, Grid{int64_t{work.tiles} * work.parts},
                                  Block{kSingleThreads<Tile>}, Tile::kSharedBytes, args.stream,
                                  map_a, map_b, gemm, work, static_cast<float4*>(args.workspace)));
  return AddParts<Element>(
      work, {Tile::kBlockM, Tile::kBlockN, Tile::kConsumerGroups, Tile::kVectors}, call);
}

// Runs the plan's shape, which is the one with this number or a later one.
template <typename Element, OperandLayout kMajorA, OperandLayout kMajorB, size_t kNumber = 0>
LaunchStatus LaunchShape(const CallOfTiles& call, const KPartsPlan& plan) {
  constexpr KPartsShape kShape = kKPartsShapes[kNumber];
  if constexpr (kShape.Takes(kMajorB == OperandLayout::kKMajor)) {
    if (plan.shape == static_cast<int>(kNumber)) {
      return LaunchTile<KPartsTile<Element, kShape.groups, kShape.cols, kMajorA, kMajorB>>(call,
                                                                                           plan);
    }
  }
  if constexpr (kNumber + 1 < std::size(kKPartsShapes)) {
    return LaunchShape<Element, kMajorA, kMajorB, kNumber + 1>(call, plan);
  } else {
    return absl::InternalError("a shape that the operands' layouts do not have");
  }
}

template <typename Element>
LaunchStatus Run(const MatMulArgs& args, const KPartsPlan& plan) {
  const CallOfTiles call(args, plan.transposed);
  return ForLayouts(call.args,
                    [&](auto a, auto b) { return LaunchShape<Element, a(), b()>(call, plan); });
}

// Runs what this kernel does not take.
const MatMulFunctions& Fallback() {
  static const MatMulFunctions fallback = FunctionsOf("tensor_split");
  return fallback;
}

// Returns the plan, without a shape where the kernel does not take the call.
KPartsPlan PlanOf(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return {};
  const DeviceModel device = DeviceOf(args);
  return TmaTakes(args, device) ? PlanTensorKParts(args, device) : KPartsPlan();
}

}  // namespace

int64_t MatMulTensorKPartsWorkspaceBytes(const MatMulArgs& args) {
  const KPartsPlan plan = PlanOf(args);
  return plan.shape < 0 ? 0 : plan.WorkspaceBytes();
}

LaunchStatus MatMulTensorKParts(const MatMulArgs& args) {
  const KPartsPlan plan = PlanOf(args);
  if (plan.shape < 0 || args.workspace_bytes < plan.WorkspaceBytes()) return Fallback().run(args);
  return args.a.type == ElementType::kBf16 ? Run<__nv_bfloat16>(args, plan)
                                           : Run<__half>(args, plan);
}

}  // namespace stridewise
