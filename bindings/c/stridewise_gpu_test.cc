#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "bindings/c/stridewise.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace {

using ::testing::HasSubstr;

class StridewiseGpuTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const stridewise_status status =
        stridewise_create(&context_, STRIDEWISE_CURRENT_DEVICE, nullptr);
    if (status == STRIDEWISE_NO_DEVICE) GTEST_SKIP() << stridewise_message(nullptr);
    ASSERT_EQ(status, STRIDEWISE_OK) << stridewise_message(nullptr);
  }
  void TearDown() override {
    for (void* data : allocated_) EXPECT_EQ(stridewise_free(context_, data), STRIDEWISE_OK);
    stridewise_destroy(context_);
  }

  std::string message() const { return stridewise_message(context_); }

  template <typename T>
  void* Upload(const std::vector<T>& host) {
    void* data = nullptr;
    const auto bytes = static_cast<int64_t>(host.size() * sizeof(T));
    EXPECT_EQ(stridewise_allocate(context_, bytes, &data), STRIDEWISE_OK) << message();
    EXPECT_EQ(stridewise_copy(context_, data, host.data(), bytes), STRIDEWISE_OK) << message();
    allocated_.push_back(data);
    return data;
  }
  template <typename T>
  std::vector<T> Download(const void* data, size_t count) {
    std::vector<T> host(count);
    EXPECT_EQ(stridewise_copy(context_, host.data(), data, static_cast<int64_t>(count * sizeof(T))),
              STRIDEWISE_OK)
        << message();
    return host;
  }

  stridewise_context* context_ = nullptr;
  std::vector<void*> allocated_;
};

std::vector<float> SmallWholeNumbers(size_t count, int step) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(static_cast<int>(i * static_cast<size_t>(step) % 11) - 5);
  }
  return values;
}

TEST_F(StridewiseGpuTest, TransposesInPlaceWithAWorkspaceOfTheContext) {
  constexpr int64_t kRows = 37;
  constexpr int64_t kCols = 101;
  std::vector<uint16_t> host(kRows * kCols);
  std::iota(host.begin(), host.end(), uint16_t{0});
  void* const data = Upload(host);
  stridewise_transpose_args args = stridewise_transpose_defaults();
  args.in = data;
  args.out = data;
  args.rows = kRows;
  args.cols = kCols;
  args.element_bytes = 2;
  EXPECT_EQ(stridewise_allocated_bytes(context_), 0);
  ASSERT_EQ(stridewise_transpose(context_, &args), STRIDEWISE_OK) << message();
  EXPECT_GE(stridewise_allocated_bytes(context_), kRows * kCols * 2);
  const auto result = Download<uint16_t>(data, host.size());
  for (int64_t r = 0; r < kRows; ++r) {
    for (int64_t c = 0; c < kCols; ++c) EXPECT_EQ(result[c * kRows + r], host[r * kCols + c]);
  }
}

TEST_F(StridewiseGpuTest, PermutesWithGaplessStridesWhereNoneAreGiven) {
  constexpr int64_t kExtents[] = {3, 5, 7};
  constexpr int64_t kOrder[] = {2, 0, 1};
  std::vector<double> host(3 * 5 * 7);
  std::iota(host.begin(), host.end(), 0.0);
  void* const in = Upload(host);
  void* const out = Upload(std::vector<double>(host.size(), -1));
  stridewise_permute_args args = stridewise_permute_defaults();
  args.in = in;
  args.out = out;
  args.rank = 3;
  args.extents = kExtents;
  args.order = kOrder;
  args.element_bytes = sizeof(double);
  ASSERT_EQ(stridewise_permute(context_, &args), STRIDEWISE_OK) << message();
  const auto result = Download<double>(out, host.size());
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 5; ++j) {
      for (int64_t k = 0; k < 7; ++k) {
        EXPECT_EQ(result[(k * 3 + i) * 5 + j], host[(i * 5 + j) * 7 + k]);
      }
    }
  }
}

// C = 2 * op(A) * op(B) - C for both layouts and all operations, with and without the caller's own
// workspace.
TEST_F(StridewiseGpuTest, MultipliesInEveryLayout) {
  constexpr int64_t kM = 33;
  constexpr int64_t kN = 20;
  constexpr int64_t kK = 17;
  const std::vector<float> a = SmallWholeNumbers(kM * kK, 3);
  const std::vector<float> b = SmallWholeNumbers(kK * kN, 7);
  const std::vector<float> c = SmallWholeNumbers(kM * kN, 5);
  void* const workspace = Upload(std::vector<float>(1 << 16));
  for (int form = 0; form < 16; ++form) {
    const bool column_major = (form & 1) != 0;
    const bool transpose_a = (form & 2) != 0;
    const bool transpose_b = (form & 4) != 0;
    stridewise_matmul_args args = stridewise_matmul_defaults();
    args.m = kM;
    args.n = kN;
    args.k = kK;
    args.a.data = Upload(a);
    args.b.data = Upload(b);
    args.c.data = Upload(c);
    args.a.transposed = transpose_a;
    args.b.transposed = transpose_b;
    args.alpha = 2;
    args.beta = -1;
    args.layout = column_major ? STRIDEWISE_COLUMN_MAJOR : STRIDEWISE_ROW_MAJOR;
    if ((form & 8) != 0) {
      args.workspace = workspace;
      args.workspace_bytes = sizeof(float) << 16;
    }
    ASSERT_EQ(stridewise_matmul(context_, &args), STRIDEWISE_OK) << message();
    const auto result = Download<float>(args.c.data, c.size());
    // Where element (row, col) of a stored matrix of this shape lies.
    const auto at = [&](int64_t row, int64_t col, int64_t rows, int64_t cols, bool transposed) {
      if (transposed) {
        std::swap(row, col);
        std::swap(rows, cols);
      }
      return column_major ? col * rows + row : row * cols + col;
    };
    for (int64_t i = 0; i < kM; ++i) {
      for (int64_t j = 0; j < kN; ++j) {
        float sum = 0;
        for (int64_t l = 0; l < kK; ++l) {
          sum += a[at(i, l, kM, kK, transpose_a)] * b[at(l, j, kK, kN, transpose_b)];
        }
        const int64_t place = at(i, j, kM, kN, false);
        EXPECT_EQ(result[place], 2 * sum - c[place]) << "form " << form << " at " << i << ", " << j;
      }
    }
  }
}

TEST_F(StridewiseGpuTest, AddsABiasAndAppliesAnActivation) {
  const std::vector<float> ones(16, 1);
  const std::vector<float> bias = {-5, -4, 0, 7};
  stridewise_matmul_args args = stridewise_matmul_defaults();
  args.m = args.n = args.k = 4;
  args.a.data = Upload(ones);
  args.b.data = Upload(ones);
  args.c.data = Upload(ones);
  args.bias = Upload(bias);
  args.activation = STRIDEWISE_ACTIVATION_RELU;
  ASSERT_EQ(stridewise_matmul(context_, &args), STRIDEWISE_OK) << message();
  const auto result = Download<float>(args.c.data, 16);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(result[i], std::max(0.0F, 4 + bias[i % 4])) << i;
}

TEST_F(StridewiseGpuTest, RefusesWithArgumentValueAndWhatIsAllowed) {
  stridewise_matmul_args args = stridewise_matmul_defaults();
  args.m = -1;
  EXPECT_EQ(stridewise_matmul(context_, &args), STRIDEWISE_INVALID_ARGUMENT);
  EXPECT_EQ(message(), "m is -1; allowed is 0 or more");
  args.m = 1;
  args.layout = 2;
  EXPECT_EQ(stridewise_matmul(context_, &args), STRIDEWISE_INVALID_ARGUMENT);
  EXPECT_THAT(message(), HasSubstr("layout is 2; allowed is 0 (row-major)"));
  args.layout = STRIDEWISE_ROW_MAJOR;
  args.a.type = 99;
  EXPECT_EQ(stridewise_matmul(context_, &args), STRIDEWISE_INVALID_ARGUMENT);
  EXPECT_EQ(message(), "a.type is 99; allowed is 0 to 6");
  args.a.type = STRIDEWISE_FLOAT32;
  args.precision = -1;
  EXPECT_EQ(stridewise_matmul(context_, &args), STRIDEWISE_INVALID_ARGUMENT);
  EXPECT_EQ(message(), "precision is -1; allowed is 0 to 8");
  args.precision = STRIDEWISE_PRECISION_FP32;
  args.activation = 4;
  EXPECT_EQ(stridewise_matmul(context_, &args), STRIDEWISE_INVALID_ARGUMENT);
  EXPECT_EQ(message(), "activation is 4; allowed is 0 to 3");
  EXPECT_EQ(stridewise_matmul(context_, nullptr), STRIDEWISE_INVALID_ARGUMENT);
  EXPECT_EQ(message(), "args is null");

  stridewise_transpose_args transpose = stridewise_transpose_defaults();
  transpose.element_bytes = 3;
  EXPECT_EQ(stridewise_transpose(context_, &transpose), STRIDEWISE_INVALID_ARGUMENT);
  EXPECT_THAT(message(), HasSubstr("element_bytes is 3"));

  stridewise_permute_args permute = stridewise_permute_defaults();
  permute.rank = 7;
  EXPECT_EQ(stridewise_permute(context_, &permute), STRIDEWISE_INVALID_ARGUMENT);
  EXPECT_EQ(message(), "rank is 7; allowed is 0 to 6");
  permute.rank = 1;
  EXPECT_EQ(stridewise_permute(context_, &permute), STRIDEWISE_INVALID_ARGUMENT);
  EXPECT_EQ(message(), "extents is null; allowed are 1 values");

  void* data = &data;
  EXPECT_EQ(stridewise_allocate(context_, -1, &data), STRIDEWISE_INVALID_ARGUMENT);
  EXPECT_EQ(data, nullptr);
  EXPECT_EQ(message(), "bytes is -1; allowed is 0 or more");
}

// A program with a newer header: fine as long as what this library does not know is 0.
TEST_F(StridewiseGpuTest, TakesStructuresOfNewerHeaders) {
  struct Newer {
    stridewise_matmul_args args;
    int64_t newer_field;
  } newer = {stridewise_matmul_defaults(), 0};
  newer.args.struct_size = sizeof(newer);
  EXPECT_EQ(stridewise_matmul(context_, &newer.args), STRIDEWISE_OK) << message();
  newer.newer_field = 1;
  EXPECT_EQ(stridewise_matmul(context_, &newer.args), STRIDEWISE_UNSUPPORTED);
  EXPECT_THAT(message(), HasSubstr("does not know"));
  newer.args.struct_size = 8;
  EXPECT_EQ(stridewise_matmul(context_, &newer.args), STRIDEWISE_INVALID_ARGUMENT);
  EXPECT_THAT(message(), HasSubstr("args->struct_size is 8"));
}

TEST_F(StridewiseGpuTest, ReservesTheWorkspaceThatAProductWants) {
  stridewise_matmul_args args = stridewise_matmul_defaults();
  args.m = args.n = 100;
  args.k = 100000;
  int64_t bytes = -1;
  ASSERT_EQ(stridewise_matmul_workspace(context_, &args, &bytes), STRIDEWISE_OK) << message();
  EXPECT_GT(bytes, 0);
  ASSERT_EQ(stridewise_reserve(context_, bytes), STRIDEWISE_OK) << message();
  EXPECT_GE(stridewise_allocated_bytes(context_), bytes);
  EXPECT_EQ(stridewise_synchronize(context_), STRIDEWISE_OK) << message();
}

// The product is long enough to want a workspace, which has to lie on the context's device too.
// With one device it is the first.
TEST_F(StridewiseGpuTest, MultipliesOnTheSecondDeviceWhileTheFirstIsCurrent) {
  stridewise_context* second = nullptr;
  if (const stridewise_status status = stridewise_create(&second, 1, nullptr);
      status != STRIDEWISE_INVALID_ARGUMENT) {
    ASSERT_EQ(status, STRIDEWISE_OK) << stridewise_message(nullptr);
    stridewise_destroy(std::exchange(context_, second));
  }
  constexpr int64_t kM = 100;
  constexpr int64_t kK = 20000;
  const std::vector<float> ones(kM * kK, 1);
  stridewise_matmul_args args = stridewise_matmul_defaults();
  args.m = args.n = kM;
  args.k = kK;
  args.a.data = Upload(ones);
  args.b.data = Upload(ones);
  args.c.data = Upload(std::vector<float>(kM * kM, -1));
  ASSERT_EQ(stridewise_matmul(context_, &args), STRIDEWISE_OK) << message();
  EXPECT_EQ(Download<float>(args.c.data, kM * kM), std::vector<float>(kM * kM, kK));
}

}  // namespace
