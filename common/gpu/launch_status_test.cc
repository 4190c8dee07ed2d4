#include "common/gpu/launch_status.h"

#include <utility>

#include "absl/status/status.h"
#include "common/base/status_macros.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

const absl::Status kError = absl::InvalidArgumentError("grid.x is -1");

LaunchStatus Fails() { return kError; }
LaunchStatus Succeeds() { return {}; }
absl::Status Converts(bool ok) { return ok ? Succeeds() : Fails(); }

LaunchStatus ReturnsTheFirstError() {
  RETURN_IF_ERROR(Succeeds());
  RETURN_IF_ERROR(absl::OkStatus());
  RETURN_IF_ERROR(kError);
  return absl::InternalError("not reached");
}

TEST(LaunchStatus, ConvertsToAbslStatusAndBack) {
  EXPECT_TRUE(Succeeds().ok());
  EXPECT_FALSE(Fails().ok());
  EXPECT_EQ(Converts(true), absl::OkStatus());
  EXPECT_EQ(Converts(false), kError);
  EXPECT_TRUE(LaunchStatus(absl::OkStatus()).ok());
  EXPECT_EQ(absl::Status(ReturnsTheFirstError()), kError);
}

TEST(LaunchStatus, MovesItsError) {
  LaunchStatus from = Fails();
  LaunchStatus to = std::move(from);
  EXPECT_EQ(absl::Status(to), kError);
  to = Succeeds();
  EXPECT_TRUE(to.ok());
  to = Fails();
  EXPECT_EQ(absl::Status(to), kError);
}

}  // namespace
}  // namespace stridewise
