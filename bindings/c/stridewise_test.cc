#include "bindings/c/stridewise.h"

#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

using ::testing::HasSubstr;

std::string MessageWithoutContext() { return stridewise_message(nullptr); }

TEST(StridewiseTest, VersionAsNumberAndTextAgree) {
  EXPECT_EQ(stridewise_version(), STRIDEWISE_VERSION);
  EXPECT_EQ(std::string(stridewise_version_string()),
            std::to_string(STRIDEWISE_VERSION_MAJOR) + "." +
                std::to_string(STRIDEWISE_VERSION_MINOR) + "." +
                std::to_string(STRIDEWISE_VERSION_PATCH));
}

TEST(StridewiseTest, EveryStatusHasItsName) {
  EXPECT_STREQ(stridewise_status_name(STRIDEWISE_OK), "ok");
  EXPECT_STREQ(stridewise_status_name(STRIDEWISE_INVALID_ARGUMENT), "invalid_argument");
  EXPECT_STREQ(stridewise_status_name(STRIDEWISE_UNSUPPORTED), "unsupported");
  EXPECT_STREQ(stridewise_status_name(STRIDEWISE_OUT_OF_MEMORY), "out_of_memory");
  EXPECT_STREQ(stridewise_status_name(STRIDEWISE_NO_DEVICE), "no_device");
  EXPECT_STREQ(stridewise_status_name(STRIDEWISE_DEVICE_ERROR), "device_error");
  EXPECT_STREQ(stridewise_status_name(STRIDEWISE_INTERNAL), "internal");
  EXPECT_STREQ(stridewise_status_name(static_cast<stridewise_status>(7)), "unknown");
}

// The sizes and offsets that programs were compiled with.
TEST(StridewiseTest, StructuresKeepTheirLayout) {
  EXPECT_EQ(sizeof(stridewise_transpose_args), 88U);
  EXPECT_EQ(sizeof(stridewise_permute_args), 72U);
  EXPECT_EQ(sizeof(stridewise_input), 32U);
  EXPECT_EQ(sizeof(stridewise_output), 32U);
  EXPECT_EQ(sizeof(stridewise_matmul_args), 208U);
  EXPECT_EQ(offsetof(stridewise_matmul_args, a), 32U);
  EXPECT_EQ(offsetof(stridewise_matmul_args, alpha), 128U);
  EXPECT_EQ(offsetof(stridewise_matmul_args, precision), 156U);
  EXPECT_EQ(offsetof(stridewise_matmul_args, workspace_bytes), 168U);
  EXPECT_EQ(offsetof(stridewise_matmul_args, bias), 176U);
  EXPECT_EQ(offsetof(stridewise_matmul_args, scale_b), 200U);
}

TEST(StridewiseTest, DefaultsAreThoseOfOneProduct) {
  const stridewise_matmul_args args = stridewise_matmul_defaults();
  EXPECT_EQ(args.struct_size, sizeof(args));
  EXPECT_EQ(args.alpha, 1);
  EXPECT_EQ(args.beta, 0);
  EXPECT_EQ(args.batch, 1);
  EXPECT_EQ(args.a.data, nullptr);
}

TEST(StridewiseTest, CallsWithoutAContextSayWhatIsMissing) {
  const stridewise_matmul_args args = stridewise_matmul_defaults();
  EXPECT_EQ(stridewise_matmul(nullptr, &args), STRIDEWISE_INVALID_ARGUMENT);
  EXPECT_THAT(MessageWithoutContext(), HasSubstr("context is null"));
  EXPECT_EQ(stridewise_create(nullptr, 0, nullptr), STRIDEWISE_INVALID_ARGUMENT);
  EXPECT_EQ(MessageWithoutContext(), "context is null; allowed is its address");
  EXPECT_EQ(stridewise_allocated_bytes(nullptr), 0);
  stridewise_destroy(nullptr);
}

TEST(StridewiseTest, EachThreadHasItsMessageOfCallsWithoutAContext) {
  EXPECT_EQ(stridewise_create(nullptr, 0, nullptr), STRIDEWISE_INVALID_ARGUMENT);
  std::string of_other_thread = "?";
  std::thread([&] { of_other_thread = MessageWithoutContext(); }).join();
  EXPECT_EQ(of_other_thread, "");
  EXPECT_NE(MessageWithoutContext(), "");
}

// Arguments are checked on a device's context; this is as far as a machine without one gets.
TEST(StridewiseTest, WithoutADeviceThereIsNoContext) {
  stridewise_context* context = nullptr;
  const stridewise_status status = stridewise_create(&context, STRIDEWISE_CURRENT_DEVICE, nullptr);
  if (status == STRIDEWISE_OK) {
    stridewise_destroy(context);
    GTEST_SKIP() << "there is a GPU";
  }
  EXPECT_EQ(status, STRIDEWISE_NO_DEVICE);
  EXPECT_EQ(context, nullptr);
  EXPECT_NE(MessageWithoutContext(), "");
}

}  // namespace
