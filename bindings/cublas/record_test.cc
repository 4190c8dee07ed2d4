#include "bindings/cublas/record.h"

#include <string>

#include "bindings/cublas/settings.h"
#include "gtest/gtest.h"

namespace stridewise::drop_in {
namespace {

TEST(SettingsTest, TakesCallsUnlessItIsTold) {
  const char* error = "?";
  const Settings settings = ParseSettings(nullptr, nullptr, nullptr, &error);
  EXPECT_TRUE(settings.takes_calls);
  EXPECT_FALSE(settings.verbose);
  EXPECT_EQ(settings.sgemm, MatMulPrecision::kFp32);
  EXPECT_FALSE(settings.summary);
  EXPECT_EQ(error, nullptr);
}

TEST(SettingsTest, ReadsEachValue) {
  const char* error = "?";
  EXPECT_FALSE(ParseSettings("off", nullptr, nullptr, &error).takes_calls);
  EXPECT_EQ(error, nullptr);
  EXPECT_TRUE(ParseSettings("always", nullptr, nullptr, &error).always);
  EXPECT_TRUE(ParseSettings("always", nullptr, nullptr, &error).takes_calls);
  EXPECT_FALSE(ParseSettings("on", nullptr, nullptr, &error).always);
  EXPECT_TRUE(ParseSettings("measure", nullptr, nullptr, &error).measures);
  EXPECT_TRUE(ParseSettings("measure", nullptr, nullptr, &error).takes_calls);
  EXPECT_FALSE(ParseSettings("on", nullptr, nullptr, &error).measures);
  EXPECT_TRUE(ParseSettings("verbose", nullptr, "1", &error).verbose);
  EXPECT_TRUE(ParseSettings("verbose", nullptr, "1", &error).takes_calls);
  EXPECT_TRUE(ParseSettings("on", nullptr, "1", &error).summary);
  EXPECT_FALSE(ParseSettings("on", nullptr, "0", &error).summary);
  const auto sgemm = [&](const char* value) {
    return ParseSettings("on", value, "0", &error).sgemm;
  };
  EXPECT_EQ(sgemm("fp32"), MatMulPrecision::kFp32);
  EXPECT_EQ(sgemm("split"), MatMulPrecision::kFp32Split);
  EXPECT_EQ(sgemm("tf32"), MatMulPrecision::kTf32);
  EXPECT_EQ(sgemm("bf16"), MatMulPrecision::kBf16);
  EXPECT_EQ(sgemm("fp16"), MatMulPrecision::kFp16);
  EXPECT_EQ(error, nullptr);
}

TEST(SettingsTest, SaysWhichVariableIsWrong) {
  const char* error = nullptr;
  EXPECT_TRUE(ParseSettings("OFF", nullptr, nullptr, &error).takes_calls);
  EXPECT_STREQ(error,
               "STRIDEWISE_CUBLAS is none of off, on, always, measure and verbose; taken for on");
  EXPECT_FALSE(ParseSettings("on", nullptr, "yes", &error).summary);
  EXPECT_STREQ(error, "STRIDEWISE_CUBLAS_SUMMARY is neither 0 nor 1; taken for 0");
  EXPECT_EQ(ParseSettings("on", "fp8", "0", &error).sgemm, MatMulPrecision::kFp32);
  EXPECT_STREQ(error,
               "STRIDEWISE_SGEMM is none of fp32, split, tf32, bf16 and fp16; taken for fp32");
}

Record TakenRecord() {
  Record record;
  record.function = "cublasSgemm_v2";
  record.op_b = 't';
  record.m = 3;
  record.n = 4;
  record.k = 5;
  record.kernel = "ragged";
  record.us = 2.04;
  record.cublas_us = 2.5;
  return record;
}

TEST(RecordTest, LineNamesKernelAndPrediction) {
  EXPECT_EQ(RecordLine(TakenRecord()),
            "stridewise: cublasSgemm_v2 nt 3x4x5: taken, ragged, predicted 2.0 us, cuBLAS 2.5 us");
}

TEST(RecordTest, LineSaysWhyACallIsPassedOn) {
  Record record = TakenRecord();
  record.batch = 7;
  record.outcome = Outcome::kRefused;
  record.message = "lda is 1; allowed is 5 or more";
  EXPECT_EQ(RecordLine(record),
            "stridewise: cublasSgemm_v2 nt 3x4x5 batch 7: passed on, Stridewise returned an error: "
            "lda is 1; allowed is 5 or more");
}

TEST(RecordTest, EveryOutcomeHasItsText) {
  for (int i = 0; i < kOutcomes; ++i) {
    EXPECT_STRNE(OutcomeText(static_cast<Outcome>(i)), "") << i;
  }
}

TEST(RecordTest, SummaryAddsCallsAndTimes) {
  Keep(TakenRecord());
  Keep(TakenRecord());
  Record passed_on;
  passed_on.outcome = Outcome::kMathMode;
  Keep(passed_on);
  EXPECT_EQ(Summary(),
            "stridewise: 2 calls taken, predicted 0.004 ms where cuBLAS takes 0.005 ms\n"
            "stridewise: 1 calls passed on to cuBLAS\n"
            "stridewise:   1: TF32 or another reduced precision is allowed\n");
}

}  // namespace
}  // namespace stridewise::drop_in
