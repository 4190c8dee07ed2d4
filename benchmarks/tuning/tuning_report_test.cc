#include "benchmarks/tuning/tuning_report.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

// Fixed, so that what is measured next does not change what is tested here.
constexpr MatMulTuning kPresent = {90,  16000, 160, 16,  512, 200, 2048,
                                   132, 64,    264, 178, 167, 122, 106};

MatMulTimes Times(int64_t n, int64_t batch, double tiny_ms, double stream_k_ms) {
  MatMulTimes times;
  times.args.m = times.args.n = times.args.k = times.args.a.ld = times.args.b.ld = n;
  times.args.batch = batch;
  if (tiny_ms > 0) times.ms["tiny"] = tiny_ms;
  if (stream_k_ms > 0) times.ms["stream_k_32x32"] = stream_k_ms;
  return times;
}

TEST(TuningReport, SaysRegretsMovesAndTheWorstShapes) {
  MatMulTuning fitted = kPresent;
  fitted.tiny_k = 120;
  const std::vector<MatMulTimes> times = {Times(100, 1, 1.5, 1.2), Times(128, 1, 2, 1),
                                          Times(112, 2, 4, 1), Times(96, 1, 0, 1)};
  const std::string text = TuningReport(times, kPresent, fitted);
  const char* present_line =
      "auto by the present thresholds takes 2.1544 times as long as the best measured (mean of 3 "
      "shapes); what it chooses at 1 more has no time\n";
  const char* fitted_line =
      "auto by the fitted thresholds takes 1.7100 times as long as the best measured (mean of 3 "
      "shapes); what it chooses at 1 more has no time\n";
  EXPECT_TRUE(absl::StrContains(text, present_line)) << text;
  EXPECT_TRUE(absl::StrContains(text, fitted_line)) << text;
  EXPECT_TRUE(absl::StrContains(text, "Moved: tiny_k from 160 to 120.\n")) << text;
  // From the worst to the least bad, and not the one where the best is chosen.
  const size_t failed = text.find("96x96x96 ");
  const size_t batch = text.find("112x112x112 x 2");
  const size_t tiny = text.find("100x100x100");
  EXPECT_TRUE(failed < batch && batch < tiny && tiny != std::string::npos) << text;
  EXPECT_FALSE(absl::StrContains(text, "128x128x128")) << text;
  EXPECT_TRUE(absl::StrContains(text, "1.250")) << text;
}

TEST(TuningReport, SaysThatNothingMoves) {
  const std::string text = TuningReport({}, kPresent, kPresent);
  EXPECT_TRUE(absl::EndsWith(text, "No threshold moves.\n")) << text;
}

}  // namespace
}  // namespace stridewise
