#include "bindings/host/stridewise_host.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// [1 2 3; 4 5 6] * [1 2; 3 4; 5 6] = [22 28; 49 64].
const std::vector<double> kA = {1, 2, 3, 4, 5, 6};
const std::vector<double> kB = {1, 2, 3, 4, 5, 6};

stridewise_matmul_args ArgsOf(const void* a, const void* b, void* c, int type) {
  stridewise_matmul_args args = stridewise_matmul_defaults();
  args.m = 2;
  args.n = 2;
  args.k = 3;
  args.a.data = a;
  args.b.data = b;
  args.c.data = c;
  args.a.type = args.b.type = args.c.type = type;
  return args;
}

TEST(StridewiseHostTest, ProductsOfBothTypes) {
  std::vector<double> c(4, -1);
  const stridewise_matmul_args args = ArgsOf(kA.data(), kB.data(), c.data(), STRIDEWISE_FLOAT64);
  EXPECT_EQ(stridewise_host_matmul(&args), STRIDEWISE_OK) << stridewise_host_message();
  EXPECT_THAT(c, ElementsAre(22, 28, 49, 64));
  const std::vector<float> a(kA.begin(), kA.end());
  const std::vector<float> b(kB.begin(), kB.end());
  std::vector<float> floats = {1, 2, 3, 4};
  stridewise_matmul_args general = ArgsOf(a.data(), b.data(), floats.data(), STRIDEWISE_FLOAT32);
  general.alpha = 2;
  general.beta = 10;
  EXPECT_EQ(stridewise_host_matmul(&general), STRIDEWISE_OK) << stridewise_host_message();
  EXPECT_THAT(floats, ElementsAre(54, 76, 128, 168));
}

TEST(StridewiseHostTest, ProductsOfBfloat16) {
  // 1 to 6: the upper halves of floats.
  const std::vector<uint16_t> a = {0x3f80, 0x4000, 0x4040, 0x4080, 0x40a0, 0x40c0};
  std::vector<float> floats(4, -1);
  stridewise_matmul_args args = ArgsOf(a.data(), a.data(), floats.data(), STRIDEWISE_BFLOAT16);
  args.c.type = STRIDEWISE_FLOAT32;
  EXPECT_EQ(stridewise_host_matmul(&args), STRIDEWISE_OK) << stridewise_host_message();
  EXPECT_THAT(floats, ElementsAre(22, 28, 49, 64));
  std::vector<uint16_t> c(4);
  args.c.type = STRIDEWISE_BFLOAT16;
  args.c.data = c.data();
  EXPECT_EQ(stridewise_host_matmul(&args), STRIDEWISE_OK) << stridewise_host_message();
  EXPECT_THAT(c, ElementsAre(0x41b0, 0x41e0, 0x4244, 0x4280));
  args.b.type = STRIDEWISE_FLOAT32;
  EXPECT_EQ(stridewise_host_matmul(&args), STRIDEWISE_INVALID_ARGUMENT);
  EXPECT_THAT(stridewise_host_message(), HasSubstr("b.type is 0; allowed is a.type"));
  args.b.type = STRIDEWISE_BFLOAT16;
  args.c.type = STRIDEWISE_FLOAT64;
  EXPECT_EQ(stridewise_host_matmul(&args), STRIDEWISE_INVALID_ARGUMENT);
  EXPECT_THAT(stridewise_host_message(), HasSubstr("c.type is 7"));
}

// Column-major, the same memory is that of the transposes: A is 3 x 2 there, and B 2 x 3.
TEST(StridewiseHostTest, ColumnMajorProducts) {
  std::vector<double> c(9, -1);
  stridewise_matmul_args args = ArgsOf(kA.data(), kB.data(), c.data(), STRIDEWISE_FLOAT64);
  args.m = 3;
  args.n = 3;
  args.k = 2;
  args.layout = STRIDEWISE_COLUMN_MAJOR;
  EXPECT_EQ(stridewise_host_matmul(&args), STRIDEWISE_OK) << stridewise_host_message();
  EXPECT_THAT(c, ElementsAre(9, 12, 15, 19, 26, 33, 29, 40, 51));
}

TEST(StridewiseHostTest, Transposes) {
  const std::vector<float> in = {1, 2, 3, 4, 5, 6};
  std::vector<float> out(6);
  stridewise_transpose_args args = stridewise_transpose_defaults();
  args.in = in.data();
  args.out = out.data();
  args.rows = 2;
  args.cols = 3;
  EXPECT_EQ(stridewise_host_transpose(&args), STRIDEWISE_OK) << stridewise_host_message();
  EXPECT_THAT(out, ElementsAre(1, 4, 2, 5, 3, 6));
  args.rows = args.cols = 2;
  args.in = args.out;
  args.ld_in = args.ld_out = 3;
  EXPECT_EQ(stridewise_host_transpose(&args), STRIDEWISE_OK) << stridewise_host_message();
  EXPECT_THAT(out, ElementsAre(1, 5, 2, 4, 3, 6));
}

TEST(StridewiseHostTest, Permutes) {
  const std::vector<int16_t> in = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  std::vector<int16_t> out(12, -1);
  const int64_t extents[] = {2, 2, 3};
  const int64_t order[] = {2, 0, 1};
  stridewise_permute_args args = stridewise_permute_defaults();
  args.in = in.data();
  args.out = out.data();
  args.rank = 3;
  args.extents = extents;
  args.order = order;
  args.element_bytes = 2;
  EXPECT_EQ(stridewise_host_permute(&args), STRIDEWISE_OK) << stridewise_host_message();
  EXPECT_THAT(out, ElementsAre(0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11));
  // The first two of each three, two elements apart.
  const int64_t fewer[] = {2, 2, 2};
  const int64_t strides_in[] = {6, 3, 1};
  const int64_t strides_out[] = {6, 3, 1};
  std::fill(out.begin(), out.end(), -1);
  args.extents = fewer;
  args.strides_in = strides_in;
  args.strides_out = strides_out;
  EXPECT_EQ(stridewise_host_permute(&args), STRIDEWISE_OK) << stridewise_host_message();
  EXPECT_THAT(out, ElementsAre(0, 3, -1, 6, 9, -1, 1, 4, -1, 7, 10, -1));
}

TEST(StridewiseHostTest, WrongPermutationsAreNamed) {
  std::vector<float> memory(64);
  int64_t extents[] = {2, 3};
  int64_t order[] = {1, 0};
  int64_t strides[] = {2, 1};
  const auto expect_refused = [&](const char* message, auto spoil) {
    stridewise_permute_args args = stridewise_permute_defaults();
    args.in = memory.data();
    args.out = memory.data() + 32;
    args.rank = 2;
    args.extents = extents;
    args.order = order;
    spoil(&args);
    EXPECT_EQ(stridewise_host_permute(&args), STRIDEWISE_INVALID_ARGUMENT) << message;
    EXPECT_THAT(stridewise_host_message(), HasSubstr(message));
  };
  using Args = stridewise_permute_args;
  expect_refused("rank is 7", [](Args* args) { args->rank = 7; });
  expect_refused("extents is null", [](Args* args) { args->extents = nullptr; });
  expect_refused("order is null", [](Args* args) { args->order = nullptr; });
  expect_refused("element_bytes is 3", [](Args* args) { args->element_bytes = 3; });
  expect_refused("in is null", [](Args* args) { args->in = nullptr; });
  expect_refused("out overlaps in", [&](Args* args) { args->out = memory.data() + 5; });
  expect_refused("in is not a multiple",
                 [&](Args* args) { args->in = reinterpret_cast<const char*>(memory.data()) + 1; });
  expect_refused("strides_out[0] is 1; allowed is 2 and more", [&](Args* args) {
    strides[0] = 1;
    args->strides_out = strides;
  });
  order[1] = 1;
  expect_refused("order[1] is 1", [](Args* /*args*/) {});
  order[1] = 0;
  extents[0] = -2;
  expect_refused("extents[0] is -2", [](Args* /*args*/) {});
}

TEST(StridewiseHostTest, WrongArgumentsAreNamed) {
  std::vector<double> c(4);
  stridewise_matmul_args args = ArgsOf(kA.data(), kB.data(), c.data(), STRIDEWISE_FLOAT64);
  EXPECT_EQ(stridewise_host_matmul(nullptr), STRIDEWISE_INVALID_ARGUMENT);
  EXPECT_THAT(stridewise_host_message(), HasSubstr("args is null"));
  args.a.ld = 2;
  EXPECT_EQ(stridewise_host_matmul(&args), STRIDEWISE_INVALID_ARGUMENT);
  EXPECT_THAT(stridewise_host_message(), HasSubstr("a.ld is 2; allowed is 3 and more"));
  args.a.ld = 0;
  args.c.type = STRIDEWISE_BFLOAT16;
  EXPECT_EQ(stridewise_host_matmul(&args), STRIDEWISE_INVALID_ARGUMENT);
  EXPECT_THAT(stridewise_host_message(), HasSubstr("c.type is 1"));
  args.c.type = STRIDEWISE_FLOAT64;
  args.activation = STRIDEWISE_ACTIVATION_RELU;
  EXPECT_EQ(stridewise_host_matmul(&args), STRIDEWISE_UNSUPPORTED);
  args.activation = STRIDEWISE_ACTIVATION_NONE;
  args.m = -1;
  EXPECT_EQ(stridewise_host_matmul(&args), STRIDEWISE_INVALID_ARGUMENT);
  EXPECT_THAT(stridewise_host_message(), HasSubstr("m is -1"));
  stridewise_transpose_args transpose = stridewise_transpose_defaults();
  transpose.in = transpose.out = c.data();
  transpose.rows = 1;
  transpose.cols = 4;
  EXPECT_EQ(stridewise_host_transpose(&transpose), STRIDEWISE_INVALID_ARGUMENT);
  EXPECT_THAT(stridewise_host_message(), HasSubstr("square"));
}

}  // namespace
