// cpu_simd with streaming stores: whole lines go to memory without being read from it first, which
// is a third of a transpose's traffic.

#include "transpose/cpu/tiles.h"
#include "transpose/registry.h"

namespace stridewise {

LaunchStatus TransposeCpuStreaming(const TransposeArgs& args) {
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    TransposeByTiles(args.In<T>(), args.Out<T>(), /*streams=*/true);
    return LaunchStatus();
  });
}

}  // namespace stridewise
