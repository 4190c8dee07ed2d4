// A product of small whole numbers, exact in any order of the sums, with canaries around C.

#ifndef STRIDEWISE_MATMUL_STREAMED_STREAMED_TEST_PROBLEM_H_
#define STRIDEWISE_MATMUL_STREAMED_STREAMED_TEST_PROBLEM_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <ostream>
#include <vector>

#include "matmul/matmul.h"

namespace stridewise {

struct StreamedCase {
  int64_t m, n, k;
  bool a_transposed = false;
  bool b_transposed = false;
  double alpha = 1;
  double beta = 0;
  int64_t padding = 0;  // Of the rows of all three.
  MatrixLayout layout = MatrixLayout::kRowMajor;
};

inline std::ostream& operator<<(std::ostream& out, const StreamedCase& c) {
  return out << c.m << "x" << c.n << "x" << c.k << (c.a_transposed ? " t" : " n")
             << (c.b_transposed ? "t" : "n") << " alpha " << c.alpha << " beta " << c.beta
             << " padding " << c.padding
             << (c.layout == MatrixLayout::kRowMajor ? "" : " column-major");
}

// T is the type of A and B, float or a type that whole numbers up to 4 are exact in.
template <typename T = float, typename Out = float>
class StreamedTestProblem {
 public:
  explicit StreamedTestProblem(const StreamedCase& c) : c_(c) {
    Fill(c.a_transposed ? c.k : c.m, c.a_transposed ? c.m : c.k, 7, &a_, &problem_.a);
    Fill(c.b_transposed ? c.n : c.k, c.b_transposed ? c.k : c.n, 11, &b_, &problem_.b);
    MatMulInput before;
    std::vector<Out> values;
    Fill(c.m, c.n, 5, &values, &before);
    c_matrix_.assign(values.size() + 2 * kGuards, Canary());
    // NaN where C must not be read; padding holds canaries.
    for (int64_t i = 0; i < Rows(c.m, c.n); ++i) {
      for (int64_t j = 0; j < Cols(c.m, c.n); ++j) {
        const int64_t at = i * before.ld + j;
        c_matrix_[kGuards + at] = c.beta == 0 ? std::numeric_limits<Out>::quiet_NaN() : values[at];
      }
    }
    before_ = c_matrix_;
    problem_.m = c.m;
    problem_.n = c.n;
    problem_.k = c.k;
    problem_.a.transposed = c.a_transposed;
    problem_.b.transposed = c.b_transposed;
    problem_.c = {c_matrix_.data() + kGuards, before.ld};
    problem_.alpha = c.alpha;
    problem_.beta = c.beta;
    problem_.layout = c.layout;
  }

  const MatMulProblem& problem() const { return problem_; }
  size_t a_bytes() const { return a_.size() * sizeof(T); }
  size_t b_bytes() const { return b_.size() * sizeof(T); }
  void* c_data() { return c_matrix_.data(); }
  size_t c_bytes() const { return c_matrix_.size() * sizeof(Out); }

  // Returns whether C is the product and everything around it as it was.
  bool IsRight() const {
    std::vector<Out> expected = before_;
    for (int64_t i = 0; i < c_.m; ++i) {
      for (int64_t j = 0; j < c_.n; ++j) {
        double sum = 0;
        for (int64_t l = 0; l < c_.k; ++l) {
          sum += At(a_, problem_.a.ld, c_.a_transposed, i, l) *
                 At(b_, problem_.b.ld, c_.b_transposed, l, j);
        }
        Out& entry = expected[kGuards + Offset(problem_.c.ld, i, j)];
        entry = static_cast<Out>(c_.alpha * sum +
                                 (c_.beta == 0 ? 0 : c_.beta * static_cast<double>(entry)));
      }
    }
    return expected == c_matrix_;
  }

 private:
  static constexpr int64_t kGuards = 64;
  static Out Canary() { return static_cast<Out>(12345); }

  // Of a matrix as it lies in memory.
  int64_t Rows(int64_t rows, int64_t cols) const {
    return c_.layout == MatrixLayout::kRowMajor ? rows : cols;
  }
  int64_t Cols(int64_t rows, int64_t cols) const { return Rows(cols, rows); }
  int64_t Offset(int64_t ld, int64_t row, int64_t col) const {
    return c_.layout == MatrixLayout::kRowMajor ? row * ld + col : col * ld + row;
  }
  double At(const std::vector<T>& matrix, int64_t ld, bool transposed, int64_t row,
            int64_t col) const {
    return static_cast<double>(
        static_cast<float>(matrix[transposed ? Offset(ld, col, row) : Offset(ld, row, col)]));
  }

  template <typename Element>
  void Fill(int64_t rows, int64_t cols, int64_t seed, std::vector<Element>* data,
            MatMulInput* input) const {
    const int64_t ld = std::max<int64_t>(1, Cols(rows, cols)) + c_.padding;
    data->assign(Rows(rows, cols) * ld, static_cast<Element>(0));
    for (size_t i = 0; i < data->size(); ++i) {
      const auto value = static_cast<int64_t>((i * 2654435761u + seed * 40503) >> 7) % 9 - 4;
      (*data)[i] = static_cast<Element>(static_cast<float>(value));
    }
    *input = {data->data(), ld};
  }

  StreamedCase c_;
  std::vector<T> a_, b_;
  std::vector<Out> c_matrix_, before_;
  MatMulProblem problem_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_STREAMED_STREAMED_TEST_PROBLEM_H_
