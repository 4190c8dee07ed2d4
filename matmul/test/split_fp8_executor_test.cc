// `split_fp8` and its arithmetic: a model on the host, which splits by the kernel's functions
// (matmul/device/split_fp8.h) and sums as tensor cores do, to the last bit. The kernel on the host
// executor computes the model's bits, the model keeps the bound of docs/fp32_split.md and the
// limits of split_cases.h, and mutants of it do not.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "common/base/fp8_types.h"
#include "common/base/half_types.h"
#include "common/executor/executor.h"
#include "common/executor/ptx/tensor_core.h"
#include "common/gpu/device_model.h"
#include "gtest/gtest.h"
#include "matmul/device/split_fp8.h"
#include "matmul/device/split_scheme.h"
#include "matmul/dispatch.h"
#include "matmul/host_executor.h"
#include "matmul/registry.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"
#include "matmul/test/run_on_executor.h"
#include "matmul/test/split_cases.h"
#include "matmul/test/split_errors.h"

namespace stridewise {
namespace {

constexpr int kInstructionK = 16;  // Elements: of FP8 two bytes each.
constexpr int kPromotedK = 128;

// What the model may do wrong.
struct Mistake {
  bool doubled_scale = false;  // Of the first row of A.
  bool promotes = true;
  bool looks_at_ranges = true;
  bool truncates = false;  // The first part.
  bool swaps = true;       // The bytes of B.
  int left_out = -1;       // 0: h by the rest of B; 1: the rest of A by h.
  float high_factor = 1;   // Of h as FP8.
};

// A row of op(A) or a column of op(B), split.
struct Vector {
  std::vector<uint32_t> high, bytes;  // FP16, and pairs of FP8.
  SplitScale scale;

  Vector(const std::vector<float>& x, bool second, const Mistake& mistake) {
    uint32_t most = 0;
    for (const float value : x) most = std::max(most, AbsBits(value));
    const float power = PowerFor<Fp16AndFp8>(most);
    const int k = static_cast<int>(x.size());
    int large = 0, poor = 0;
    for (int i = 0; i < k; i += 2) {
      Fp16AndFp8::Counts counts;
      TwoFp16 of[2];
      Split({x[i], power}, {i + 1 < k ? x[i + 1] : 0, power}, mistake, of, &counts);
      large += counts.LargeX() + counts.LargeY();
      poor += counts.PoorX() + counts.PoorY();
      if (second && mistake.swaps) of[1] = Fp16AndFp8::Swapped(of[1]);
      for (const uint32_t half :
           {Fp16AndFp8::BitsOf(of[0]) & 0xffff, Fp16AndFp8::BitsOf(of[0]) >> 16}) {
        high.push_back(half);
      }
      for (int byte = 0; byte < 4; ++byte) {
        bytes.push_back(Fp16AndFp8::BitsOf(of[1]) >> 8 * byte & 0xff);
      }
    }
    scale = SplitScaleFrom<Fp16AndFp8>(most, large, poor, k);
  }

  static void Split(ScaledElement x, ScaledElement y, const Mistake& mistake, TwoFp16 (&of)[2],
                    Fp16AndFp8::Counts* counts) {
    Fp16AndFp8::Split(x, y, of, counts);
    if (mistake.truncates) {
      const auto cut = [](float value) { return FloatOfBits(BitsOfFloat(value) & ~0x1fffu); };
      const float high_x = cut(x.value), high_y = cut(y.value);
      constexpr float kUnit = Fp16AndFp8::kUnitOfHigh;
      of[0] = RoundToFp16(high_x, high_y);
      SetBytes(LowBytes(RoundToE4m3(high_x / kUnit, high_y / kUnit),
                        RoundToE4m3((x.value - high_x) * kUnit, (y.value - high_y) * kUnit)),
               &of[1]);
    }
    if (mistake.high_factor != 1) {
      uint32_t bits = Fp16AndFp8::BitsOf(of[1]);
      for (const int byte : {0, 2}) {
        E4m3 number;
        number.bits = static_cast<uint8_t>(bits >> 8 * byte);
        const uint32_t changed = E4m3(number * mistake.high_factor).bits;
        bits = (bits & ~(0xffu << 8 * byte)) | changed << 8 * byte;
      }
      SetBytes(bits, &of[1]);
    }
  }

  static void SetBytes(uint32_t bits, TwoFp16* two) {
    std::memcpy(static_cast<void*>(two), &bits, sizeof(bits));
  }
};

uint32_t AddProducts(const executor::TensorForm& form, const uint32_t* x, const uint32_t* y,
                     uint32_t sum) {
  uint32_t result = 0;
  executor::MultiplyTensors(form, x, y, &sum, &result);
  return result;
}

// One element of C.
float Dot(const Vector& x, const Vector& y, int64_t k, const Mistake& mistake) {
  using executor::TensorType;
  const executor::TensorForm fp16 = {1, 1, kInstructionK, TensorType::kF16, TensorType::kF16};
  const executor::TensorForm fp8 = {1,
                                    1,
                                    2 * kInstructionK,
                                    TensorType::kE4m3,
                                    TensorType::kE4m3,
                                    TensorType::kF32,
                                    /*fraction_bits=*/13,
                                    /*result_bits=*/13};
  float sum = 0;
  uint32_t large = 0, small = 0;  // Floats.
  for (int64_t first = 0; first < k; first += kPromotedK) {
    for (int64_t at = first; at < std::min(k, first + kPromotedK); at += kInstructionK) {
      const int count = static_cast<int>(std::min<int64_t>(kInstructionK, k - at));
      uint32_t a[2 * kInstructionK] = {}, b[2 * kInstructionK] = {};
      for (int e = 0; e < 2 * count; ++e) {
        if (e % 2 == mistake.left_out) continue;
        a[e] = x.bytes[2 * at + e];
        b[e] = y.bytes[2 * at + e];
      }
      small = AddProducts(fp8, a, b, small);
    }
    for (int64_t at = first; at < std::min(k, first + kPromotedK); at += kInstructionK) {
      const int count = static_cast<int>(std::min<int64_t>(kInstructionK, k - at));
      uint32_t a[kInstructionK] = {}, b[kInstructionK] = {};
      std::copy_n(&x.high[at], count, a);
      std::copy_n(&y.high[at], count, b);
      large = AddProducts(fp16, a, b, large);
    }
    if (!mistake.promotes) continue;
    sum += FloatOfBits(small);
    sum += FloatOfBits(large);
    large = small = 0;
  }
  sum = sum + FloatOfBits(small) + FloatOfBits(large);
  return sum * InverseOf(x.scale) * InverseOf(y.scale);
}

// A case's operands, and what the model makes of them.
struct Product {
  SplitOperandsOfCase of;
  std::vector<float> c;
  SplitErrors errors;
  bool split;  // Else in FP32.

  Product(const SplitCase& split_case, int64_t side, const Mistake& mistake = {})
      : of(OperandsOf(split_case, side, side)),
        errors(static_cast<double>(split_case.k) + 2 + kRoundoffsOfFp8) {
    const int64_t k = split_case.k;
    const std::vector<std::vector<float>> rows = RowsOfA(of, side), cols = ColsOfB(of, side);
    std::vector<Vector> x, y;
    bool poor = false;
    int range_x = 1 << 24, range_y = 1 << 24;
    for (int64_t i = 0; i < side; ++i) {
      x.emplace_back(rows[i], false, mistake);
      y.emplace_back(cols[i], true, mistake);
      poor = poor || ((x[i].scale | y[i].scale) & 1) != 0;
      range_x = std::min(range_x, RangeOf(x[i].scale) >> 1);
      range_y = std::min(range_y, RangeOf(y[i].scale) >> 1);
    }
    if (mistake.doubled_scale) x[0].scale += 1 << 24;
    split = k >= Fp16AndFp8::kForm.least_k && k <= Fp16AndFp8::kForm.most_k &&
            (!mistake.looks_at_ranges || PartsSuffice(poor, range_x, range_y));
    for (int64_t i = 0; i < side * side; ++i) {
      const SplitDots dots = DotsOf(rows[i / side], cols[i % side]);
      c.push_back(split ? Dot(x[i / side], y[i % side], k, mistake) : dots.in_fp32);
      errors.Add(c.back(), dots.r, dots.s);
    }
  }

  bool Keeps(const SplitCase& split_case) const { return errors.Keeps(split_case.fp8_limit); }
};

TEST(SplitFp8ModelTest, KeepsItsBound) {
  int split = 0;
  for (const SplitCase& split_case : SplitCases()) {
    const Product product(split_case, split_case.k > 10000 ? 2 : 24);
    split += product.split ? 1 : 0;
    EXPECT_LE(product.errors.of_bound(), 1) << split_case.name;
    EXPECT_LE(product.errors.relative(), split_case.fp8_limit) << split_case.name;
  }
  EXPECT_GE(split, 12);
}

TEST(SplitFp8ModelTest, CasesNoticeMistakes) {
  const auto with = [](const std::function<void(Mistake*)>& change) {
    Mistake mistake;
    change(&mistake);
    return mistake;
  };
  const struct {
    const char* what;
    Mistake mistake;
  } mutants[] = {
      {"a doubled scale", with([](Mistake* m) { m->doubled_scale = true; })},
      {"no promotion", with([](Mistake* m) { m->promotes = false; })},
      {"no look at ranges", with([](Mistake* m) { m->looks_at_ranges = false; })},
      {"a first part that is cut off", with([](Mistake* m) { m->truncates = true; })},
      {"bytes of B as those of A", with([](Mistake* m) { m->swaps = false; })},
      {"h by the rest of B left out", with([](Mistake* m) { m->left_out = 0; })},
      {"the rest of A by h left out", with([](Mistake* m) { m->left_out = 1; })},
      {"h as FP8 twice as large", with([](Mistake* m) { m->high_factor = 2; })},
      {"h as FP8 half as large", with([](Mistake* m) { m->high_factor = 0.5; })},
  };
  for (const auto& mutant : mutants) {
    const std::vector<std::string> killed_by = CasesNotKept([&](const SplitCase& split_case) {
      return Product(split_case, 12, mutant.mistake).Keeps(split_case);
    });
    EXPECT_FALSE(killed_by.empty()) << mutant.what;
  }
}

// Every distribution: the kernel computes the model's bits.
TEST(SplitFp8ExecutorTest, ComputesTheModelsBits) {
  constexpr int64_t kSide = 6;
  constexpr int64_t kLongest = 3000;
  const auto made = executor::Executor::Create({});
  ASSERT_TRUE(made.ok()) << made.status();
  const auto implementation = OnHostExecutor(*FindMatMulImplementation("split_fp8"));
  ASSERT_TRUE(implementation.ok()) << implementation.status();
  for (const SplitCase& split_case : SplitCases()) {
    const int64_t k = split_case.k;
    if (k > kLongest) continue;
    SCOPED_TRACE(split_case.name);
    const Product want(split_case, kSide);
    MatMulCase c = {kSide, kSide, k, 0};
    c.precision = MatMulPrecision::kFp32Medium;
    MatMulTestProblem<float> problem(c);
    for (int64_t i = 0; i < kSide * k; ++i) {
      problem.SetA(i / k, i % k, want.of.a[i]);
      problem.SetB(i / kSide, i % kSide, want.of.b[i]);
    }
    const absl::Status status = RunAsPlanned(*implementation, H200Model(), (*made).get(), &problem);
    ASSERT_TRUE(status.ok()) << status;
    const float* const got = problem.c_with_guards().data() + MatMulTestProblem<float>::kGuard;
    if (k < Fp16AndFp8::kForm.least_k) continue;  // Another kernel's, with another order of sums.
    for (int64_t i = 0; i < kSide * kSide; ++i) {
      EXPECT_EQ(BitsOfFloat(got[i]), BitsOfFloat(want.c[i]))
          << i << ": " << got[i] << " and " << want.c[i];
    }
  }
}

TEST(SplitFp8ChoiceTest, OnlyWhereItIsAskedFor) {
  const DeviceModel device = H200Model();
  const auto chosen = [&](MatMulPrecision precision, int64_t n) {
    MatMulArgs args;
    args.m = args.n = args.k = n;
    args.a.ld = args.b.ld = args.c.ld = n;
    args.precision = precision;
    args.device_model = &device;
    return std::string(ChooseMatMul(WithAnyWorkspace(args), device).implementation);
  };
  EXPECT_EQ(chosen(MatMulPrecision::kFp32Medium, 4096), "split_fp8");
  EXPECT_EQ(chosen(MatMulPrecision::kFp32Split, 4096), "split_fp16");
  EXPECT_EQ(chosen(MatMulPrecision::kFp32SplitInt8, 4096), "split_flat");
  for (const int64_t n : {256, 2048}) {  // More exact, and no slower.
    EXPECT_EQ(chosen(MatMulPrecision::kFp32Medium, n), chosen(MatMulPrecision::kFp32Split, n));
  }
  EXPECT_NE(chosen(MatMulPrecision::kFp32, 4096), "split_fp8");
  EXPECT_NE(chosen(MatMulPrecision::kTf32, 4096), "split_fp8");
}

}  // namespace
}  // namespace stridewise
