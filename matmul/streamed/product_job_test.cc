// Streamed products on a device of the host, whose queues run in any order that events allow.

#include "matmul/streamed/product_job.h"

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/base/mapped_file.h"
#include "common/streaming/fake_stream_queues.h"
#include "common/streaming/stream_job.h"
#include "gtest/gtest.h"
#include "matmul/streamed/stream_plan.h"
#include "matmul/streamed/streamed_test_problem.h"

namespace stridewise {
namespace {

constexpr auto kColumns = MatrixLayout::kColumnMajor;
constexpr StreamedCase kCases[] = {
    {1, 1, 1},
    {1, 1, 0, false, false, 1, 3},
    {5, 7, 0},
    {17, 13, 19},
    {64, 64, 64},
    {65, 63, 33, false, false, 2, -1, 3},
    {33, 65, 20, true, false, 1, 1, 1},
    {31, 40, 70, false, true, -1, 2, 5},
    {40, 31, 17, true, true, 1, 1, 0},
    {1, 200, 50, true, false, 1, 1, 2},
    {200, 1, 50, false, true, 1, 0, 2},
    {3, 5, 300, true, true, 1, 1},
    {40, 30, 20, false, false, 1, 1, 3, kColumns},
    {30, 40, 50, true, false, 2, 1, 1, kColumns},
    {7, 90, 20, false, true, 1, 0, 0, kColumns},
};

// MatMul() on the memory of such a device, row-major.
absl::Status Multiply(const MatMulProblem& p, cudaStream_t) {
  const auto* a = static_cast<const float*>(p.a.data);
  const auto* b = static_cast<const float*>(p.b.data);
  auto* c = static_cast<float*>(p.c.data);
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < p.k; ++l) {
        sum += static_cast<double>(a[p.a.transposed ? l * p.a.ld + i : i * p.a.ld + l]) *
               b[p.b.transposed ? j * p.b.ld + l : l * p.b.ld + j];
      }
      float& entry = c[i * p.c.ld + j];
      entry = static_cast<float>(p.alpha * sum + (p.beta == 0 ? 0 : p.beta * entry));
    }
  }
  return absl::OkStatus();
}

// Multiplies with `devices` devices of so much memory.
absl::Status Stream(const MatMulProblem& problem, int64_t bytes, int devices, uint64_t seed,
                    const StreamOptions& options = {}) {
  const absl::StatusOr<MatMulArgs> args = StreamedArgs(problem);
  if (!args.ok()) return args.status();
  const StreamLimits limits = {bytes, devices, {}};
  absl::StatusOr<MatMulStreamPlan> plan = PlanStreamedProduct(ShapeOf(*args), limits);
  if (options.checkpoint != nullptr && options.checkpoint->tile_rows > 0) {
    plan = PlanWithTiles(ShapeOf(*args), limits, options.checkpoint->tile_rows,
                         options.checkpoint->tile_cols);
  }
  if (!plan.ok()) return plan.status();
  // Slices and bands of what a plan takes whole, since it is small.
  const auto parts = static_cast<int64_t>(1 + seed % 4);
  if (plan->depth % parts == 0) plan->slice = plan->depth / parts;
  plan->bands = parts;
  const ProductJob job(*args, *plan, 0, Multiply);
  const FakeDevices fakes(devices, seed, plan->device_bytes);
  const absl::Status status = RunStreamJob(job, fakes.queues(), options);
  EXPECT_TRUE(fakes.CanariesAreWhole());
  return status;
}

TEST(ProductJobTest, MultipliesWithAnyMemory) {
  for (const StreamedCase& c : kCases) {
    for (const int64_t bytes : {3000, 5000, 10000, 50000, 1 << 20}) {
      for (uint64_t seed = 0; seed < 8; ++seed) {
        StreamedTestProblem<> problem(c);
        const absl::Status status = Stream(problem.problem(), bytes, 1 + seed % 3, seed);
        ASSERT_TRUE(status.ok()) << status;
        ASSERT_TRUE(problem.IsRight()) << c << ", " << bytes << " bytes, seed " << seed;
      }
    }
  }
}

// Operands that are read from files, and a result that is written to one.
TEST(ProductJobTest, MultipliesMappedFiles) {
  for (const StreamedCase& c : {StreamedCase{65, 63, 33, false, false, 2, -1, 3},
                                {33, 65, 20, true, false, 1, 1, 1},
                                {7, 90, 2000, false, true, 1, 0, 0, kColumns}}) {
    StreamedTestProblem<> problem(c);
    MatMulProblem mapped = problem.problem();
    std::vector<MappedFile> files;
    const auto map = [&files](const void* data, size_t bytes) -> char* {
      auto file = MappedFile::CreateUnnamed(testing::TempDir(), static_cast<int64_t>(bytes));
      EXPECT_TRUE(file.ok()) << file.status();
      if (!file.ok()) return nullptr;
      std::memcpy(file->data(), data, bytes);
      files.push_back(*std::move(file));
      return files.back().As<char>();
    };
    mapped.a.data = map(mapped.a.data, problem.a_bytes());
    mapped.b.data = map(mapped.b.data, problem.b_bytes());
    const auto offset = static_cast<char*>(mapped.c.data) - static_cast<char*>(problem.c_data());
    char* const c_file = map(problem.c_data(), problem.c_bytes());
    ASSERT_EQ(files.size(), 3u);
    mapped.c.data = c_file + offset;
    ASSERT_FALSE(problem.IsRight());
    const absl::Status status = Stream(mapped, 10000, 2, 1);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_FALSE(problem.IsRight());  // C itself was not written.
    std::memcpy(problem.c_data(), c_file, problem.c_bytes());
    EXPECT_TRUE(problem.IsRight()) << c;
  }
}

TEST(ProductJobTest, GoesOnAfterCancelledWithLessMemory) {
  const StreamedCase c = {65, 63, 33, false, true, 2, -1, 3};
  StreamedTestProblem<> problem(c);
  StreamCheckpoint checkpoint;
  std::atomic<bool> cancel = false;
  StreamOptions options;
  options.checkpoint = &checkpoint;
  options.cancel = &cancel;
  options.progress = [&](int64_t done, int64_t) { cancel = done >= 3; };
  EXPECT_TRUE(absl::IsCancelled(Stream(problem.problem(), 10000, 1, 1, options)));
  EXPECT_FALSE(problem.IsRight());
  options.cancel = nullptr;
  options.progress = nullptr;
  EXPECT_TRUE(Stream(problem.problem(), 9000, 2, 7, options).ok());
  EXPECT_TRUE(problem.IsRight());
}

// A product of FP16 pairs leaves a third of the time for the copies, and its plan knows.
TEST(ProductJobTest, StepsAndPlansAreOfTheProductsPrecision) {
  StreamedTestProblem<> small({65, 63, 33});
  MatMulProblem problem = small.problem();
  MatMulStreamPlan plans[2];
  for (const bool split : {false, true}) {
    problem.precision = split ? MatMulPrecision::kFp32Split : MatMulPrecision::kFp32;
    const absl::StatusOr<MatMulArgs> args = StreamedArgs(problem);
    ASSERT_TRUE(args.ok()) << args.status();
    StreamRates rates;
    rates.flops = ProductFlops(*args);
    const auto plan = PlanStreamedProduct({65536, 65536, 65536}, {int64_t{8} << 30, 1, rates});
    ASSERT_TRUE(plan.ok()) << plan.status();
    plans[split] = *plan;
    EXPECT_EQ(
        ProductJob(*args, PlanWithTiles(ShapeOf(*args), {1 << 20, 1, {}}, 32, 32), 0, Multiply)
            .StepProduct({}, {}, {})
            .precision,
        problem.precision);
  }
  EXPECT_LT(plans[true].seconds, 0.5 * plans[false].seconds);
  EXPECT_LE(plans[true].bytes_in, plans[false].bytes_in);
}

TEST(ProductJobTest, NothingToDo) {
  for (const StreamedCase& c : {StreamedCase{0, 5, 5}, {5, 0, 5}, {0, 0, 0}}) {
    StreamedTestProblem<> problem(c);
    EXPECT_TRUE(Stream(problem.problem(), 0, 1, 1).ok());
    EXPECT_TRUE(problem.IsRight());
  }
}

TEST(ProductJobTest, RefusesWhatItDoesNotTake) {
  StreamedTestProblem<> good({8, 8, 8});
  float bias[8] = {};
  const auto refused = [&](auto change) {
    MatMulProblem problem = good.problem();
    change(&problem);
    return absl::IsInvalidArgument(StreamedArgs(problem).status());
  };
  EXPECT_FALSE(refused([](MatMulProblem*) {}));
  EXPECT_TRUE(refused([](MatMulProblem* p) { p->m = -1; }));
  EXPECT_TRUE(refused([](MatMulProblem* p) { p->a.ld = 7; }));
  EXPECT_TRUE(refused([](MatMulProblem* p) { p->b.data = nullptr; }));
  EXPECT_TRUE(refused([](MatMulProblem* p) { p->batch = 2; }));
  EXPECT_TRUE(refused([](MatMulProblem* p) { p->device = 0; }));
  EXPECT_TRUE(refused([&](MatMulProblem* p) { p->epilogue.bias = bias; }));
  EXPECT_TRUE(refused([](MatMulProblem* p) { p->epilogue.activation = Activation::kRelu; }));
  EXPECT_TRUE(refused([&](MatMulProblem* p) {
    p->workspace = bias;
    p->workspace_bytes = 16;
  }));
  EXPECT_TRUE(
      refused([&](MatMulProblem* p) { p->a.type = p->b.type = p->c.type = ElementType::kBf16; }));
  EXPECT_FALSE(refused([&](MatMulProblem* p) { p->a.type = p->b.type = ElementType::kBf16; }));
}

}  // namespace
}  // namespace stridewise
