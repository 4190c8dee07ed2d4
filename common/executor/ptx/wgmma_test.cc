#include "common/executor/ptx/wgmma.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace stridewise::executor {
namespace {

const char kPrefix[] = "wgmma.mma_async.sync.aligned.";

TensorForm Form(const std::string& rest) {
  const auto form = FindWgmmaForm(kPrefix + rest);
  EXPECT_TRUE(form.has_value()) << rest;
  return form.value_or(TensorForm());
}

// Every pair of types, with its 1 and its 2 and those of its sums.
struct Types {
  const char* form;
  uint32_t one_a, one_b, one, two;
};
constexpr Types kTypes[] = {
    {"k16.f32.bf16.bf16", 0x3f80, 0x3f80, 0x3f800000, 0x40000000},
    {"k16.f32.f16.f16", 0x3c00, 0x3c00, 0x3f800000, 0x40000000},
    {"k16.f16.f16.f16", 0x3c00, 0x3c00, 0x3c00, 0x4000},
    {"k8.f32.tf32.tf32", 0x3f800000, 0x3f800000, 0x3f800000, 0x40000000},
    {"k32.f32.e4m3.e4m3", 0x38, 0x38, 0x3f800000, 0x40000000},
    {"k32.f32.e4m3.e5m2", 0x38, 0x3c, 0x3f800000, 0x40000000},
    {"k32.f32.e5m2.e4m3", 0x3c, 0x38, 0x3f800000, 0x40000000},
    {"k32.f32.e5m2.e5m2", 0x3c, 0x3c, 0x3f800000, 0x40000000},
    {"k32.f16.e4m3.e4m3", 0x38, 0x38, 0x3c00, 0x4000},
    {"k32.s32.s8.s8", 1, 1, 1, 2},
    {"k32.s32.s8.u8", 1, 1, 1, 2},
    {"k32.s32.u8.s8", 1, 1, 1, 2},
    {"k32.s32.u8.u8", 1, 1, 1, 2},
};

TEST(WgmmaTest, OnesInEveryFormWhereAHasAnIdentityInItsFirstRows) {
  for (const Types& types : kTypes) {
    for (const int n : {8, 16, 24, 32, 64, 128, 192, 256}) {
      const TensorForm form = Form("m64n" + std::to_string(n) + types.form);
      std::vector<uint32_t> a(64 * form.k), b(n * form.k), d(64 * n, types.one);
      for (int i = 0; i < form.k; ++i) a[i * form.k + i] = types.one_a;
      for (int col = 0; col < n; ++col) b[col * form.k + col % form.k] = types.one_b;
      for (const bool accumulate : {true, false}) {
        std::vector<uint32_t> sums = d;
        MultiplyWarpgroup(form, {accumulate}, a.data(), b.data(), sums.data());
        for (int row = 0; row < 64; ++row) {
          for (int col = 0; col < n; ++col) {
            const bool meets = row == col % form.k;
            const uint32_t want =
                accumulate ? (meets ? types.two : types.one) : (meets ? types.one : 0);
            ASSERT_EQ(sums[row * n + col], want) << types.form << " " << row << " " << col;
          }
        }
      }
    }
  }
}

TEST(WgmmaTest, FormsThatAreNoneAreUnknown) {
  for (const char* form :
       {"m64n12k16.f32.bf16.bf16", "m64n264k16.f32.bf16.bf16", "m64n0k16.f32.bf16.bf16",
        "m64n8k8.f32.bf16.bf16", "m64n8k16.f16.bf16.bf16", "m64n8k16.f32.bf16.f16",
        "m64n40k32.s32.s8.s8", "m64n32k32.f32.s8.s8", "m64n8k8.f16.tf32.tf32",
        "m64n8k32.f32.e4m3.s8", "m64n8k32.s32.s8.s8.satfinite", "m64n8k256.s32.b1.b1.and.popc",
        "m64n8k8.f32.f32.f32", "m32n8k16.f32.bf16.bf16"}) {
    EXPECT_FALSE(FindWgmmaForm(std::string(kPrefix) + form).has_value()) << form;
  }
  EXPECT_TRUE(FindWgmmaForm(std::string(kPrefix) + "m64n48k32.s32.s8.s8").has_value());
}

TEST(WgmmaTest, NegatedOperands) {
  const TensorForm form = Form("m64n8k16.f32.f16.f16");
  for (const bool negate_a : {false, true}) {
    for (const bool negate_b : {false, true}) {
      std::vector<uint32_t> a(64 * 16, 0x3c00), b(8 * 16, 0x3c00), d(64 * 8);
      MultiplyWarpgroup(form, {true, negate_a, negate_b}, a.data(), b.data(), d.data());
      for (const uint32_t sum : d) ASSERT_EQ(sum, negate_a != negate_b ? 0xc1800000 : 0x41800000);
    }
  }
}

// A sum of 1 and 2^-14 loses its small product with FP8, and with FP16 it does not.
TEST(WgmmaTest, Fp8Keeps13FractionalBits) {
  const TensorForm fp8 = Form("m64n8k32.f32.e5m2.e5m2");
  std::vector<uint32_t> a(64 * 32), b(8 * 32), d(64 * 8);
  a[0] = b[0] = 0x3c;  // 1
  a[1] = b[1] = 0x20;  // 2^-7
  MultiplyWarpgroup(fp8, {}, a.data(), b.data(), d.data());
  EXPECT_EQ(d[0], 0x3f800000u);
  a[1] = 0x24;  // 2^-6
  MultiplyWarpgroup(fp8, {false}, a.data(), b.data(), d.data());
  EXPECT_EQ(d[0], 0x3f800400u);  // 1 + 2^-13
  const TensorForm fp16 = Form("m64n8k16.f32.f16.f16");
  a.assign(64 * 16, 0);
  b.assign(8 * 16, 0);
  a[0] = b[0] = 0x3c00;
  a[1] = b[1] = 0x2000;
  MultiplyWarpgroup(fp16, {false}, a.data(), b.data(), d.data());
  EXPECT_EQ(d[0], 0x3f800200u);  // 1 + 2^-14
}

TEST(WgmmaTest, RegistersOfDAreWhereTheManualHasThem) {
  const TensorForm form = Form("m64n16k16.f32.f16.f16");
  ASSERT_EQ(WgmmaWordsOfD(form), 8);
  std::vector<uint32_t> d(64 * 16);
  for (uint32_t i = 0; i < d.size(); ++i) d[i] = i;
  uint32_t words[8];
  TakeWgmmaD(form, 32 + 5, d.data(), words);  // Row 16 + 1, columns 2 and 3.
  const uint32_t row = 17 * 16, below = 25 * 16;
  const uint32_t want[] = {row + 2,  row + 3,  below + 2,  below + 3,
                           row + 10, row + 11, below + 10, below + 11};
  for (int i = 0; i < 8; ++i) EXPECT_EQ(words[i], want[i]) << i;
  const TensorForm halves = Form("m64n16k16.f16.f16.f16");
  ASSERT_EQ(WgmmaWordsOfD(halves), 4);
  TakeWgmmaD(halves, 32 + 5, d.data(), words);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(words[i], want[2 * i] | want[2 * i + 1] << 16) << i;
}

TEST(WgmmaTest, EveryElementOfDHasOneRegister) {
  for (const char* types : {"k16.f32.f16.f16", "k16.f16.f16.f16", "k32.s32.s8.s8"}) {
    const TensorForm form = Form(std::string("m64n256") + types);
    std::vector<uint32_t> d(64 * 256), back(64 * 256, ~0u);
    for (uint32_t i = 0; i < d.size(); ++i) d[i] = i;
    for (int thread = 0; thread < kWarpgroupThreads; ++thread) {
      uint32_t words[128];
      TakeWgmmaD(form, thread, d.data(), words);
      PutWgmmaD(form, thread, words, back.data());
    }
    EXPECT_EQ(back, d) << types;
  }
}

TEST(WgmmaTest, RegistersOfAAreWhereTheManualHasThem) {
  const struct {
    const char* form;
    int k;  // Of the low element of the third register of thread 64 + 6.
  } forms[] = {{"m64n8k16.f32.f16.f16", 2 * 2 + 8},
               {"m64n8k8.f32.tf32.tf32", 2 + 4},
               {"m64n8k32.s32.s8.s8", 2 * 4 + 16}};
  for (const auto& f : forms) {
    const TensorForm form = Form(f.form);
    const uint32_t mask = ~0u >> (32 - TensorTypeBits(form.a));
    std::vector<uint32_t> a(64 * form.k);
    const uint32_t words[] = {0, 0, 0x01020304, 0x05060708};
    PutWgmmaA(form, 64 + 6, words, a.data());  // Rows 32 + 1 and 32 + 9.
    EXPECT_EQ(a[33 * form.k + f.k], 0x01020304 & mask) << f.form;
    EXPECT_EQ(a[41 * form.k + f.k], 0x05060708 & mask) << f.form;
  }
}

}  // namespace
}  // namespace stridewise::executor
