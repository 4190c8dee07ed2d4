#include "common/gpu/nvml.h"

#include "gtest/gtest.h"

namespace stridewise {
namespace {

TEST(Nvml, NamesThrottleReasons) {
  EXPECT_EQ(ThrottleReasonNames(0), "none");
  EXPECT_EQ(ThrottleReasonNames(0x4), "sw_power_cap");
  EXPECT_EQ(ThrottleReasonNames(0x1 | 0x40), "gpu_idle|hw_thermal_slowdown");
  EXPECT_EQ(ThrottleReasonNames(0x8 | 0x1000), "hw_slowdown|0x1000");
}

// With or without a driver: no GPU sits at this address, so there is nothing to tell.
TEST(Nvml, UnknownDeviceGivesEmptyAnswers) {
  const auto nvml = Nvml::Open("ffff:ff:1f.7");
  const DeviceState state = nvml->Read();
  EXPECT_FALSE(state.sm_clock_mhz.has_value());
  EXPECT_FALSE(state.power_w.has_value());
  EXPECT_FALSE(state.temperature_c.has_value());
  EXPECT_FALSE(state.throttle_reasons.has_value());
  EXPECT_FALSE(nvml->EnergyJoules().has_value());
}

}  // namespace
}  // namespace stridewise
