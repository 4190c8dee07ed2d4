// Squares of 16 bytes by 16 bytes transposed in vector registers: a load and a store of 16 bytes
// where cpu_blocked has one for each element.

#include "transpose/cpu/tiles.h"
#include "transpose/registry.h"

namespace stridewise {

LaunchStatus TransposeCpuSimd(const TransposeArgs& args) {
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    TransposeByTiles(args.In<T>(), args.Out<T>(), /*streams=*/false);
    return LaunchStatus();
  });
}

}  // namespace stridewise
