// A transpose of bytes that differ, with canaries around the result and in its padding.

#ifndef STRIDEWISE_TRANSPOSE_STREAMED_STREAMED_TEST_TRANSPOSE_H_
#define STRIDEWISE_TRANSPOSE_STREAMED_STREAMED_TEST_TRANSPOSE_H_

#include <cstdint>
#include <cstring>
#include <ostream>
#include <vector>

#include "transpose/transpose.h"

namespace stridewise {

struct StreamedTransposeCase {
  int64_t rows, cols, element_bytes;
  int64_t padding = 0;  // Of the rows of both.
};

inline std::ostream& operator<<(std::ostream& out, const StreamedTransposeCase& c) {
  return out << c.rows << "x" << c.cols << " of " << c.element_bytes << " bytes, padding "
             << c.padding;
}

class StreamedTestTranspose {
 public:
  explicit StreamedTestTranspose(const StreamedTransposeCase& c)
      : c_(c),
        in_(c.rows * (c.cols + c.padding) * c.element_bytes + kGuards),
        out_(c.cols * (c.rows + c.padding) * c.element_bytes + 2 * kGuards, 0xa5),
        expected_(out_) {
    for (size_t i = 0; i < in_.size(); ++i) in_[i] = static_cast<uint8_t>((i * 2654435761u) >> 9);
    for (int64_t row = 0; row < c.rows; ++row) {
      for (int64_t col = 0; col < c.cols; ++col) {
        std::memcpy(&expected_[kGuards + (col * out().ld + row) * c.element_bytes],
                    &in_[(row * in().ld + col) * c.element_bytes], c.element_bytes);
      }
    }
  }

  MatrixView in() const {
    return {in_.data(), c_.rows, c_.cols, c_.cols + c_.padding, c_.element_bytes};
  }
  MutableMatrixView out() {
    return {out_.data() + kGuards, c_.cols, c_.rows, c_.rows + c_.padding, c_.element_bytes};
  }
  bool IsRight() const { return out_ == expected_; }

 private:
  static constexpr int64_t kGuards = 64;

  StreamedTransposeCase c_;
  std::vector<uint8_t> in_, out_, expected_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_STREAMED_STREAMED_TEST_TRANSPOSE_H_
