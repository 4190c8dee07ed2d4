#include "benchmarks/streamed/operands.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

constexpr int64_t kGigabyte = 1'000'000'000;

TEST(CheckHostMemoryTest, OperandsAreCountedTogether) {
  constexpr int64_t kSide = 131072;  // Three floats of 69 GB.
  const std::vector<std::pair<int64_t, int64_t>> product(3, {kSide, kSide});
  StreamedSettings settings;
  settings.memory_text = "pinned";
  EXPECT_TRUE(CheckHostMemory(settings, product, 250 * kGigabyte).ok());
  EXPECT_TRUE(CheckHostMemory(settings, product, 3 * kSide * kSide * 4).ok());
  for (const int64_t available : {3 * kSide * kSide * 4 - 1, 128 * kGigabyte, int64_t{0}}) {
    const absl::Status status = CheckHostMemory(settings, product, available);
    EXPECT_TRUE(absl::IsResourceExhausted(status));
    for (const char* const named : {"--memory", "pinned", "206.2 GB", "--memory=file"}) {
      EXPECT_NE(status.message().find(named), std::string::npos) << status;
    }
  }
  settings.directory = "/scratch";
  EXPECT_TRUE(CheckHostMemory(settings, product, 0).ok());
}

// Which cannot be counted in 64 bits.
TEST(CheckHostMemoryTest, OperandsOfAnySize) {
  EXPECT_TRUE(absl::IsResourceExhausted(
      CheckHostMemory({}, {{int64_t{1} << 40, int64_t{1} << 40}}, 250 * kGigabyte)));
}

}  // namespace
}  // namespace stridewise
