// Products that last for some microseconds: small tiles, all of whose k is on its way at once.
//
// A launch, a trip to memory and a store take 5 us between two events on an H200; products of up to
// some hundreds of rows, columns and k took 8 to 12 in tiles that are made for long pipelines. See
// brief/tile.h for a block's tile, brief/kernel.h for what computes it and brief_plan.h for which
// tiles and parts of k a call takes.

#include <cstdint>

#include "common/gpu/launch.h"
#include "matmul/args.h"
#include "matmul/brief_plan.h"
#include "matmul/device/brief/kernel.h"
#include "matmul/device/brief/tile.h"
#include "matmul/device/gemm_args.h"

namespace stridewise {
namespace {

template <int kShape, bool kWholeK>
LaunchStatus LaunchShape(const MatMulArgs& args, const BriefPlan& plan) {
  constexpr BriefShape kOf = kBriefShapes[kShape];
  const BriefProduct product = {
      GemmOf<Float32>(args), FastDivisor(static_cast<uint32_t>(plan.parts)),
      FastDivisor(static_cast<uint32_t>(CeilDiv(args.n, kOf.cols))), args.batch, plan.k_of_part};
  const int64_t layers = CeilDiv(args.batch, kMaxGridYZ);
  return ForLayouts(args, [&](auto layout_a, auto layout_b) {
    using Form = BriefForm<kOf.rows, kOf.cols, kOf.rows, kOf.cols, kOf.warps, kWholeK, layout_a(),
                           layout_b()>;
    const int64_t floats = BriefMemory<Form>::Floats(plan.k_of_part, plan.parts);
    return LaunchClusters(plan.parts, Brief<Form>,
                          Grid{plan.parts * plan.tiles, CeilDiv(args.batch, layers), layers},
                          Block{Form::kThreads}, floats * sizeof(float), args.stream, product);
  });
}

template <int kShape>
LaunchStatus LaunchShape(const MatMulArgs& args, const BriefPlan& plan) {
  return plan.k_of_part <= kBriefExtentK ? LaunchShape<kShape, true>(args, plan)
                                         : LaunchShape<kShape, false>(args, plan);
}

}  // namespace

// REQUIRES: kTakesBrief of registry.cc.
LaunchStatus MatMulBrief(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  const Gemm<Float32> gemm = GemmOf<Float32>(args);
  const BriefPlan plan = PlanBrief(args.m, args.n, args.k, args.batch, gemm.a.vectors ? kVector : 1,
                                   gemm.b.vectors ? kVector : 1, DeviceOf(args));
  switch (plan.shape) {
    case 0:
      return LaunchShape<0>(args, plan);
    case 1:
      return LaunchShape<1>(args, plan);
    default:
      return LaunchShape<2>(args, plan);
  }
}

}  // namespace stridewise
