// Calls the library: on a machine without a GPU the calls say so.

#include <iostream>

#include "absl/status/status.h"
#include "matmul/matmul.h"
#include "transpose/transpose.h"

int main() {
  stridewise::MatMulProblem problem;
  problem.m = problem.n = problem.k = 0;  // With device memory: its extents and pointers.
  const absl::Status product = stridewise::MatMul(problem, nullptr);
  const absl::Status transpose = stridewise::Transpose({}, {}, nullptr);
  std::cout << product << "\n" << transpose << "\n";
  return 0;
}
