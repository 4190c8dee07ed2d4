// What kernels of tensor cores are tested with beside the cases of all implementations.

#ifndef STRIDEWISE_MATMUL_TEST_TENSOR_CASES_H_
#define STRIDEWISE_MATMUL_TEST_TENSOR_CASES_H_

#include <vector>

#include "matmul/registry.h"
#include "matmul/test/hard_operands.h"
#include "matmul/test/matmul_cases.h"

namespace stridewise {

// Returns the case in each op(A) and op(B) that the entry takes.
inline std::vector<MatMulCase> InAllLayouts(const MatMulImplementation& implementation,
                                            MatMulCase c) {
  std::vector<MatMulCase> cases;
  for (const int ops : {0, 1, 2, 3}) {
    if (ops != 0 && !implementation.general) break;
    c.transpose_a = (ops & 1) != 0;
    c.transpose_b = (ops & 2) != 0;
    cases.push_back(c);
  }
  return cases;
}

// Returns a product of many tiles in all layouts and, for an entry that takes them, those of few
// tiles and a long k in batches of three, with this alpha and, where A is transposed, a beta.
inline std::vector<MatMulCase> LargeMatMulCases(const MatMulImplementation& implementation,
                                                const MatMulCase& large,
                                                const std::vector<MatMulCase>& deep, double alpha) {
  std::vector<MatMulCase> cases = InAllLayouts(implementation, large);
  if (!implementation.general) return cases;
  for (MatMulCase c : deep) {
    c.batch = 3;
    c.alpha = alpha;
    for (MatMulCase laid_out : InAllLayouts(implementation, c)) {
      laid_out.beta = laid_out.transpose_a ? 2 : 0;
      cases.push_back(laid_out);
    }
  }
  return cases;
}

// Returns each of these products with each kind of hard operands, and each kind in another layout.
inline std::vector<MatMulCase> HardMatMulCases(const MatMulImplementation& implementation,
                                               const std::vector<MatMulCase>& products) {
  std::vector<MatMulCase> cases;
  for (const MatMulCase& product : products) {
    const std::vector<MatMulCase> layouts = InAllLayouts(implementation, product);
    for (const Operands operands : kHardOperands) {
      MatMulCase c = layouts[cases.size() % layouts.size()];
      c.operands = operands;
      cases.push_back(c);
    }
  }
  return cases;
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TEST_TENSOR_CASES_H_
