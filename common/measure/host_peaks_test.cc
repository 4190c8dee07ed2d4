#include "common/measure/host_peaks.h"

#include <algorithm>

#include "common/base/simd_target.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

#if defined(__x86_64__)

// Wide enough for every processor there is: these are measurements.
TEST(HostPeaksTest, ClockIsThatOfAProcessor) {
  const double mhz = MeasureHostClockMhz();
  EXPECT_GT(mhz, 200);
  EXPECT_LT(mhz, 8000);
}

// A core does at most 4 vectors of 16 floats, and as many doubles take two vectors.
TEST(HostPeaksTest, MultiplyAddsFollowFromTheClockAndTheVectors) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) GTEST_SKIP();
  const double most = 8.0 * 128;
  // Of a mean, other processes of the machine take a part: the best of several says what runs.
  double floats = 0;
  double doubles = 0;
  double bf16 = 0;
  for (int repeat = 0; repeat < 20; ++repeat) {
    floats = std::max(floats, MeasureFmaGflops(VectorMath::kFloat, 1, 0.0005));
    doubles = std::max(doubles, MeasureFmaGflops(VectorMath::kDouble, 1, 0.0005));
    bf16 = std::max(bf16, MeasureFmaGflops(VectorMath::kBf16, 1, 0.0005));
  }
  EXPECT_GT(floats, 1);
  EXPECT_LT(floats, most);
  EXPECT_GT(floats, 1.2 * doubles);
  EXPECT_LT(floats, 3.5 * doubles);
  // VDPBF16PS has half of a multiply-add's rate on some processors; TDPBF16PS has 16 times as much.
  EXPECT_GT(bf16, 0.6 * floats);
  EXPECT_LT(bf16, (HasBf16Tiles() ? 16 : 2) * most);
}

#endif

TEST(HostPeaksTest, CopyIsMeasuredOnce) {
  const double gbps = HostCopyGbps(1);
  EXPECT_GT(gbps, 0.1);
  EXPECT_LT(gbps, 2000);
  EXPECT_EQ(HostCopyGbps(1), gbps);
}

}  // namespace
}  // namespace stridewise
