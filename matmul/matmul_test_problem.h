// Problems for the tests of every implementation, host, device and host executor alike.

#ifndef STRIDEWISE_MATMUL_MATMUL_TEST_PROBLEM_H_
#define STRIDEWISE_MATMUL_MATMUL_TEST_PROBLEM_H_

#include <cmath>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/fill.h"
#include "common/status_macros.h"
#include "common/validation.h"
#include "matmul/registry.h"

namespace stridewise {

struct MatMulCase {
  int64_t m, n, k;
  int64_t pad;  // Added to lda; twice to ldb; three times to ldc.
};

inline std::ostream& operator<<(std::ostream& out, const MatMulCase& c) {
  return out << c.m << "x" << c.n << "x" << c.k << " pad " << c.pad;
}

// Empty, one, primes, tile and tile +- 1, thin, tall, deep, padded.
inline std::vector<MatMulCase> MatMulCases() {
  std::vector<MatMulCase> cases;
  for (const int64_t pad : {0, 1, 7}) {
    const int64_t shapes[][3] = {
        {0, 5, 3},       {5, 0, 3},    {5, 3, 0},      {0, 0, 0},     {1, 1, 1},     {1, 1, 257},
        {2, 3, 5},       {7, 5, 3},    {15, 16, 17},   {31, 32, 33},  {33, 31, 32},  {32, 33, 31},
        {32, 32, 32},    {64, 64, 64}, {61, 67, 71},   {1, 1000, 33}, {1000, 1, 33}, {97, 89, 1},
        {127, 129, 128}, {5, 7, 1009}, {128, 96, 160},
    };
    for (const auto& s : shapes) cases.push_back({s[0], s[1], s[2], pad});
  }
  return cases;
}

// Host buffers for one case. What lies between the rows of A and B is NaN, so that reading there
// shows; C is poisoned and has canaries around it.
template <typename T>
class MatMulTestProblem {
 public:
  static constexpr int64_t kGuard = 64;
  static constexpr uint64_t kSeedA = 101;
  static constexpr uint64_t kSeedB = 202;

  explicit MatMulTestProblem(const MatMulCase& c) : case_(c) {
    args_.m = c.m;
    args_.n = c.n;
    args_.k = c.k;
    args_.type = sizeof(T) == 4 ? ElementType::kFloat : ElementType::kDouble;
    args_.lda = c.k + c.pad;
    args_.ldb = c.n + 2 * c.pad;
    args_.ldc = c.n + 3 * c.pad;
    const T nan = std::numeric_limits<T>::quiet_NaN();
    a_.assign(SpanElements(c.m, c.k, args_.lda), nan);
    b_.assign(SpanElements(c.k, c.n, args_.ldb), nan);
    c_.assign(SpanElements(c.m, c.n, args_.ldc) + 2 * kGuard, kCanary);
    args_.a = a_.data();
    args_.b = b_.data();
    args_.c = c_.data() + kGuard;
    FillUniform(Matrix<T>{a_.data(), c.m, c.k, args_.lda}, kSeedA);
    FillUniform(Matrix<T>{b_.data(), c.k, c.n, args_.ldb}, kSeedB);
    const Matrix<T> out = args_.C<T>();
    for (int64_t row = 0; row < c.m; ++row) {
      for (int64_t col = 0; col < c.n; ++col) out(row, col) = nan;
    }
  }

  const MatMulArgs& args() const { return args_; }
  const std::vector<T>& a() const { return a_; }
  const std::vector<T>& b() const { return b_; }
  std::vector<T>& c_with_guards() { return c_; }

  // OK if C is the product and nothing outside C's elements was written.
  absl::Status Check() const {
    const int64_t m = case_.m;
    const int64_t n = case_.n;
    std::vector<double> r(m * n, 0);
    std::vector<double> s(m * n, 0);
    for (int64_t row = 0; row < m; ++row) {
      for (int64_t i = 0; i < case_.k; ++i) {
        const double x = a_[row * args_.lda + i];
        for (int64_t col = 0; col < n; ++col) {
          const double product = x * b_[i * args_.ldb + col];
          r[row * n + col] += product;
          s[row * n + col] += std::abs(product);
        }
      }
    }
    RETURN_IF_ERROR(CheckProduct(
        CompareProduct<T>(args_.C<T>(), {r.data(), m, n, n}, {s.data(), m, n, n}, case_.k), case_.k,
        kUnitRoundoff<T>));
    return CheckCanaries();
  }

 private:
  static constexpr T kCanary = 12345;

  absl::Status CheckCanaries() const {
    const auto size = static_cast<int64_t>(c_.size());
    for (int64_t i = 0; i < size; ++i) {
      const int64_t place = i - kGuard;
      const bool element =
          place >= 0 && i < size - kGuard && args_.ldc > 0 && place % args_.ldc < case_.n;
      if (!element && c_[i] != kCanary) {
        return absl::DataLossError(absl::StrCat("written outside C, at element ", place));
      }
    }
    return absl::OkStatus();
  }

  MatMulCase case_;
  MatMulArgs args_;
  std::vector<T> a_, b_, c_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_MATMUL_TEST_PROBLEM_H_
