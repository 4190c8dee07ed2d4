// C = alpha * op(A) * op(B) + beta * C on the host: the packed product on one core or on several.

#ifndef STRIDEWISE_MATMUL_CPU_MULTIPLY_H_
#define STRIDEWISE_MATMUL_CPU_MULTIPLY_H_

#include "common/base/element_type.h"
#include "matmul/args.h"
#include "matmul/operands.h"

namespace stridewise {

// What it multiplies. Products of bfloat16 are summed in float: by AVX-512's instructions for them
// where the processor has those, elsewhere from copies in float.
inline constexpr MatMulTypes kHostTypes[] = {
    AllOf(ElementType::kFloat),
    AllOf(ElementType::kDouble),
    {ElementType::kBf16, ElementType::kBf16, ElementType::kBf16, ElementType::kFloat},
    {ElementType::kBf16, ElementType::kBf16, ElementType::kFloat, ElementType::kFloat}};

// Computes a batch on at most `threads` threads. REQUIRES: operands of kHostTypes.
void MultiplyOnHost(const MatMulArgs& args, int threads);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_CPU_MULTIPLY_H_
