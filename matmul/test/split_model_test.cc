// The arithmetic of the schemes that write floats as sums of narrower numbers, computed on the
// host: the functions that split are those of the kernels (matmul/device/split_scheme.h), products
// are summed as wgmma sums them, and the sums are promoted as split_kernel.h does it. The model
// keeps FP32's bound and the limits of split_cases.h, as the kernels do on a GPU
// (split_accuracy_gpu_test.cc), and mutants of it do not.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"
#include "matmul/device/split_pair.h"
#include "matmul/device/split_slices.h"
#include "matmul/device/split_tf32.h"
#include "matmul/device/split_triple.h"
#include "matmul/test/split_cases.h"
#include "matmul/test/split_errors.h"
#include "matmul/test/wgmma_sum.h"

namespace stridewise {
namespace {

// Bytes of an operand's row that an instruction multiplies, and that are summed before promotion.
constexpr int kInstructionBytes = 32;
constexpr int kPromotedBytes = 128;

// What a kernel does, and what it may do wrong beside the mistakes of a scheme.
struct Kernel {
  bool separate_sums = true;   // Of the largest parts' product.
  bool doubled_scale = false;  // Of the first row of A.
  bool promotes = true;
  bool promotes_finely = true;  // Each instruction, where k is below that of the scheme.
  bool looks_at_ranges = true;
  int left_out_i = -1, left_out_j = -1;  // A product of small parts.
};

// Returns the least k that is multiplied: with pairs of FP16 also one below that of the scheme.
template <typename Scheme>
constexpr int64_t LeastK() {
  return std::is_base_of_v<Fp16Pair, Scheme> ? kLeastPairK : Scheme::kForm.least_k;
}

// A row of op(A) or a column of op(B), split.
template <typename Scheme>
struct Vector {
  std::vector<float> parts[Scheme::kForm.parts];
  SplitScale scale;

  explicit Vector(const std::vector<float>& x) {
    const int k = static_cast<int>(x.size());
    uint32_t most = 0;
    for (const float value : x) most = std::max(most, AbsBits(value));
    const float power = PowerFor<Scheme>(most);
    int large = 0, poor = 0;
    for (int i = 0; i < k; i += 2) {
      typename Scheme::Counts counts;
      typename Scheme::Two of[Scheme::kForm.parts];
      Scheme::Split({x[i], power}, {i + 1 < k ? x[i + 1] : 0, power}, of, &counts);
      large += counts.LargeX() + counts.LargeY();
      poor += counts.PoorX() + counts.PoorY();
      for (int part = 0; part < Scheme::kForm.parts; ++part) {
        parts[part].push_back(FirstOf(of[part]));
        parts[part].push_back(SecondOf(of[part]));
      }
    }
    scale = SplitScaleFrom<Scheme>(most, large, poor, k);
  }
};

// Sums of integers, one for each order of products.
template <typename Scheme>
float ExactDot(const Vector<Scheme>& x, const Vector<Scheme>& y, int64_t k, const Kernel& kernel) {
  int64_t of_order[Scheme::kMostOrder + 1] = {};
  const auto add = [&](int i, int j) {
    if (i == kernel.left_out_i && j == kernel.left_out_j) return;
    for (int64_t e = 0; e < k; ++e) {
      of_order[i + j] += static_cast<int64_t>(x.parts[i][e]) * static_cast<int64_t>(y.parts[j][e]);
    }
  };
  ForEachSmallProduct<Scheme>(add);
  add(0, 0);
  typename Scheme::Sum sums[Scheme::kMostOrder + 1];
  for (int order = 0; order <= Scheme::kMostOrder; ++order) {
    sums[order] = static_cast<typename Scheme::Sum>(of_order[order]);
    EXPECT_EQ(sums[order], of_order[order]) << "does not fit";
  }
  return Scheme::Total(sums[0], sums[1], sums[2]) * InverseOf(x.scale) * InverseOf(y.scale);
}

template <typename Scheme>
float SplitDot(const Vector<Scheme>& x, const Vector<Scheme>& y, int64_t k, const Kernel& kernel) {
  constexpr int kInstructionK = kInstructionBytes / Scheme::kForm.part_bytes;
  const int64_t promoted_k = k < Scheme::kForm.least_k && kernel.promotes_finely
                                 ? kInstructionK
                                 : kPromotedBytes / Scheme::kForm.part_bytes;
  float sum = 0, large = 0, small = 0;
  const auto add = [&](int i, int j, int64_t first, float* to) {
    double products[kInstructionK];
    for (int64_t at = first; at < std::min(k, first + promoted_k); at += kInstructionK) {
      const int count = static_cast<int>(std::min<int64_t>(kInstructionK, k - at));
      for (int e = 0; e < count; ++e) {
        products[e] = double{x.parts[i][at + e]} * y.parts[j][at + e];
      }
      *to = SumOfInstruction(*to, products, count);
    }
  };
  for (int64_t first = 0; first < k; first += promoted_k) {
    ForEachSmallProduct<Scheme>([&](int i, int j) {
      if (i == kernel.left_out_i && j == kernel.left_out_j) return;
      add(i, j, first, kernel.separate_sums ? &small : &large);
    });
    add(0, 0, first, &large);
    if (!kernel.promotes) continue;
    sum += large;
    large = 0;
  }
  return (sum + large + small) * InverseOf(x.scale) * InverseOf(y.scale);
}

template <typename Scheme>
SplitErrors Multiply(const SplitCase& split_case, const Kernel& kernel = {}) {
  const int64_t k = split_case.k;
  const int64_t rows = k > 10000 ? 2 : 24;
  const SplitOperandsOfCase of = OperandsOf(split_case, rows, rows);
  const std::vector<std::vector<float>> x = RowsOfA(of, rows), y = ColsOfB(of, rows);
  std::vector<Vector<Scheme>> split_x(x.begin(), x.end()), split_y(y.begin(), y.end());
  if (kernel.doubled_scale) split_x[0].scale += 1 << 24;
  bool poor = false;
  int range_x = 1 << 24, range_y = 1 << 24;
  for (int64_t i = 0; i < rows; ++i) {
    poor = poor || ((split_x[i].scale | split_y[i].scale) & 1) != 0;
    range_x = std::min(range_x, RangeOf(split_x[i].scale) >> 1);
    range_y = std::min(range_y, RangeOf(split_y[i].scale) >> 1);
  }
  const bool split = k >= LeastK<Scheme>() && k <= Scheme::kForm.most_k &&
                     (!kernel.looks_at_ranges || PartsSuffice(poor, range_x, range_y));
  SplitErrors errors(static_cast<double>(k + 2));
  for (int64_t i = 0; i < rows * rows; ++i) {
    const SplitDots dots = DotsOf(x[i / rows], y[i % rows]);
    float c = dots.in_fp32;
    if constexpr (std::is_integral_v<typename Scheme::Sum>) {
      if (split) c = ExactDot(split_x[i / rows], split_y[i % rows], k, kernel);
    } else {
      if (split) c = SplitDot(split_x[i / rows], split_y[i % rows], k, kernel);
    }
    errors.Add(c, dots.r, dots.s);
  }
  return errors;
}

template <typename Scheme>
double LimitOf(const SplitCase& split_case) {
  if (Scheme::kForm.part_bytes == 1) return split_case.slice_limit;
  if (Scheme::kForm.part_bytes == 4) return split_case.Tf32Limit();
  return Scheme::kForm.parts == 2 ? split_case.pair_limit : split_case.triple_limit;
}

template <typename Scheme>
bool Keeps(const SplitCase& split_case, const Kernel& kernel = {}) {
  return Multiply<Scheme>(split_case, kernel).Keeps(LimitOf<Scheme>(split_case));
}

// Returns the cases that notice.
template <typename Scheme>
std::vector<std::string> KilledBy(const Kernel& kernel = {}) {
  return CasesNotKept(
      [&](const SplitCase& split_case) { return Keeps<Scheme>(split_case, kernel); });
}

template <typename Scheme>
class SplitModelTest : public testing::Test {};
using Schemes = testing::Types<Fp16Pair, Bf16Triple<6>, Bf16Triple<9>, Tf32Pair, Int8Slices>;
TYPED_TEST_SUITE(SplitModelTest, Schemes);

// Those whose sums are rounded, and whose parts have exponents.
template <typename Scheme>
class FloatSplitModelTest : public testing::Test {};
using FloatSchemes = testing::Types<Fp16Pair, Bf16Triple<6>, Bf16Triple<9>, Tf32Pair>;
TYPED_TEST_SUITE(FloatSplitModelTest, FloatSchemes);

TYPED_TEST(SplitModelTest, KeepsTheBoundOfFp32) {
  for (const bool separate_sums : {true, false}) {
    for (const SplitCase& split_case : SplitCases()) {
      Kernel kernel;
      kernel.separate_sums = separate_sums;
      const SplitErrors errors = Multiply<TypeParam>(split_case, kernel);
      EXPECT_LE(errors.of_bound(), 1) << split_case.name;
      EXPECT_LE(errors.relative(), LimitOf<TypeParam>(split_case)) << split_case.name;
    }
  }
}

TYPED_TEST(SplitModelTest, CasesNoticeDoubledScale) {
  Kernel kernel;
  kernel.doubled_scale = true;
  EXPECT_FALSE(KilledBy<TypeParam>(kernel).empty());
}

TYPED_TEST(FloatSplitModelTest, CasesNoticeMissingPromotion) {
  Kernel kernel;
  kernel.promotes = false;
  EXPECT_FALSE(KilledBy<TypeParam>(kernel).empty());
}

// Only pairs of FP16 are multiplied where k is so short.
TEST(Fp16PairModelTest, CasesNoticePromotionsThatAreTooFew) {
  Kernel kernel;
  kernel.promotes_finely = false;
  EXPECT_FALSE(KilledBy<Fp16Pair>(kernel).empty());
}

TYPED_TEST(SplitModelTest, CasesNoticeMissingRangeCheck) {
  Kernel kernel;
  kernel.looks_at_ranges = false;
  EXPECT_FALSE(KilledBy<TypeParam>(kernel).empty());
}

// The three smallest products of nine are below what FP32 keeps of the sum.
TYPED_TEST(SplitModelTest, CasesNoticeEachMissingProduct) {
  ForEachSmallProduct<TypeParam>([](int i, int j) {
    if (i + j > 2) return;
    Kernel kernel;
    kernel.left_out_i = i;
    kernel.left_out_j = j;
    EXPECT_FALSE(KilledBy<TypeParam>(kernel).empty()) << i << ", " << j;
  });
}

// A scheme whose first part is cut off toward zero, where it should be rounded.
template <typename Scheme>
struct Truncated : Scheme {
  using Two = typename Scheme::Two;
  static constexpr int kParts = Scheme::kForm.parts;

  static void Split(ScaledElement x, ScaledElement y, Two (&parts)[kParts],
                    typename Scheme::Counts* counts) {
    Scheme::Split(x, y, parts, counts);
    constexpr uint32_t kKept = kParts == 2 ? ~uint32_t{0x1fff} : ~uint32_t{0xffff};
    const float high_x = FloatOfBits(BitsOfFloat(x.value) & kKept);
    const float high_y = FloatOfBits(BitsOfFloat(y.value) & kKept);
    Two rest[kParts];
    typename Scheme::Counts unused;
    Scheme::Split({x.value - high_x, 1}, {y.value - high_y, 1}, rest, &unused);
    using Element = typename Scheme::Element;
    parts[0] = {Element(high_x), Element(high_y)};
    for (int part = 1; part < kParts; ++part) parts[part] = rest[part - 1];
  }
};

TYPED_TEST(FloatSplitModelTest, CasesNoticeTruncation) {
  EXPECT_FALSE(KilledBy<Truncated<TypeParam>>().empty());
}

// A scheme that does not see that scaling has made nothing of an element.
template <typename Scheme>
struct Forgetful : Scheme {
  static void Split(ScaledElement x, ScaledElement y,
                    typename Scheme::Two (&parts)[Scheme::kForm.parts],
                    typename Scheme::Counts* counts) {
    Scheme::Split({x.value, 1}, {y.value, 1}, parts, counts);
  }
};

TYPED_TEST(FloatSplitModelTest, CasesNoticeLostElements) {
  EXPECT_FALSE(KilledBy<Forgetful<TypeParam>>().empty());
}

// The largest of a row has three digits wherever it lies between powers of two, and every element
// is off by half of the last digit at most.
TEST(Int8SlicesTest, DigitsOfEverySize) {
  for (uint32_t mantissa = 0; mantissa < 1 << 23; mantissa += mantissa < 0x7e0000 ? 9973 : 1) {
    for (const uint32_t sign : {0U, 0x80000000U}) {
      const uint32_t bits = (127 + 33) << 23 | mantissa;
      const float x = FloatOfBits(bits | sign);
      const float power = PowerFor<Int8Slices>(bits);
      Int8Slices::Counts counts;
      TwoInt8 parts[3];
      Int8Slices::Split({x, power}, {x / 3, power}, parts, &counts);
      const auto value = [](int a, int b, int c) { return 256.0 * a + b + c / 256.0; };
      ASSERT_LE(std::abs(value(parts[0].x, parts[1].x, parts[2].x) - double{x} * power), 0x1p-9);
      ASSERT_LE(std::abs(value(parts[0].y, parts[1].y, parts[2].y) - double{x / 3} * power),
                0x1p-9);
      ASSERT_EQ(counts.large_x + counts.large_y, 2);
      ASSERT_GE(counts.PoorX() * 128.0, std::abs(double{x} * power));
    }
  }
}

}  // namespace
}  // namespace stridewise
