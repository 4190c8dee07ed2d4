#include "benchmarks/transpose/transposition.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/verify/bit_match.h"
#include "common/verify/fill.h"

namespace stridewise {
namespace {

constexpr int64_t kMaxListed = 3;  // Mismatches in a message.
constexpr int64_t kBlock = 64;     // A block of 64 x 64 elements stays in the cache.
constexpr uint64_t kSampledElements = 65536;
constexpr uint64_t kSampleSeed = 0x7a3d5;  // Not that of the input.

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

// Appends what `part`, whose corner lies at (row, col) of the whole, found.
void Append(const BitMatch& part, int64_t row, int64_t col, BitMatch* whole) {
  whole->mismatches += part.mismatches;
  for (BitMismatch mismatch : part.first) {
    mismatch.row += row;
    mismatch.col += col;
    whole->first.push_back(std::move(mismatch));
  }
}

// The matrices that were moved and what became of them, each side without gaps. Batches of a copy
// are one matrix.
template <typename T>
struct Moved {
  bool transposed = false;
  int64_t batch = 1;
  ConstMatrix<T> first_in, first_out;

  ConstMatrix<T> In(int64_t matrix) const { return Nth(first_in, matrix); }
  ConstMatrix<T> Out(int64_t matrix) const { return Nth(first_out, matrix); }
  int64_t elements() const { return batch * first_in.rows * first_in.cols; }

  static ConstMatrix<T> Nth(ConstMatrix<T> first, int64_t matrix) {
    first.data += matrix * first.rows * first.cols;
    return first;
  }
};

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
  std::vector<T> want(static_cast<size_t>(std::min(kBlock, rows) * std::min(kBlock, cols)));
  for (int64_t r = 0; r < rows; r += kBlock) {
    for (int64_t c = 0; c < cols; c += kBlock) {
      MatchBlock(in, out, row + r, col + c, std::min(kBlock, rows - r), std::min(kBlock, cols - c),
                 want.data(), &match);
    }
  }
  return match;
}

// Whether rows x cols elements of a matrix from (row, col) on are those that belong there.
template <typename T>
BitMatch MatchPart(const Moved<T>& moved, int64_t matrix, int64_t row, int64_t col, int64_t rows,
                   int64_t cols) {
  const ConstMatrix<T> in = moved.In(matrix);
  const ConstMatrix<T> out = moved.Out(matrix);
  if (moved.transposed) return MatchTransposed(in, out, row, col, rows, cols);
  BitMatch match;
  Append(MatchBits<T>({&out(row, col), rows, cols, out.ld}, {&in(row, col), rows, cols, in.ld},
                      kMaxListed),
         row, col, &match);
  return match;
}

template <typename T>
absl::Status MatchStatus(const Moved<T>& moved, int64_t matrix, const BitMatch& match) {
  if (match.ok()) return absl::OkStatus();
  const std::string which = moved.batch > 1 ? absl::StrCat("matrix ", matrix, ": ") : "";
  return absl::DataLossError(which + match.Describe());
}

template <typename T>
absl::Status CheckPart(const Moved<T>& moved, int64_t matrix, int64_t row, int64_t col,
                       int64_t rows, int64_t cols) {
  return MatchStatus(moved, matrix, MatchPart(moved, matrix, row, col, rows, cols));
}

uint64_t Number(Bits128 element) {
  return static_cast<uint64_t>(element) + Mix64(static_cast<uint64_t>(element >> 64));
}

template <typename T>
uint64_t Sum(const T* data, int64_t count) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < count; ++i) sum += Number(data[i]);
  return sum;
}

template <typename T>
absl::Status VerifyFull(const Moved<T>& moved) {
  for (int64_t matrix = 0; matrix < moved.batch; ++matrix) {
    RETURN_IF_ERROR(CheckPart(moved, matrix, 0, 0, moved.first_out.rows, moved.first_out.cols));
  }
  return absl::OkStatus();
}

// Once one is wrong, the samples of its matrix only.
template <typename T>
absl::Status VerifySamples(const Moved<T>& moved) {
  const auto rows = static_cast<uint64_t>(moved.first_out.rows);
  const auto cols = static_cast<uint64_t>(moved.first_out.cols);
  BitMatch match;
  int64_t wrong = 0;
  for (uint64_t i = 0; i < kSampledElements; ++i) {
    const uint64_t random = Mix64(kSampleSeed ^ Mix64(i));
    const auto matrix = static_cast<int64_t>(Mix64(random) % static_cast<uint64_t>(moved.batch));
    if (!match.ok() && matrix != wrong) continue;
    BitMatch one = MatchPart(moved, matrix, static_cast<int64_t>((random >> 32) % rows),
                             static_cast<int64_t>((random & 0xffffffffu) % cols), 1, 1);
    if (one.ok()) continue;
    wrong = matrix;
    if (match.first.size() == kMaxListed) one.first.clear();
    Append(one, 0, 0, &match);
  }
  return MatchStatus(moved, wrong, match);
}

template <typename T>
absl::Status VerifyFast(const Moved<T>& moved) {
  const int64_t rows = moved.first_out.rows;
  const int64_t cols = moved.first_out.cols;
  for (const int64_t matrix : {int64_t{0}, moved.batch - 1}) {
    for (const int64_t row : {int64_t{0}, rows - 1}) {
      RETURN_IF_ERROR(CheckPart(moved, matrix, row, 0, 1, cols));
    }
    for (const int64_t col : {int64_t{0}, cols - 1}) {
      RETURN_IF_ERROR(CheckPart(moved, matrix, 0, col, rows, 1));
    }
  }
  RETURN_IF_ERROR(VerifySamples(moved));
  if (Sum(moved.first_in.data, moved.elements()) == Sum(moved.first_out.data, moved.elements())) {
    return absl::OkStatus();
  }
  return absl::DataLossError("the sum of all elements is not that of the input's");
}

}  // namespace

Work Transposition::work() const {
  return {0, static_cast<double>(batch_) * TransposeBytes(rows_, cols_, element_bytes_)};
}

void Transposition::Fill(size_t /*input*/, uint64_t seed, void* data) const {
  const uint64_t key = Mix64(seed);
  auto* words = static_cast<uint64_t*>(data);
  const size_t count = bytes() / sizeof(uint64_t);
  const auto word = [&](size_t i) { return MakeNormal(Mix64(key ^ i), element_bytes_); };
  for (size_t i = 0; i < count; ++i) words[i] = word(i);
  const uint64_t last = word(count);
  const size_t tail = bytes() % sizeof(uint64_t);
  if (tail > 0) std::memcpy(words + count, &last, tail);
}

size_t Transposition::bytes() const {
  return static_cast<size_t>(rows_) * static_cast<size_t>(cols_) * static_cast<size_t>(batch_) *
         static_cast<size_t>(element_bytes_);
}

std::vector<BufferSpec> Transposition::inputs() const { return {{"in", bytes(), element_bytes_}}; }

BufferSpec Transposition::output() const { return {"out", bytes(), element_bytes_}; }

TransposeArgs Transposition::ArgsFor(TransposeOperation operation) const {
  const bool copy = operation == TransposeOperation::kCopy;
  TransposeArgs args;
  args.rows = copy ? batch_ * rows_ : rows_;
  args.cols = cols_;
  args.element_bytes = element_bytes_;
  args.ld_in = cols_;
  args.ld_out = copy ? cols_ : rows_;
  args.batch = copy ? 1 : batch_;
  args.stride_in = args.rows * args.cols;
  args.stride_out = args.rows * args.cols;
  return args;
}

Binding Transposition::Bind(const Implementation& implementation, const Block& block) const {
  const auto& own = static_cast<const TransposeImplementation&>(implementation);
  const bool in_place = own.operation == TransposeOperation::kInPlace;
  TransposeArgs args = ArgsFor(own.operation);
  args.block = block;
  Binding binding;
  binding.workspace_bytes = static_cast<size_t>(TransposeWorkspaceBytes(own, args));
  if (in_place) binding.output_starts_as = 0;
  binding.run = [args, own, in_place](const Buffers& buffers) {
    TransposeArgs all = args;
    all.in = in_place ? buffers.output : buffers.inputs[0];
    all.out = buffers.output;
    all.workspace = buffers.workspace;
    all.stream = buffers.stream;
    all.cublas = buffers.cublas;
    return RunTranspose(own, all);
  };
  return binding;
}

absl::Status Transposition::Verify(const Implementation& implementation, const Result& result,
                                   VerifyMode mode, cublasHandle_t /*cublas*/, ResultRow* /*row*/) {
  if (empty()) return absl::OkStatus();
  const auto operation = static_cast<const TransposeImplementation&>(implementation).operation;
  TransposeArgs args = ArgsFor(operation);
  args.in = result.inputs[0];
  args.out = const_cast<void*>(result.output);  // Only read.
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    Moved<T> moved;
    moved.transposed = operation != TransposeOperation::kCopy;
    moved.batch = args.batch;
    moved.first_in = args.In<T>();
    moved.first_out = args.Out<T>();
    if (!moved.transposed) std::swap(moved.first_out.rows, moved.first_out.cols);
    return mode == VerifyMode::kFast ? VerifyFast<T>(moved) : VerifyFull<T>(moved);
  });
}

}  // namespace stridewise
