// BF16 and FP16 by tensor cores: `tensor_tile`. matmul/device/tensor_kernel.h is the kernel; here a
// call is planned: which tile, in which order, and what the TMA has to know.
//
// A product of 4096 has 137 GFLOP, which take 139 us at the 989 TFLOP/s of 1.83 GHz; under random
// data the card runs into its 700 W and at 1.6 GHz. cuBLAS takes 173 us, this kernel 175.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "matmul/device/gemm_args.h"
#include "matmul/device/registry_entry.h"
#include "matmul/device/tensor/plan.h"
#include "matmul/device/tensor/tile_plan.h"
#include "matmul/device/tensor_launch.h"

namespace stridewise {
namespace {

template <typename Tile>
LaunchStatus LaunchTile(const MatMulArgs& args, const DeviceModel& device) {
  using Element = typename Tile::Element;
  const TensorOperand<Element> a = {args.A<Element>(), MatrixCount(args.batch, args.a.stride)};
  const TensorOperand<Element> b = {args.B<Element>(), MatrixCount(args.batch, args.b.stride)};
  const TensorGemm gemm = TensorGemmOf<Tile>(args, a.matrices.count > 1, b.matrices.count > 1);
  return LaunchTensorProduct<Tile>(args, gemm, PersistentGrid<Tile>(gemm, device), a, b);
}

// Runs a tile of kColumns columns, with or without clusters.
template <typename Element, typename Out, int kColumns, int kStages, OperandLayout kMajorA,
          OperandLayout kMajorB>
LaunchStatus LaunchColumns(const MatMulArgs& args, const TensorPlan& plan,
                           const DeviceModel& device) {
  return plan.cluster == 2
             ? LaunchTile<TensorTile<Element, Out, kColumns, kStages, 2, kMajorA, kMajorB>>(args,
                                                                                            device)
             : LaunchTile<TensorTile<Element, Out, kColumns, kStages, 1, kMajorA, kMajorB>>(args,
                                                                                            device);
}

// Runs a tile of 64 rows, which has one consumer: for products of few tiles, of which there are
// twice as many so.
template <typename Element, typename Out, OperandLayout kMajorA, OperandLayout kMajorB>
LaunchStatus LaunchLow(const MatMulArgs& args, const TensorPlan& plan, const DeviceModel& device) {
  constexpr TensorSums kSums = TensorSums::kTensorCores;
  switch (plan.cols) {
    case 64:
      return LaunchTile<TensorTile<Element, Out, 64, 12, 1, kMajorA, kMajorB, kSums, false, 1>>(
          args, device);
    case 128:
      return LaunchTile<TensorTile<Element, Out, 128, 8, 1, kMajorA, kMajorB, kSums, false, 1>>(
          args, device);
    default:
      return LaunchTile<TensorTile<Element, Out, 192, 5, 1, kMajorA, kMajorB, kSums, false, 1>>(
          args, device);
  }
}

template <typename Element, typename Out, OperandLayout kMajorA, OperandLayout kMajorB>
LaunchStatus LaunchShape(const MatMulArgs& args, const DeviceModel& device) {
  const TensorPlan plan = PlanTensorTile(args, device);
  if (plan.rows == kMmaRows) return LaunchLow<Element, Out, kMajorA, kMajorB>(args, plan, device);
  switch (plan.cols) {
    case 64:
      return LaunchTile<TensorTile<Element, Out, 64, 8, 1, kMajorA, kMajorB>>(args, device);
    case 128:
      return LaunchColumns<Element, Out, 128, 6, kMajorA, kMajorB>(args, plan, device);
    case 192: {
      // As HasTensorTile() says.
      constexpr int kCluster = kMajorB == OperandLayout::kKMajor ? 2 : 1;
      return LaunchTile<TensorTile<Element, Out, 192, 4, kCluster, kMajorA, kMajorB>>(args, device);
    }
    default:
      return LaunchColumns<Element, Out, 256, 4, kMajorA, kMajorB>(args, plan, device);
  }
}

template <typename Element, typename Out>
LaunchStatus Run(const MatMulArgs& args, const DeviceModel& device) {
  return ForLayouts(args, [&](auto a, auto b) {
    return LaunchShape<Element, Out, decltype(a)::value, decltype(b)::value>(args, device);
  });
}

// Runs what this kernel does not take.
const MatMulFunctions& Fallback() {
  static const MatMulFunctions fallback = FunctionsOf("tensor_general");
  return fallback;
}

template <typename Element>
LaunchStatus RunFor(const MatMulArgs& args) {
  const DeviceModel device = DeviceOf(args);
  if (!TmaTakes(args, device)) return Fallback().run(args);
  return args.c.type == ElementType::kFloat ? Run<Element, float>(args, device)
                                            : Run<Element, Element>(args, device);
}

}  // namespace

LaunchStatus MatMulTensorTile(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  return args.a.type == ElementType::kBf16 ? RunFor<__nv_bfloat16>(args) : RunFor<__half>(args);
}

}  // namespace stridewise
