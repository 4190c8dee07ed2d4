#include "benchmarks/transpose/transposition.h"

#include <cstring>
#include <utility>
#include <vector>

#include "benchmarks/transpose/moved_matrices.h"
#include "common/verify/fill.h"

namespace stridewise {
namespace {

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
    moved::MovedMatrices<T> moved;
    moved.transposed = operation != TransposeOperation::kCopy;
    moved.batch = args.batch;
    moved.first_in = args.In<T>();
    moved.first_out = args.Out<T>();
    if (!moved.transposed) std::swap(moved.first_out.rows, moved.first_out.cols);
    return mode == VerifyMode::kFast ? moved::VerifyMovedFast<T>(moved)
                                     : moved::VerifyMovedFully<T>(moved);
  });
}

}  // namespace stridewise
