// Problems for the tests of every implementation, host, device and host executor alike.

#ifndef STRIDEWISE_MATMUL_TEST_MATMUL_TEST_PROBLEM_H_
#define STRIDEWISE_MATMUL_TEST_MATMUL_TEST_PROBLEM_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/element_type.h"
#include "common/base/status_macros.h"
#include "common/verify/fill.h"
#include "common/verify/validation.h"
#include "matmul/batch.h"
#include "matmul/reference.h"
#include "matmul/registry.h"
#include "matmul/test/defined_product.h"
#include "matmul/test/hard_operands.h"
#include "matmul/test/matmul_cases.h"

namespace stridewise {

// The host buffers of one case, with elements T of A, OfB of B and Out of C. What lies before,
// between and after the rows and matrices of A and B is NaN, so that reading there shows; C has
// canaries there. What must not be read is NaN as well: A and B where alpha is 0, C where beta is.
template <typename T, typename Out = T, typename OfB = T>
class MatMulTestProblem {
 public:
  static constexpr int64_t kGuard = 64;  // Elements before and after C.
  static constexpr uint64_t kSeedA = 101;
  static constexpr uint64_t kSeedB = 202;
  static constexpr uint64_t kSeedC = 303;
  static constexpr uint64_t kSeedBias = 404;

  explicit MatMulTestProblem(const MatMulCase& c) : case_(c) {
    args_.m = c.m;
    args_.n = c.n;
    args_.k = c.k;
    args_.a.type = kElementTypeOf<T>;
    args_.b.type = kElementTypeOf<OfB>;
    args_.c.type = kElementTypeOf<Out>;
    args_.a.transposed = c.transpose_a;
    args_.b.transposed = c.transpose_b;
    args_.alpha = c.alpha;
    args_.beta = c.beta;
    args_.batch = c.batch;
    args_.precision = c.precision;
    args_.epilogue.activation = c.activation;
    args_.a.ld = args_.A<T>().cols + c.pad;
    args_.b.ld = args_.B<OfB>().cols + 2 * c.pad;
    args_.c.ld = c.n + 3 * c.pad;
    args_.a.stride = c.one_a ? 0 : Span(args_.A<T>()) + c.gap;
    args_.b.stride = c.one_b ? 0 : Span(args_.B<OfB>()) + 2 * c.gap;
    args_.c.stride = Span(args_.C<Out>()) + 3 * c.gap;
    a_.assign(c.offset_a + Elements(args_.A<T>(), args_.a.stride), Nan<T>());
    b_.assign(c.offset_b + Elements(args_.B<OfB>(), args_.b.stride), Nan<OfB>());
    c_.assign(c.offset_c + Elements(args_.C<Out>(), args_.c.stride) + 2 * kGuard, kCanary);
    args_ = ArgsAt(a_.data(), b_.data(), c_.data());
    for (int64_t i = 0; i < c.batch; ++i) {
      const MatMulArgs one = OneOfBatch(args_, i);
      if (reads_a_and_b()) {
        FillOperands(one, kSeedA + (c.one_a ? 0 : i), kSeedB + (c.one_b ? 0 : i));
      }
      if (reads_c()) {
        FillUniform(one.C<Out>(), kSeedC + i);
      } else {
        Fill(one.C<Out>());
      }
    }
    if (c.bias) {
      bias_.resize(static_cast<size_t>(c.n));
      FillUniform(Matrix<Out>{bias_.data(), 1, c.n, c.n}, kSeedBias);
      args_.epilogue.bias = bias_.data();
    }
    c_before_ = c_;
  }
  MatMulTestProblem(const MatMulTestProblem&) = delete;
  MatMulTestProblem& operator=(const MatMulTestProblem&) = delete;

  // With pointers into a(), b() and c_with_guards().
  const MatMulArgs& args() const { return args_; }
  // With pointers into copies of them. The bias stays this problem's own.
  MatMulArgs ArgsAt(const void* a, const void* b, void* c_with_guards) const {
    MatMulArgs args = args_;
    args.a.data = a == nullptr ? a : static_cast<const T*>(a) + case_.offset_a;
    args.b.data = b == nullptr ? b : static_cast<const OfB*>(b) + case_.offset_b;
    args.c.data = static_cast<Out*>(c_with_guards) + kGuard + case_.offset_c;
    return args;
  }
  const std::vector<T>& a() const { return a_; }
  const std::vector<OfB>& b() const { return b_; }
  const std::vector<Out>& bias() const { return bias_; }  // Empty where there is none.
  std::vector<Out>& c_with_guards() { return c_; }
  const std::vector<Out>& c_before() const {
    return c_before_;
  }  // As c_with_guards() was at first.

  // Changes every element of A and B, those outside the matrices too.
  template <typename Fn>
  void ForOperands(Fn fn) {
    references_.clear();
    for (T& value : a_) value = fn(value);
    for (OfB& value : b_) value = fn(value);
  }
  void SetPrecision(MatMulPrecision precision) { args_.precision = precision; }
  // Sets scales in host memory, which outlive the problem.
  void SetScales(const MatMulScales& scales) {
    references_.clear();
    args_.scales = scales;
  }

  bool reads_a_and_b() const { return static_cast<Scale>(args_.alpha) != 0; }
  bool reads_c() const { return static_cast<Scale>(args_.beta) != 0; }

  // Changes op(A)(row, i) of the first matrix, or op(B)(i, col).
  void SetA(int64_t row, int64_t i, T value) {
    references_.clear();
    Writable(args_.A<T>())(case_.transpose_a ? i : row, case_.transpose_a ? row : i) = value;
  }
  void SetB(int64_t i, int64_t col, OfB value) {
    references_.clear();
    Writable(args_.B<OfB>())(case_.transpose_b ? col : i, case_.transpose_b ? i : col) = value;
  }

  // Makes C what it was at first, for another run of the same product.
  void ResetC() { c_ = c_before_; }

  // Returns OK if C is what it should be and nothing outside C's elements was written. The
  // references come from the definition's loops or, with a handle, from the device; they are kept
  // for the next check of the same operands.
  absl::Status Check(cublasHandle_t cublas = nullptr) { return Check(cublas, accuracy()); }
  absl::Status Check(cublasHandle_t cublas, const ProductAccuracy& accuracy) {
    RETURN_IF_ERROR(CheckCanaries());
    if (references_.empty()) RETURN_IF_ERROR(SetReferences(cublas));
    const int64_t roundings = ReferenceTerms(args_);
    for (int64_t i = 0; i < case_.batch; ++i) {
      Reference& reference = references_[static_cast<size_t>(i)];
      const ProductError error =
          CompareProduct<Out>(OneOfBatch(args_, i).C<Out>(), Of(&reference.products),
                              Of(&reference.absolutes), roundings, accuracy);
      RETURN_IF_ERROR(case_.operands == Operands::kUniform
                          ? CheckProduct(error, roundings, accuracy)
                          : CheckHardProduct(error));
    }
    return absl::OkStatus();
  }

 private:
  // The type of alpha and beta.
  using Scale = std::conditional_t<std::is_same_v<T, double>, double, float>;

  // What one product of the batch has to be, and the sums of magnitudes that bound its errors.
  struct Reference {
    std::vector<double> products, absolutes;
  };
  Matrix<double> Of(std::vector<double>* elements) const {
    return {elements->data(), case_.m, case_.n, case_.n};
  }

  absl::Status SetReferences(cublasHandle_t cublas) {
    const auto elements = static_cast<size_t>(case_.m * case_.n);
    for (int64_t i = 0; i < case_.batch; ++i) {
      MatMulArgs one = OneOfBatch(args_, i);
      // A reference reads what C was.
      one.c.data = const_cast<Out*>(c_before_.data()) + (one.C<Out>().data - c_.data());
      one.cublas = cublas;
      Reference reference = {std::vector<double>(elements), std::vector<double>(elements)};
      const Matrix<double> products = Of(&reference.products);
      const Matrix<double> absolutes = Of(&reference.absolutes);
      if (cublas != nullptr) {
        RETURN_IF_ERROR(ReferenceProducts(one, products, absolutes));
      } else {
        DefineProduct<T, OfB, Out>(one, products, absolutes);
      }
      references_.push_back(std::move(reference));
    }
    return absl::OkStatus();
  }

  static inline const Out kCanary = static_cast<Out>(12345.0f);
  template <typename Element>
  static Element Nan() {
    if constexpr (std::is_integral_v<Element>) return std::numeric_limits<Element>::max();
    return static_cast<Element>(std::numeric_limits<float>::quiet_NaN());
  }
  ProductAccuracy accuracy() const {
    if (std::is_same_v<T, double>) return AccuracyOf(AllOf(ElementType::kDouble), args_.precision);
    static const MatMulImplementation& all = *FindMatMulImplementation("auto");
    return AccuracyOf(*FindTypes(all, args_), args_.precision);
  }

  template <typename View>
  static int64_t Span(const View& view) {
    return SpanElements(view.rows, view.cols, view.ld);
  }
  template <typename View>
  int64_t Elements(const View& view, int64_t stride) const {
    return case_.batch == 0 || Span(view) == 0 ? 0 : (case_.batch - 1) * stride + Span(view);
  }
  // Of a view into a_ or b_, which are this problem's own.
  template <typename Element>
  static Matrix<Element> Writable(const ConstMatrix<Element>& view) {
    return {const_cast<Element*>(view.data), view.rows, view.cols, view.ld};
  }
  void FillOperands(const MatMulArgs& one, uint64_t seed_a, uint64_t seed_b) {
    const Matrix<T> a = Writable(one.A<T>());
    const Matrix<OfB> b = Writable(one.B<OfB>());
    if (case_.operands == Operands::kUniform) {
      FillUniform(a, seed_a);
      FillUniform(b, seed_b);
      return;
    }
    const HardValues values(case_.operands, kElementTypeOf<T>, case_.k);
    for (int64_t i = 0; i < case_.k; ++i) {
      for (int64_t row = 0; row < case_.m; ++row) {
        T& element = case_.transpose_a ? a(i, row) : a(row, i);
        element = static_cast<T>(static_cast<float>(values.A(seed_a, row, i)));
      }
      for (int64_t col = 0; col < case_.n; ++col) {
        OfB& element = case_.transpose_b ? b(col, i) : b(i, col);
        element = static_cast<OfB>(static_cast<float>(values.B(seed_b, i, col)));
      }
    }
  }
  static void Fill(const Matrix<Out>& matrix) {
    for (int64_t row = 0; row < matrix.rows; ++row) {
      std::fill_n(&matrix(row, 0), matrix.cols, Nan<Out>());
    }
  }

  // Bits, since some of them are NaN.
  absl::Status CheckCanaries() const {
    std::vector<Out> want = c_before_;
    for (int64_t i = 0; i < case_.batch; ++i) {
      const Matrix<Out> result = OneOfBatch(args_, i).C<Out>();
      for (int64_t row = 0; row < result.rows && result.cols > 0; ++row) {
        std::copy_n(&result(row, 0), result.cols, want.data() + (&result(row, 0) - c_.data()));
      }
    }
    if (std::memcmp(c_.data(), want.data(), c_.size() * sizeof(Out)) == 0) {
      return absl::OkStatus();
    }
    for (size_t i = 0; i < c_.size(); ++i) {
      if (std::memcmp(&c_[i], &want[i], sizeof(Out)) != 0) {
        return absl::DataLossError(absl::StrCat("written outside C, at element ",
                                                static_cast<int64_t>(i) - kGuard - case_.offset_c,
                                                " after its first"));
      }
    }
    return absl::OkStatus();
  }

  MatMulCase case_;
  MatMulArgs args_;
  std::vector<T> a_;
  std::vector<OfB> b_;
  std::vector<Out> c_, c_before_;
  std::vector<Out> bias_;
  std::vector<Reference> references_;  // Of the batch, from the first check on.
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_TEST_MATMUL_TEST_PROBLEM_H_
