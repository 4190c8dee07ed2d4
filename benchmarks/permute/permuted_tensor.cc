#include "benchmarks/permute/permuted_tensor.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "benchmarks/permute/implementations.h"
#include "common/verify/fill.h"

namespace stridewise {
namespace {

// Random bits but for two of each byte, which make every element a normal number in any type of
// floating point: libraries of such numbers may change the bits of others.
constexpr uint64_t kRandomBits = 0x9f9f'9f9f'9f9f'9f9f;
constexpr uint64_t kExponentBits = 0x2020'2020'2020'2020;

uint64_t RandomNumbers(uint64_t key, uint64_t word) {
  return (Mix64(key ^ word) & kRandomBits) | kExponentBits;
}

constexpr int64_t kSampledElements = 65536;
constexpr uint64_t kSampleSeed = 0x7a3d5;  // Not that of the input.

// Returns the offset in `in` of the element at `offset` in `out`, which has no gaps.
int64_t OffsetIn(const PermuteProblem& problem, int64_t offset) {
  int64_t in = 0;
  for (int64_t i = problem.rank - 1; i >= 0; --i) {
    const int64_t extent = problem.extents[problem.order[i]];
    in += offset % extent * problem.strides_in[problem.order[i]];
    offset /= extent;
  }
  return in;
}

uint64_t Sum(const void* data, size_t bytes) {
  const auto* byte = static_cast<const uint8_t*>(data);
  uint64_t sum = 0;
  for (size_t i = 0; i < bytes; ++i) sum += byte[i];
  return sum;
}

}  // namespace

size_t PermutedTensor::bytes() const {
  return static_cast<size_t>(permutation_.elements()) * static_cast<size_t>(element_bytes_);
}

Work PermutedTensor::work() const { return {0, 2 * static_cast<double>(bytes())}; }

PermuteProblem PermutedTensor::Gapless() const {
  PermuteProblem problem{};
  problem.rank = static_cast<int64_t>(permutation_.extents.size());
  problem.element_bytes = element_bytes_;
  std::copy(permutation_.extents.begin(), permutation_.extents.end(), problem.extents.begin());
  std::copy(permutation_.order.begin(), permutation_.order.end(), problem.order.begin());
  SetGaplessStrides(&problem);
  return problem;
}

std::vector<BufferSpec> PermutedTensor::inputs() const { return {{"in", bytes(), element_bytes_}}; }

BufferSpec PermutedTensor::output() const { return {"out", bytes(), element_bytes_}; }

void PermutedTensor::Fill(size_t /*input*/, uint64_t seed, void* data) const {
  const uint64_t key = Mix64(seed);
  auto* words = static_cast<uint64_t*>(data);
  const size_t count = bytes() / sizeof(uint64_t);
  for (size_t i = 0; i < count; ++i) words[i] = RandomNumbers(key, i);
  const uint64_t last = RandomNumbers(key, count);
  std::memcpy(words + count, &last, bytes() % sizeof(uint64_t));
}

Binding PermutedTensor::Bind(const Implementation& implementation, const Block& /*block*/) const {
  const auto& own = static_cast<const PermuteImplementation&>(implementation);
  Binding binding;
  const PermuteProblem gapless = Gapless();
  const RunPermutation planned = own.plan != nullptr ? own.plan(gapless) : own.run;
  binding.run = [problem = gapless, run = planned](const Buffers& buffers) {
    PermuteProblem all = problem;
    all.in = buffers.inputs[0];
    all.out = buffers.output;
    return run(all, buffers.stream);
  };
  return binding;
}

absl::Status PermutedTensor::Verify(const Implementation& implementation, const Result& result,
                                    VerifyMode mode, cublasHandle_t /*cublas*/,
                                    ResultRow* /*row*/) {
  const bool copies = static_cast<const PermuteImplementation&>(implementation).copies;
  const PermuteProblem problem = Gapless();
  const auto size = static_cast<size_t>(element_bytes_);
  const auto* in = static_cast<const uint8_t*>(result.inputs[0]);
  const auto* out = static_cast<const uint8_t*>(result.output);
  const int64_t elements = permutation_.elements();
  if (elements == 0) return absl::OkStatus();
  const bool fast = mode == VerifyMode::kFast && elements > kSampledElements;
  for (int64_t i = 0; i < (fast ? kSampledElements : elements); ++i) {
    const uint64_t random = Mix64(kSampleSeed ^ Mix64(static_cast<uint64_t>(i)));
    const int64_t at = fast ? static_cast<int64_t>(random % static_cast<uint64_t>(elements)) : i;
    const int64_t from = copies ? at : OffsetIn(problem, at);
    if (std::memcmp(out + static_cast<size_t>(at) * size, in + static_cast<size_t>(from) * size,
                    size) == 0) {
      continue;
    }
    return absl::DataLossError(
        absl::StrCat("element ", at, " of out is not element ", from, " of in"));
  }
  if (!fast || Sum(in, bytes()) == Sum(out, bytes())) return absl::OkStatus();
  return absl::DataLossError("the sum of all bytes is not that of the input's");
}

}  // namespace stridewise
