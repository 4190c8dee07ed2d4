// One core at the speed of its multiply-add units: operands packed for the caches, a tile of C in
// vector registers (multiply_simd.cc, tile_kernel-inl.h).

#include "matmul/args.h"
#include "matmul/cpu/multiply.h"

namespace stridewise {

LaunchStatus MatMulCpuPacked(const MatMulArgs& args) {
  MultiplyOnHost(args, /*threads=*/1);
  return LaunchStatus();
}

}  // namespace stridewise
