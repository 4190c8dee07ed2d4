#include "scale.h"

#include <cstdint>
#include <vector>

#include "common/executor/executor.h"
#include "gtest/gtest.h"

namespace {

namespace executor = stridewise::executor;

TEST(ScaleTest, ScalesWithCoalescedAccesses) {
  constexpr int64_t kCount = 1024;
  const std::vector<float> host(kCount, 3);
  auto device = *executor::Executor::Create({});
  auto in = *device->Allocate("in", kCount * sizeof(float));
  auto out = *device->Allocate("out", kCount * sizeof(float));
  in.Upload(host.data());
  in.MakeReadOnly();
  const absl::Status status = Scale(in.As<float>(), 2, kCount, out.As<float>(), device->stream());
  ASSERT_TRUE(status.ok()) << status;

  std::vector<float> result(kCount);
  out.Download(result.data());
  EXPECT_EQ(result, std::vector<float>(kCount, 6));
  const executor::MemoryCounters loads =
      device->launches().back().profile.Total(executor::EventKind::kGlobalLoad);
  EXPECT_EQ(loads.requests, kCount / 32);
  EXPECT_EQ(loads.sectors, 4 * loads.requests);
}

}  // namespace
