#include "common/executor/testdata/tensor_inputs.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "common/verify/fill.h"

namespace stridewise::executor {
namespace {

constexpr char kTensorBitsCsv[] =
#include "common/executor/tensor_bits_csv.inc"
    ;

struct Format {
  absl::string_view name;
  int exponent_bits, fraction_bits, dropped_bits;
  bool has_infinity;
};

constexpr Format kFormats[] = {
    {"f16", 5, 10, 0, true},  {"bf16", 8, 7, 0, true}, {"tf32", 8, 10, 13, true},
    {"e4m3", 4, 3, 0, false}, {"e5m2", 5, 2, 0, true}, {"f32", 8, 23, 0, true},
    {"s8", 0, 7, 0, false},   {"u8", 0, 7, 0, false},  {"s32", 0, 31, 0, false}};

const Format& FormatNamed(absl::string_view name) {
  const Format* format = kFormats;
  while (format->name != name) ++format;
  return *format;
}

int BitsOf(const Format& f) { return 1 + f.exponent_bits + f.fraction_bits + f.dropped_bits; }

// Random numbers in order.
class Random {
 public:
  explicit Random(uint64_t seed) : seed_(Mix64(seed)) {}
  uint64_t Bits() { return Mix64(seed_ ^ ++count_); }
  int Below(int limit) { return static_cast<int>((Bits() >> 32) % static_cast<uint64_t>(limit)); }

 private:
  uint64_t seed_;
  uint64_t count_ = 0;
};

// Returns a number of one of `count` exponents from `first`, which are cut off to what is finite.
uint32_t WithExponent(const Format& f, int first, int count, bool power, Random* random) {
  const int last = (1 << f.exponent_bits) - (f.has_infinity ? 2 : 1);
  int exponent = first + random->Below(count);
  exponent = exponent < 0 ? 0 : exponent > last ? last : exponent;
  auto fraction = static_cast<uint32_t>(random->Bits()) & ((1u << f.fraction_bits) - 1);
  if (power) fraction = exponent == 0 ? 1u << (fraction % f.fraction_bits) : 0;
  // The last one of E4M3 is a NaN.
  if (!f.has_infinity && exponent == last && fraction == (1u << f.fraction_bits) - 1) --fraction;
  const uint32_t sign = static_cast<uint32_t>(random->Bits()) & 1;
  const uint32_t bits =
      (sign << f.exponent_bits | static_cast<uint32_t>(exponent)) << f.fraction_bits | fraction;
  // What is below a TF32 number's fraction is not looked at.
  return bits << f.dropped_bits |
         (static_cast<uint32_t>(random->Bits()) & ((1u << f.dropped_bits) - 1));
}

uint32_t Special(const Format& f, Random* random) {
  const uint32_t exponent = (1u << f.exponent_bits) - 1;
  const uint32_t quiet = f.has_infinity ? 1u << (f.fraction_bits - 1) : (1u << f.fraction_bits) - 1;
  const uint32_t sign = static_cast<uint32_t>(random->Bits()) & 1;
  const bool nan = !f.has_infinity || random->Below(4) == 0;
  return ((sign << f.exponent_bits | exponent) << f.fraction_bits | (nan ? quiet : 0))
         << f.dropped_bits;
}

uint32_t Element(const Format& f, absl::string_view pattern, bool is_sum, Random* random) {
  if (f.exponent_bits == 0) {
    const auto bits = static_cast<uint32_t>(random->Bits());
    if (is_sum) return pattern == "near" ? bits % 65536 : bits;
    return pattern == "largest" ? bits % 4 == 0 ? 127 : 128 : bits & 0xff;
  }
  const int one = (1 << (f.exponent_bits - 1)) - 1;
  const int exponents = 1 << f.exponent_bits;
  if (pattern == "near") return WithExponent(f, one - 2, 4, false, random);
  if (pattern == "apart" || pattern == "chain") return WithExponent(f, one - 12, 16, false, random);
  if (pattern == "powers")
    return WithExponent(f, one - (is_sum ? 4 : 14), is_sum ? 8 : 16, true, random);
  if (pattern == "cancelling") {
    return WithExponent(f, is_sum ? one - 24 : one - 4, is_sum ? 26 : 8, false, random);
  }
  if (pattern == "subnormal") return WithExponent(f, 0, 3, false, random);
  if (pattern == "largest") return WithExponent(f, exponents - 4, 4, false, random);
  if (pattern == "zeros" && random->Below(4) != 0) {
    return static_cast<uint32_t>(random->Below(2)) << (BitsOf(f) - 1);
  }
  if (pattern == "zeros") return WithExponent(f, one - 12, 16, false, random);
  if (pattern == "special" && random->Below(is_sum ? 16 : 32) == 0) return Special(f, random);
  return WithExponent(f, 0, exponents, false, random);
}

// Puts elements into words, the first one lowest.
std::vector<uint32_t> Pack(const std::vector<uint32_t>& elements, int bits) {
  const size_t each = 32 / static_cast<size_t>(bits);
  std::vector<uint32_t> words(elements.size() / each);
  for (size_t i = 0; i < words.size() * each; ++i) {
    words[i / each] |= elements[i] << (i % each * static_cast<size_t>(bits));
  }
  return words;
}

}  // namespace

std::string TensorBitsName(const TensorKernel& kernel, const TensorPattern& pattern) {
  return absl::StrCat(kernel.name, ",", kernel.sums, ",", kernel.a, ",", kernel.b, ",",
                      pattern.name, ",", kTensorBitsSums / (kernel.m * kernel.n), ",",
                      pattern.steps);
}

TensorInputs MakeTensorInputs(const TensorKernel& kernel, const TensorPattern& pattern) {
  const int products = kTensorBitsSums / (kernel.m * kernel.n);
  const Format& of_a = FormatNamed(kernel.a);
  const Format& of_b = FormatNamed(kernel.b);
  const Format& of_c = FormatNamed(kernel.sums);
  const absl::string_view name = pattern.name;
  const int k = kernel.words_of_k * 32 / BitsOf(of_a) * pattern.steps;
  Random random(name.size() * 256 + static_cast<uint64_t>(name[0]));
  std::vector<uint32_t> a(static_cast<size_t>(products * kernel.m * k));
  std::vector<uint32_t> b(static_cast<size_t>(products * kernel.n * k));
  std::vector<uint32_t> c(static_cast<size_t>(products * kernel.m * kernel.n));
  for (uint32_t& x : a) x = Element(of_a, name, false, &random);
  for (uint32_t& x : b) x = Element(of_b, name, false, &random);
  for (uint32_t& x : c) x = Element(of_c, name, true, &random);
  if (name == "cancelling" && of_a.exponent_bits != 0) {
    // Element k - 1 - i is element i, negated in A; but for the first and last, whose product
    // stays.
    const auto step = static_cast<size_t>(k);
    const uint32_t sign = 1u << (BitsOf(of_a) - 1);
    for (size_t row = 0; row < a.size(); row += step) {
      for (size_t i = 1; i < step / 2; ++i) a[row + step - 1 - i] = a[row + i] ^ sign;
    }
    for (size_t row = 0; row < b.size(); row += step) {
      for (size_t i = 1; i < step / 2; ++i) b[row + step - 1 - i] = b[row + i];
    }
  }
  return {Pack(a, BitsOf(of_a)), Pack(b, BitsOf(of_b)), Pack(c, BitsOf(of_c))};
}

std::map<std::string, std::string> TensorBitsHashes() {
  std::map<std::string, std::string> hashes;
  for (const absl::string_view row : absl::StrSplit(kTensorBitsCsv, '\n', absl::SkipEmpty())) {
    const size_t comma = row.rfind(',');
    if (absl::StartsWith(row, "instruction,")) continue;  // The names of the columns.
    hashes[std::string(row.substr(0, comma))] = std::string(row.substr(comma + 1));
  }
  return hashes;
}

std::string HashOfWords(const std::vector<uint32_t>& words) {
  uint64_t hash = words.size();
  for (const uint32_t word : words) hash = Mix64(hash ^ word);
  return absl::StrFormat("%016x", hash);
}

}  // namespace stridewise::executor
