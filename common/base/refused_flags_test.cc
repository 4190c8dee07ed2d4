#include "common/base/refused_flags.h"

#include <limits>
#include <string>

#include "absl/status/status.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

TEST(RefusedFlagsTest, NameFlagValueAndWhatIsAllowed) {
  const absl::Status value = RefuseValue("--rounds", "0", "1 to 1000");
  EXPECT_EQ(value,
            absl::InvalidArgumentError("--rounds: '0' is not allowed; allowed is 1 to 1000"));
  const absl::Status flag = RefuseFlag("--count", "5", "without --preset=random");
  EXPECT_EQ(flag,
            absl::InvalidArgumentError("--count: '5' is not allowed without --preset=random"));
}

TEST(RefusedFlagsTest, AreOneLineWhateverTheValueIs) {
  const absl::Status status = RefuseValue("--sizes", "1\n2", "a list");
  EXPECT_EQ(std::string(status.message()).find('\n'), std::string::npos) << status;
}

TEST(RefusedFlagsTest, FlagBeforeAnotherMessage) {
  EXPECT_EQ(OfFlag("--csv", absl::DataLossError("cannot write")),
            absl::DataLossError("--csv: cannot write"));
  EXPECT_EQ(OfFlag("--csv", absl::OkStatus()), absl::OkStatus());
}

TEST(CheckRangeTest, TakesBothLimitsAndNothingBeyond) {
  for (const double good : {0.5, 1.0, 2.0}) {
    EXPECT_TRUE(CheckRange("--seconds", good, 0.5, 2).ok()) << good;
  }
  const double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {0.4999, 2.0001, -1.0, kNan, std::numeric_limits<double>::infinity()}) {
    EXPECT_FALSE(CheckRange("--seconds", bad, 0.5, 2).ok()) << bad;
  }
}

TEST(CheckRangeTest, WritesWholeNumbersWithAllTheirDigits) {
  EXPECT_EQ(CheckRange("--in_memory", 16777217, 0, 16777216),
            absl::InvalidArgumentError(
                "--in_memory: '16777217' is not allowed; allowed is 0 to 16777216"));
}

}  // namespace
}  // namespace stridewise
