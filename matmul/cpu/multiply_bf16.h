// The ways to multiply bfloat16 on one core with sums in float: for tests, which run all of them.

#ifndef STRIDEWISE_MATMUL_CPU_MULTIPLY_BF16_H_
#define STRIDEWISE_MATMUL_CPU_MULTIPLY_BF16_H_

#include "common/base/half_types.h"
#include "matmul/cpu/host_product.h"

namespace stridewise {

// Multiplies with VDPBF16PS, two products along k an instruction. It takes subnormal numbers for
// zeros and returns none. REQUIRES: HasBf16Products().
void MultiplyBf16Pairs(const HostProduct<Bf16, float>& product);

// Packs what it packs for AMX's tiles. It takes and returns no subnormal numbers either. REQUIRES:
// HasBf16Tiles().
void MultiplyBf16Tiles(const HostProduct<Bf16, float>& product);

// The latter where there are tiles, else the former. REQUIRES: HasBf16Products().
void MultiplyBf16OnBestUnit(const HostProduct<Bf16, float>& product);
void MultiplyBf16OnBestUnit(const HostProduct<Bf16>& product);

// Multiplies copies of the operands in float, 1024 of k at a time: on every processor.
void MultiplyBf16Widened(const HostProduct<Bf16, float>& product);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_CPU_MULTIPLY_BF16_H_
