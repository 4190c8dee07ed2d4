// Problems for the tests of every copy and transpose, host, device and host executor alike.

#ifndef STRIDEWISE_TRANSPOSE_TEST_TRANSPOSE_TEST_PROBLEM_H_
#define STRIDEWISE_TRANSPOSE_TEST_TRANSPOSE_TEST_PROBLEM_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/verify/fill.h"
#include "transpose/registry.h"

namespace stridewise {

struct TransposeCase {
  int64_t rows, cols;
  int64_t pad;           // Elements that are added to ld_in.
  int64_t pad_out = -1;  // Elements that are added to ld_out; -1 stands for twice `pad`.
  int64_t batch = 1;
  int64_t gap = 0;         // Elements between one matrix and the next; twice that in `out`.
  int64_t offset_in = 0;   // Elements from an aligned address to the first element of `in`.
  int64_t offset_out = 0;  // The same for `out`, except in place.
};

inline std::ostream& operator<<(std::ostream& out, const TransposeCase& c) {
  out << c.rows << "x" << c.cols << " pad " << c.pad;
  if (c.pad_out >= 0) out << " and " << c.pad_out;
  if (c.batch != 1) out << ", batch of " << c.batch << " with gaps of " << c.gap;
  if (c.offset_in != 0 || c.offset_out != 0) {
    out << ", offsets " << c.offset_in << " and " << c.offset_out;
  }
  return out;
}

// Returns matrices that are empty, of one element, of prime extents, of a tile and one more or
// less, skinny and tall, with three paddings.
inline std::vector<TransposeCase> TransposeCases() {
  constexpr int64_t kShapes[][2] = {
      {0, 0},   {0, 7},   {7, 0},   {1, 1},    {1, 257},   {257, 1},   {2, 3},     {7, 5},
      {15, 17}, {16, 16}, {31, 33}, {32, 32},  {33, 31},   {63, 65},   {64, 64},   {61, 127},
      {3, 999}, {999, 3}, {97, 89}, {128, 96}, {129, 255}, {200, 100}, {1000, 33},
  };
  std::vector<TransposeCase> cases;
  for (const auto& [rows, cols] : kShapes) {
    for (const int64_t pad : {0, 1, 5}) cases.push_back({rows, cols, pad});
  }
  return cases;
}

// Returns a few shapes that start where no vector does.
inline std::vector<TransposeCase> OffsetTransposeCases() {
  std::vector<TransposeCase> cases;
  for (const auto& [rows, cols] : {std::pair{1, 1}, std::pair{61, 127}, std::pair{128, 96},
                                   std::pair{3, 257}, std::pair{257, 3}, std::pair{64, 64}}) {
    for (const auto& [in, out] : {std::pair{1, 0}, std::pair{0, 1}, std::pair{1, 1}}) {
      cases.push_back({rows, cols, 0, -1, 1, 0, in, out});
    }
  }
  return cases;
}

// Returns batches of no, one and some matrices, without gaps, and with gaps that give every matrix
// another alignment.
inline std::vector<TransposeCase> BatchedTransposeCases() {
  std::vector<TransposeCase> cases;
  const int64_t shapes[][2] = {{0, 7},   {7, 0},  {1, 1},   {2, 3},   {7, 5},   {16, 16},
                               {31, 33}, {32, 8}, {64, 64}, {61, 27}, {3, 199}, {199, 3}};
  for (const auto& [rows, cols] : shapes) {
    for (const int64_t batch : {0, 1, 2, 5}) {
      for (const auto& [pad, gap] : {std::pair{0, 0}, std::pair{0, 1}, std::pair{5, 7}}) {
        cases.push_back({rows, cols, pad, -1, batch, gap});
      }
    }
  }
  return cases;
}

// Returns those of the cases above that the implementation takes, which may be squares alone, and
// not batches.
inline std::vector<TransposeCase> TransposeCasesFor(const TransposeImplementation& implementation) {
  std::vector<TransposeCase> cases = TransposeCases();
  const auto add = [&](const std::vector<TransposeCase>& more) {
    cases.insert(cases.end(), more.begin(), more.end());
  };
  add(OffsetTransposeCases());
  if (implementation.batches) add(BatchedTransposeCases());
  if (!implementation.square_only) return cases;
  std::vector<TransposeCase> squares;
  for (TransposeCase c : cases) {
    for (const int64_t extent : {c.rows, c.cols}) {
      c.rows = c.cols = extent;
      c.pad_out = c.pad;
      if (extent < 300) squares.push_back(c);  // And not 999: the executor is no GPU.
      if (c.rows == c.cols) break;
    }
  }
  return squares;
}

// Returns the names of all implementations for that side.
inline std::vector<std::string> TransposeNames(Where where) {
  std::vector<std::string> names;
  for (const TransposeImplementation& implementation : TransposeImplementations()) {
    if (implementation.target.where == where) names.push_back(implementation.name);
  }
  return names;
}

// Host bytes for one case. `out` is poisoned, has canaries around, between and behind its rows and
// matrices, and is compared byte by byte. In place, `in` is `out`, and full of elements from one
// canary to the other: all but those of the result must remain unchanged.
class TransposeTestProblem {
 public:
  static constexpr int64_t kGuardBytes = 256;

  TransposeTestProblem(const TransposeCase& c, int64_t element_bytes, TransposeOperation operation)
      : operation_(operation) {
    const bool copy = operation == TransposeOperation::kCopy;
    const int64_t out_rows = copy ? c.rows : c.cols;
    const int64_t out_cols = copy ? c.cols : c.rows;
    args_.rows = c.rows;
    args_.cols = c.cols;
    args_.element_bytes = element_bytes;
    args_.batch = c.batch;
    args_.ld_in = c.cols + c.pad;
    args_.ld_out = out_cols + (c.pad_out >= 0 ? c.pad_out : 2 * c.pad);
    int64_t in_span = SpanElements(c.rows, c.cols, args_.ld_in);
    int64_t out_span = SpanElements(out_rows, out_cols, args_.ld_out);
    if (in_place()) in_span = out_span = std::max(in_span, out_span);
    args_.stride_in = in_span + c.gap;
    args_.stride_out = out_span + (in_place() ? c.gap : 2 * c.gap);
    in_offset_ = c.offset_in * element_bytes;
    out_offset_ = kGuardBytes + (in_place() ? c.offset_in : c.offset_out) * element_bytes;
    const auto bytes = [&](int64_t span, int64_t stride) {
      return c.batch == 0 || span == 0 ? 0 : ((c.batch - 1) * stride + span) * element_bytes;
    };
    const int64_t out_bytes = bytes(out_span, args_.stride_out);
    out_.assign(static_cast<size_t>(out_offset_ + out_bytes + kGuardBytes), kCanary);
    if (in_place()) {
      Fill(element_bytes, &out_[static_cast<size_t>(out_offset_)], out_bytes);
    } else {
      in_.resize(static_cast<size_t>(in_offset_ + bytes(in_span, args_.stride_in)));
      Fill(element_bytes, in_.data(), static_cast<int64_t>(in_.size()));
    }
    args_ = ArgsAt(in_.data(), out_.data());
    MakeWant(copy);
  }

  // Returns arguments with pointers into in() and out_with_guards().
  const TransposeArgs& args() const { return args_; }
  // Returns arguments with pointers into copies of them; in place, into the copy of `out` alone.
  TransposeArgs ArgsAt(const void* in, void* out_with_guards) const {
    TransposeArgs args = args_;
    args.out = static_cast<uint8_t*>(out_with_guards) + out_offset_;
    args.in = in_place()      ? args.out
              : in == nullptr ? in
                              : static_cast<const uint8_t*>(in) + in_offset_;
    return args;
  }
  bool in_place() const { return operation_ == TransposeOperation::kInPlace; }
  const std::vector<uint8_t>& in() const { return in_; }  // Empty in place.
  std::vector<uint8_t>& out_with_guards() { return out_; }

  // Returns OK if every element is where it belongs and nothing else was written.
  absl::Status Check() const {
    if (out_.size() == want_.size() && std::memcmp(out_.data(), want_.data(), out_.size()) == 0) {
      return absl::OkStatus();
    }
    size_t i = 0;
    while (out_[i] == want_[i]) ++i;
    return absl::DataLossError(absl::StrCat("byte ", static_cast<int64_t>(i) - kGuardBytes,
                                            " of out is ", out_[i], ", not ", want_[i],
                                            want_[i] == kCanary ? " (a canary, perhaps)" : ""));
  }

 private:
  static constexpr uint8_t kCanary = 0xa7;

  static void Fill(int64_t element_bytes, uint8_t* data, int64_t bytes) {
    // As a float or double, a positive number below 2: cuBLAS multiplies, and may change a NaN.
    const uint64_t mask = element_bytes >= 4 ? 0x3fffffff3fffffffu : ~uint64_t{0};
    for (int64_t i = 0; i < bytes; i += 8) {
      const uint64_t bits = Mix64(static_cast<uint64_t>(i)) & mask;
      std::memcpy(data + i, &bits, static_cast<size_t>(std::min<int64_t>(8, bytes - i)));
    }
  }

  void MakeWant(bool copy) {
    want_ = out_;
    // Reads what out_ holds, in place too: that is not changed here.
    const absl::Status status = ForElementSize(args_, [&](auto element) {
      using T = decltype(element);
      const auto size = static_cast<int64_t>(sizeof(T));
      const auto* in = static_cast<const uint8_t*>(args_.in);
      uint8_t* want = want_.data() + out_offset_;
      for (int64_t i = 0; i < args_.batch; ++i) {
        for (int64_t row = 0; row < args_.rows; ++row) {
          for (int64_t col = 0; col < args_.cols; ++col) {
            const int64_t from = i * args_.stride_in + row * args_.ld_in + col;
            const int64_t to =
                i * args_.stride_out + (copy ? row * args_.ld_out + col : col * args_.ld_out + row);
            std::memcpy(want + to * size, in + from * size, sizeof(T));
          }
        }
      }
      return absl::OkStatus();
    });
    if (!status.ok()) want_.clear();  // No such element: nothing is right.
  }

  TransposeOperation operation_;
  TransposeArgs args_;
  int64_t in_offset_ = 0;   // Bytes of in_ before the first element.
  int64_t out_offset_ = 0;  // Bytes of out_ before the first element.
  std::vector<uint8_t> in_, out_, want_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_TRANSPOSE_TEST_TRANSPOSE_TEST_PROBLEM_H_
