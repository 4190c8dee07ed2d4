// Problems with one NaN or one infinity in them, and what C has to be then.

#ifndef STRIDEWISE_MATMUL_TEST_SPOILT_PROBLEM_H_
#define STRIDEWISE_MATMUL_TEST_SPOILT_PROBLEM_H_

#include <cmath>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "matmul/registry.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"

namespace stridewise {

inline constexpr int64_t kSpoiltIndex = 3;  // The row of A, or column of B.
inline constexpr int64_t kSpoiltK = 34;     // The column of A, or row of B: the last.

// Returns cases with edges in every direction, in each op(A) and op(B) that the entry takes.
inline std::vector<MatMulCase> SpoiltMatMulCases(const MatMulImplementation& implementation) {
  std::vector<MatMulCase> cases;
  for (const int ops : {0, 1, 2, 3}) {
    if (ops != 0 && !implementation.general) break;
    cases.push_back({40, 37, kSpoiltK + 1, 0, (ops & 1) != 0, (ops & 2) != 0});
  }
  return cases;
}

inline void Spoil(float value, bool in_a, MatMulTestProblem<float>* problem) {
  if (in_a) {
    problem->SetA(kSpoiltIndex, kSpoiltK, value);
  } else {
    problem->SetB(kSpoiltK, kSpoiltIndex, value);
  }
}

// Returns OK if the row, or column, is what IEEE 754 makes of that one product, an infinity of
// either sign or NaN, and everything else is finite.
inline absl::Status CheckSpoilt(bool in_a, const MatMulTestProblem<float>& problem) {
  const MatMulArgs& args = problem.args();
  const ConstMatrix<float> a = args.A<float>();
  const ConstMatrix<float> b = args.B<float>();
  const Matrix<float> c = args.C<float>();
  for (int64_t row = 0; row < c.rows; ++row) {
    for (int64_t col = 0; col < c.cols; ++col) {
      const float product = (args.a.transposed ? a(kSpoiltK, row) : a(row, kSpoiltK)) *
                            (args.b.transposed ? b(col, kSpoiltK) : b(kSpoiltK, col));
      const bool spoilt = (in_a ? row : col) == kSpoiltIndex;
      const float got = c(row, col);
      const bool right = !spoilt               ? std::isfinite(got)
                         : std::isnan(product) ? std::isnan(got)
                                               : got == product;
      if (!right) {
        return absl::DataLossError(absl::StrCat("entry (", row, ", ", col, ") is ", got,
                                                spoilt ? "; its product is " : "; its product was ",
                                                product));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TEST_SPOILT_PROBLEM_H_
