// Problems for the tests of every copy and transpose, host, device and host executor alike.

#ifndef STRIDEWISE_TRANSPOSE_TRANSPOSE_TEST_PROBLEM_H_
#define STRIDEWISE_TRANSPOSE_TRANSPOSE_TEST_PROBLEM_H_

#include <cstdint>
#include <cstring>
#include <ostream>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/fill.h"
#include "transpose/registry.h"

namespace stridewise {

struct TransposeCase {
  int64_t rows, cols;
  int64_t pad;  // Added to ld_in; twice to ld_out.
};

inline std::ostream& operator<<(std::ostream& out, const TransposeCase& c) {
  return out << c.rows << "x" << c.cols << " pad " << c.pad;
}

// Empty, one, primes, tile and tile +- 1, thin, tall, padded.
inline std::vector<TransposeCase> TransposeCases() {
  std::vector<TransposeCase> cases;
  for (const int64_t pad : {0, 1, 5}) {
    const int64_t shapes[][2] = {
        {0, 0},   {0, 7},   {7, 0},   {1, 1},    {1, 257},   {257, 1},   {2, 3},     {7, 5},
        {15, 17}, {16, 16}, {31, 33}, {32, 32},  {33, 31},   {63, 65},   {64, 64},   {61, 127},
        {3, 999}, {999, 3}, {97, 89}, {128, 96}, {129, 255}, {200, 100}, {1000, 33},
    };
    for (const auto& [rows, cols] : shapes) cases.push_back({rows, cols, pad});
  }
  return cases;
}

// Host bytes for one case. `out` is poisoned, has canaries around it, and is judged byte by byte.
class TransposeTestProblem {
 public:
  static constexpr int64_t kGuardBytes = 256;

  TransposeTestProblem(const TransposeCase& c, int64_t element_bytes, TransposeOperation operation)
      : copy_(operation == TransposeOperation::kCopy) {
    args_.rows = c.rows;
    args_.cols = c.cols;
    args_.element_bytes = element_bytes;
    args_.ld_in = c.cols + c.pad;
    args_.ld_out = (copy_ ? c.cols : c.rows) + 2 * c.pad;
    const int64_t out_rows = copy_ ? c.rows : c.cols;
    const int64_t out_cols = copy_ ? c.cols : c.rows;
    in_.resize(static_cast<size_t>(SpanElements(c.rows, c.cols, args_.ld_in) * element_bytes));
    out_.assign(static_cast<size_t>(SpanElements(out_rows, out_cols, args_.ld_out) * element_bytes +
                                    2 * kGuardBytes),
                kCanary);
    for (size_t i = 0; i < in_.size(); ++i) {
      in_[i] = static_cast<uint8_t>(Mix64(i));
      // As a float or double, a positive number below 2: cuBLAS multiplies, and may change a NaN.
      if (element_bytes >= 4 && i % 4 == 3) in_[i] &= 0x3f;
    }
    want_ = out_;
    for (int64_t row = 0; row < c.rows; ++row) {
      for (int64_t col = 0; col < c.cols; ++col) {
        const int64_t to = copy_ ? row * args_.ld_out + col : col * args_.ld_out + row;
        std::memcpy(&want_[static_cast<size_t>(kGuardBytes + to * element_bytes)],
                    &in_[static_cast<size_t>((row * args_.ld_in + col) * element_bytes)],
                    static_cast<size_t>(element_bytes));
      }
    }
    args_.in = in_.data();
    args_.out = out_.data() + kGuardBytes;
  }

  const TransposeArgs& args() const { return args_; }
  const std::vector<uint8_t>& in() const { return in_; }
  std::vector<uint8_t>& out_with_guards() { return out_; }

  // OK if every element is in its place and nothing else was written.
  absl::Status Check() const {
    for (size_t i = 0; i < out_.size(); ++i) {
      if (out_[i] == want_[i]) continue;
      return absl::DataLossError(absl::StrCat("byte ", static_cast<int64_t>(i) - kGuardBytes,
                                              " of out is ", out_[i], ", not ", want_[i],
                                              want_[i] == kCanary ? " (a canary, perhaps)" : ""));
    }
    return absl::OkStatus();
  }

 private:
  static constexpr uint8_t kCanary = 0xa7;

  bool copy_;
  TransposeArgs args_;
  std::vector<uint8_t> in_, out_, want_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_TRANSPOSE_TEST_PROBLEM_H_
