// The arithmetic of `split_fused`, computed on the host with the functions that split on the GPU
// (matmul/device/split_fused_pair.h): a tile has one power of two for its rows and one for its
// columns, products are summed as wgmma sums them, and every sum is looked at afterwards. The model
// keeps FP32's bound and the limits of split_cases.h, and mutants of it do not.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "matmul/device/split_fused_pair.h"
#include "matmul/fused_choice.h"
#include "matmul/test/split_cases.h"
#include "matmul/test/split_errors.h"
#include "matmul/test/wgmma_sum.h"

namespace stridewise {
namespace {

constexpr int64_t kInstructionK = 16;
constexpr int64_t kPromotedK = 64;

// What a kernel may do wrong.
struct Kernel {
  bool doubled_scale = false;  // Of A, on the way back.
  bool promotes = true;
  bool looks_at_sums = true;
  bool truncates = false;  // The first part.
  int left_out = -1;       // A product of a first and a second part.
};

// Rows of op(A) or columns of op(B), split.
struct Vectors {
  std::vector<std::vector<float>> high, low;
  float power = 1;

  Vectors(const std::vector<std::vector<float>>& x, bool truncates) {
    uint32_t most = 0;
    for (const std::vector<float>& row : x) {
      for (size_t i = 0; i < row.size() && i < kPromotedK; ++i) {
        most = std::max(most, AbsBits(row[i]));
      }
    }
    power = FusedPowerFor(most);
    for (const std::vector<float>& row : x) {
      high.emplace_back();
      low.emplace_back();
      for (size_t i = 0; i < row.size(); i += 2) {
        const float second = i + 1 < row.size() ? row[i + 1] : 0;
        TwoFp16 first_parts, second_parts;
        SplitScaled(row[i] * power, second * power, &first_parts, &second_parts);
        float of_high[2] = {FirstOf(first_parts), SecondOf(first_parts)};
        float of_low[2] = {FirstOf(second_parts), SecondOf(second_parts)};
        for (int j = 0; truncates && j < 2; ++j) {
          const float scaled = (j == 0 ? row[i] : second) * power;
          of_high[j] = FloatOfBits(BitsOfFloat(scaled) & ~uint32_t{0x1fff});
          of_low[j] = FirstOf(RoundToFp16((scaled - of_high[j]) * kFusedLowFactor, 0));
        }
        high.back().insert(high.back().end(), of_high, of_high + 2);
        low.back().insert(low.back().end(), of_low, of_low + 2);
      }
    }
  }
};

// Returns the scaled sum.
float FusedDot(const Vectors& x, const Vectors& y, int64_t i, int64_t j, int64_t k,
               const Kernel& kernel) {
  const auto add = [&](const std::vector<float>& a, const std::vector<float>& b, int64_t first,
                       float sum) {
    double products[kInstructionK];
    for (int64_t at = first; at < std::min(k, first + kPromotedK); at += kInstructionK) {
      const int count = static_cast<int>(std::min(kInstructionK, k - at));
      for (int e = 0; e < count; ++e) {
        products[e] = double{a[at + e]} * b[at + e];
        if (!std::isfinite(products[e])) return std::numeric_limits<float>::infinity();
      }
      sum = SumOfInstruction(sum, products, count);
    }
    return sum;
  };
  float sum = 0, small_of_all = 0;
  for (int64_t first = 0; first < k; first += kPromotedK) {
    float d = kernel.promotes ? 0 : small_of_all;
    if (kernel.left_out != 0) d = add(x.high[i], y.low[j], first, d);
    if (kernel.left_out != 1) d = add(x.low[i], y.high[j], first, d);
    if (kernel.promotes) {
      sum += add(x.high[i], y.high[j], first, d / kFusedLowFactor);
    } else {
      small_of_all = d;
      sum = add(x.high[i], y.high[j], first, sum);
    }
  }
  return kernel.promotes ? sum : sum + small_of_all / kFusedLowFactor;
}

// A case's product by the model.
struct Product {
  SplitErrors errors;
  int64_t in_fp32 = 0;  // Elements that are computed again.

  explicit Product(const SplitCase& split_case, const Kernel& kernel = {})
      : errors(static_cast<double>(split_case.k + 2)) {
    const int64_t k = split_case.k;
    const int64_t rows = k > 10000 ? 2 : 24;
    const SplitOperandsOfCase of = OperandsOf(split_case, rows, rows);
    const std::vector<std::vector<float>> x = RowsOfA(of, rows), y = ColsOfB(of, rows);
    const Vectors split_x(x, kernel.truncates), split_y(y, kernel.truncates);
    const float inverse_x = (kernel.doubled_scale ? 2 : 1) / split_x.power;
    bool keeps = true;
    for (int64_t i = 0; keeps && i < rows * rows; ++i) {
      const SplitDots dots = DotsOf(x[i / rows], y[i % rows]);
      float c = dots.in_fp32;
      if (k >= kLeastFusedK) {
        const float sum = FusedDot(split_x, split_y, i / rows, i % rows, k, kernel);
        if (!kernel.looks_at_sums || FusedSuffices(sum, static_cast<int>(2 * k))) {
          c = sum * inverse_x * (1 / split_y.power);
        } else {
          ++in_fp32;
        }
      }
      keeps = errors.Add(c, dots.r, dots.s);
    }
  }
};

bool Keeps(const SplitCase& split_case, const Kernel& kernel) {
  return Product(split_case, kernel).errors.Keeps(split_case.FusedLimit());
}

// Returns whether a case notices.
bool IsNoticed(const Kernel& kernel) {
  return !CasesNotKept([&](const SplitCase& split_case) {
            return Keeps(split_case, kernel);
          }).empty();
}

TEST(FusedModelTest, KeepsTheBoundOfFp32) {
  for (const SplitCase& split_case : SplitCases()) {
    const SplitErrors errors = Product(split_case).errors;
    EXPECT_LE(errors.of_bound(), 1) << split_case.name;
    EXPECT_LE(errors.relative(), split_case.FusedLimit()) << split_case.name;
  }
}

// Numbers of about the same size, whatever it is, stay on tensor cores.
TEST(FusedModelTest, FewOrdinarySumsAreComputedAgain) {
  for (const SplitCase& split_case : SplitCases()) {
    for (const char* const name : {"uniform", "normal", "positive", "phi_1", "huge", "half_zeros",
                                   "uniform_2048", "normal_4096"}) {
      if (split_case.name == name) {
        EXPECT_LE(Product(split_case).in_fp32, 2) << name;
      }
    }
  }
}

TEST(FusedModelTest, CasesNoticeMutants) {
  Kernel kernel;
  kernel.doubled_scale = true;
  EXPECT_TRUE(IsNoticed(kernel)) << "doubled scale";
  kernel = {};
  kernel.promotes = false;
  EXPECT_TRUE(IsNoticed(kernel)) << "no promotion";
  kernel = {};
  kernel.looks_at_sums = false;
  EXPECT_TRUE(IsNoticed(kernel)) << "sums not looked at";
  kernel = {};
  kernel.truncates = true;
  EXPECT_TRUE(IsNoticed(kernel)) << "first part truncated";
  for (const int product : {0, 1}) {
    kernel = {};
    kernel.left_out = product;
    EXPECT_TRUE(IsNoticed(kernel)) << "product " << product;
  }
}

}  // namespace
}  // namespace stridewise
