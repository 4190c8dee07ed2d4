#include "common/executor/ptx/wgmma.h"

#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace stridewise::executor {
namespace {

bool IsFp8(TensorType type) { return type == TensorType::kE4m3 || type == TensorType::kE5m2; }
bool IsInteger(TensorType type) { return type == TensorType::kS8 || type == TensorType::kU8; }

// Returns whether the instruction has sums of this type. kF32 and kS32 are never operands.
bool HasTypes(const TensorForm& form) {
  const bool half_or_float = form.sums == TensorType::kF16 || form.sums == TensorType::kF32;
  if (IsInteger(form.a)) return IsInteger(form.b) && form.sums == TensorType::kS32;
  if (IsFp8(form.a)) return IsFp8(form.b) && half_or_float;
  if (form.a != form.b) return false;
  if (form.a == TensorType::kF16) return half_or_float;
  const bool bf16_or_tf32 = form.a == TensorType::kBf16 || form.a == TensorType::kTf32;
  return bf16_or_tf32 && form.sums == TensorType::kF32;
}

// Multiples of 8; of integers, beyond 32, only those of 16.
bool HasColumns(const TensorForm& form) {
  if (form.n < 8 || form.n > 256 || form.n % 8 != 0) return false;
  return !IsInteger(form.a) || form.n <= 32 || form.n % 16 == 0;
}

// A thread's row of a fragment: with g = thread % 32 / 4, those of its warp at g and g + 8.
int FragmentRow(int thread, bool lower) {
  return thread / 32 * 16 + thread % 32 / 4 + (lower ? 8 : 0);
}

// The element of D in register `i` where each has one: its index in d.
int ElementOfD(const TensorForm& form, int thread, int i) {
  return FragmentRow(thread, i / 2 % 2 != 0) * form.n + i / 4 * 8 + thread % 4 * 2 + i % 2;
}

// The first element of FP16 pair `i`: its index in d.
int PairOfD(const TensorForm& form, int thread, int i) { return ElementOfD(form, thread, 2 * i); }

void Negate(TensorType type, int count, uint32_t* elements) {
  const uint32_t sign = 1u << (TensorTypeBits(type) - 1);
  for (int i = 0; i < count; ++i) elements[i] ^= sign;
}

}  // namespace

std::optional<TensorForm> FindWgmmaForm(absl::string_view name) {
  if (!absl::ConsumePrefix(&name, "wgmma.mma_async.sync.aligned.m64n")) return std::nullopt;
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '.');
  if (parts.size() != 4) return std::nullopt;
  const std::vector<absl::string_view> shape = absl::StrSplit(parts[0], 'k');
  const auto sums = FindTensorType(parts[1]);
  const auto a = FindTensorType(parts[2]);
  const auto b = FindTensorType(parts[3]);
  TensorForm form;
  form.m = kWgmmaRows;
  if (shape.size() != 2 || !absl::SimpleAtoi(shape[0], &form.n) ||
      !absl::SimpleAtoi(shape[1], &form.k) || !sums || !a || !b) {
    return std::nullopt;
  }
  form.sums = *sums;
  form.a = *a;
  form.b = *b;
  // 32 bytes of k, whatever the type.
  if (!HasTypes(form) || !HasColumns(form) || form.k * TensorTypeBits(form.a) != 256) {
    return std::nullopt;
  }
  if (IsFp8(form.a)) form.fraction_bits = form.result_bits = 13;
  return form;
}

int WgmmaWordsOfD(const TensorForm& form) {
  return form.n * TensorTypeBits(form.sums) * kWgmmaRows / kWarpgroupThreads / 32;
}

void PutWgmmaA(const TensorForm& form, int thread, const uint32_t* words, uint32_t* a) {
  const int bits = TensorTypeBits(form.a);
  const int each = 32 / bits;
  const uint32_t mask = ~0u >> (32 - bits);
  for (int i = 0; i < kWgmmaWordsOfA; ++i) {
    const int k = (thread % 4 + i / 2 * 4) * each;
    uint32_t* const to = a + FragmentRow(thread, i % 2 != 0) * form.k + k;
    for (int j = 0; j < each; ++j) to[j] = words[i] >> (j * bits) & mask;
  }
}

void PutWgmmaD(const TensorForm& form, int thread, const uint32_t* words, uint32_t* d) {
  for (int i = 0; i < WgmmaWordsOfD(form); ++i) {
    if (form.sums == TensorType::kF16) {
      uint32_t* const pair = d + PairOfD(form, thread, i);
      pair[0] = words[i] & 0xffff;
      pair[1] = words[i] >> 16;
    } else {
      d[ElementOfD(form, thread, i)] = words[i];
    }
  }
}

void TakeWgmmaD(const TensorForm& form, int thread, const uint32_t* d, uint32_t* words) {
  for (int i = 0; i < WgmmaWordsOfD(form); ++i) {
    if (form.sums == TensorType::kF16) {
      const uint32_t* const pair = d + PairOfD(form, thread, i);
      words[i] = pair[0] | pair[1] << 16;
    } else {
      words[i] = d[ElementOfD(form, thread, i)];
    }
  }
}

void MultiplyWarpgroup(const TensorForm& form, const WgmmaScales& scales, uint32_t* a, uint32_t* b,
                       uint32_t* d) {
  if (scales.negate_a) Negate(form.a, form.m * form.k, a);
  if (scales.negate_b) Negate(form.b, form.n * form.k, b);
  if (!scales.accumulate) std::fill_n(d, form.m * form.n, 0u);
  MultiplyTensors(form, a, b, d, d);
}

}  // namespace stridewise::executor
