// FP8 with operands of different types, e4m3 times e5m2 and the other way round, by `tensor_fp8`'s
// kernel, with an epilogue or without: gradients have e5m2's exponents, what they are multiplied
// with e4m3's bits.

#include "matmul/device/tensor_finished_calls.h"
#include "matmul/device/tensor_fp8_tiles.h"

namespace stridewise {
namespace {

template <typename Element, typename Turned>
LaunchStatus Run(const MatMulArgs& args, const DeviceModel& device) {
  const TensorOperands<Element> operands(args);
  return ForFp8Outputs(args, [&](auto out) {
    using Out = decltype(out);
    if (HasEpilogue(args)) {
      const FinishedCall call(args);
      return RunPromoted<Element, Turned, Out>(call.product, device, operands, call.scales,
                                               call.finish);
    }
    return RunPromoted<Element, Turned, Out>(args, device, operands, ScalesOf(args));
  });
}

}  // namespace

LaunchStatus MatMulFp8Mixed(const MatMulArgs& args, const DeviceModel& device) {
  return args.a.type == ElementType::kE4m3 ? Run<E4m3TimesE5m2, E5m2TimesE4m3>(args, device)
                                           : Run<E5m2TimesE4m3, E4m3TimesE5m2>(args, device);
}

}  // namespace stridewise
