#include "benchmarks/transpose_problem.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/bit_match.h"
#include "common/fill.h"
#include "common/status_macros.h"

namespace stridewise {
namespace {

constexpr int64_t kMaxListed = 3;  // Mismatches in a message.
constexpr int64_t kBlock = 64;     // A block of 64 x 64 elements stays in the cache.
constexpr int64_t kSampledElements = 65536;

// Clears the sign and the highest bit of the exponent, and sets the next: all that is left is a
// positive number that is neither 0 nor denormal nor infinite nor NaN.
uint64_t MakeNormal(uint64_t bits, int64_t element_bytes) {
  switch (element_bytes) {
    case 1:
    case 2:
      return bits;
    case 4:
      return (bits & 0x3fffffff3fffffffu) | 0x2000000020000000u;
    default:
      return (bits & 0x3fffffffffffffffu) | 0x2000000000000000u;
  }
}

void FillBits(int64_t element_bytes, uint64_t seed, const HostBuffer& buffer) {
  const uint64_t key = Mix64(seed);
  auto* words = buffer.As<uint64_t>();
  const size_t count = buffer.bytes() / sizeof(uint64_t);
  const auto word = [&](size_t i) { return MakeNormal(Mix64(key ^ i), element_bytes); };
  for (size_t i = 0; i < count; ++i) words[i] = word(i);
  const uint64_t last = word(count);
  const size_t tail = buffer.bytes() % sizeof(uint64_t);
  if (tail > 0) std::memcpy(words + count, &last, tail);
}

// Appends what `part`, whose corner lies at (row, col) of the whole, found.
void Append(const BitMatch& part, int64_t row, int64_t col, BitMatch* whole) {
  whole->mismatches += part.mismatches;
  for (BitMismatch mismatch : part.first) {
    mismatch.row += row;
    mismatch.col += col;
    whole->first.push_back(std::move(mismatch));
  }
}

// Compares rows x cols elements of `out` from (row, col) on with those of `in` that belong there.
template <typename T>
void MatchBlock(ConstMatrix<T> in, ConstMatrix<T> out, int64_t row, int64_t col, int64_t rows,
                int64_t cols, T* want, BitMatch* match) {
  for (int64_t c = 0; c < cols; ++c) {
    for (int64_t r = 0; r < rows; ++r) want[r * cols + c] = in(col + c, row + r);
  }
  const int64_t left = kMaxListed - static_cast<int64_t>(match->first.size());
  Append(MatchBits<T>({&out(row, col), rows, cols, out.ld}, {want, rows, cols, cols}, left), row,
         col, match);
}

// Whether rows [row, row + rows) and columns [col, col + cols) of `out` are the transpose of `in`.
template <typename T>
BitMatch MatchTransposed(ConstMatrix<T> in, ConstMatrix<T> out, int64_t row, int64_t col,
                         int64_t rows, int64_t cols) {
  BitMatch match;
  std::vector<T> want(kBlock * kBlock);
  for (int64_t r = 0; r < rows; r += kBlock) {
    for (int64_t c = 0; c < cols; c += kBlock) {
      MatchBlock(in, out, row + r, col + c, std::min(kBlock, rows - r), std::min(kBlock, cols - c),
                 want.data(), &match);
    }
  }
  return match;
}

template <typename T>
BitMatch MatchPart(TransposeOperation operation, ConstMatrix<T> in, ConstMatrix<T> out, int64_t row,
                   int64_t col, int64_t rows, int64_t cols) {
  if (operation == TransposeOperation::kTranspose) {
    return MatchTransposed(in, out, row, col, rows, cols);
  }
  BitMatch match;
  Append(MatchBits<T>({&out(row, col), rows, cols, out.ld}, {&in(row, col), rows, cols, in.ld},
                      kMaxListed),
         row, col, &match);
  return match;
}

absl::Status MatchStatus(const BitMatch& match) {
  return match.ok() ? absl::OkStatus() : absl::DataLossError(match.Describe());
}

uint64_t Number(Bits128 element) {
  return static_cast<uint64_t>(element) + Mix64(static_cast<uint64_t>(element >> 64));
}

template <typename T>
uint64_t Sum(ConstMatrix<T> gapless) {
  uint64_t sum = 0;
  const int64_t count = gapless.rows * gapless.cols;
  for (int64_t i = 0; i < count; ++i) sum += Number(gapless.data[i]);
  return sum;
}

template <typename T>
absl::Status VerifyFast(TransposeOperation operation, ConstMatrix<T> in, ConstMatrix<T> out,
                        uint64_t seed) {
  const int64_t rows = out.rows;
  const int64_t cols = out.cols;
  for (const int64_t row : {int64_t{0}, rows - 1}) {
    RETURN_IF_ERROR(MatchStatus(MatchPart(operation, in, out, row, 0, 1, cols)));
  }
  for (const int64_t col : {int64_t{0}, cols - 1}) {
    RETURN_IF_ERROR(MatchStatus(MatchPart(operation, in, out, 0, col, rows, 1)));
  }
  const bool transposed = operation == TransposeOperation::kTranspose;
  BitMatch match;
  for (int64_t i = 0; i < kSampledElements; ++i) {
    const uint64_t random = Mix64(~seed ^ Mix64(static_cast<uint64_t>(i)));
    const auto row = static_cast<int64_t>((random >> 32) % static_cast<uint64_t>(rows));
    const auto col = static_cast<int64_t>((random & 0xffffffffu) % static_cast<uint64_t>(cols));
    const T want = transposed ? in(col, row) : in(row, col);
    const int64_t left = kMaxListed - static_cast<int64_t>(match.first.size());
    Append(MatchBits<T>({&out(row, col), 1, 1, 1}, {&want, 1, 1, 1}, left), row, col, &match);
  }
  RETURN_IF_ERROR(MatchStatus(match));
  if (Sum(in) == Sum(out)) return absl::OkStatus();
  return absl::DataLossError("the sum of all elements is not that of the input's");
}

}  // namespace

absl::StatusOr<TransposeProblem> TransposeProblem::Create(const Shape2& shape,
                                                          int64_t element_bytes, uint64_t seed,
                                                          HostMemory host_memory) {
  const size_t bytes = static_cast<size_t>(shape.rows) * static_cast<size_t>(shape.cols) *
                       static_cast<size_t>(element_bytes);
  TransposeProblem problem;
  problem.seed_ = seed;
  ASSIGN_OR_RETURN(problem.in_, HostBuffer::Allocate(bytes, host_memory));
  ASSIGN_OR_RETURN(problem.out_, HostBuffer::Allocate(bytes, host_memory));
  problem.args_.rows = shape.rows;
  problem.args_.cols = shape.cols;
  problem.args_.element_bytes = element_bytes;
  problem.args_.in = problem.in_.data();
  problem.args_.ld_in = shape.cols;
  problem.args_.out = problem.out_.data();
  FillBits(element_bytes, seed, problem.in_);
  return problem;
}

TransposeArgs TransposeProblem::Args(TransposeOperation operation) const {
  TransposeArgs args = args_;
  args.ld_out = operation == TransposeOperation::kTranspose ? args.rows : args.cols;
  return args;
}

absl::Status TransposeProblem::Verify(TransposeOperation operation, VerifyMode mode) const {
  if (mode == VerifyMode::kOff || bytes() == 0) return absl::OkStatus();
  const TransposeArgs args = Args(operation);
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    const ConstMatrix<T> in = args.In<T>();
    ConstMatrix<T> out = args.Out<T>();
    if (operation == TransposeOperation::kCopy) std::swap(out.rows, out.cols);
    if (mode == VerifyMode::kFast) return VerifyFast<T>(operation, in, out, seed_);
    return MatchStatus(MatchPart<T>(operation, in, out, 0, 0, out.rows, out.cols));
  });
}

}  // namespace stridewise
