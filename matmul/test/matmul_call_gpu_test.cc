// MatMul() on a GPU: thousands of random calls in both layouts, a few with more matrices than a
// grid has room for, and graph capture. Every element of C is judged and everything around it
// compared.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/captured_graph.h"
#include "common/gpu/cublas_handle.h"
#include "common/gpu/gpu_runtime.h"
#include "common/gpu/stream_gpu_fixture.h"
#include "gtest/gtest.h"
#include "matmul/matmul.h"
#include "matmul/registry.h"
#include "matmul/test/matmul_cases.h"
#include "matmul/test/matmul_test_problem.h"
#include "matmul/test/random_cases.h"

namespace stridewise {
namespace {

constexpr uint64_t kSeed = 20260214;
constexpr int64_t kCases = 5000;

using Problem = MatMulTestProblem<float>;

// The row-major arguments as a call in `layout`: the column-major product of B and A, each read as
// its transpose, is the transpose of that of A and B.
MatMulProblem CallOf(const MatMulArgs& args, MatrixLayout layout) {
  MatMulProblem call;
  call.m = args.m;
  call.n = args.n;
  call.k = args.k;
  call.a = args.a;
  call.b = args.b;
  call.c = args.c;
  call.alpha = args.alpha;
  call.beta = args.beta;
  call.layout = layout;
  call.batch = args.batch;
  call.precision = args.precision;
  if (layout == MatrixLayout::kColumnMajor) {
    std::swap(call.m, call.n);
    std::swap(call.a, call.b);
  }
  return call;
}

enum class Workspace { kNone, kTooSmall, kFull };

class MatMulCallTest : public StreamTest {
 protected:
  void SetUp() override {
    StreamTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    auto cublas = CublasHandle::Create();
    ASSERT_TRUE(cublas.ok()) << cublas.status();
    cublas_ = *std::move(cublas);
  }
  // Copies the problem to the device, a workspace of canaries beside it.
  absl::Status Upload(Problem& problem, MatrixLayout layout, Workspace workspace) {
    RETURN_IF_ERROR(Put(problem.a(), &a_));
    RETURN_IF_ERROR(Put(problem.b(), &b_));
    RETURN_IF_ERROR(Put(problem.c_with_guards(), &c_));
    call_ = CallOf(problem.ArgsAt(a_.data(), b_.data(), c_.data()), layout);
    const int64_t most = MatMulWorkspaceBytes(call_);
    call_.workspace_bytes = workspace == Workspace::kFull       ? most
                            : workspace == Workspace::kTooSmall ? most / 2
                                                                : 0;
    RETURN_IF_ERROR(
        Put(std::vector<uint8_t>(static_cast<size_t>(call_.workspace_bytes) + kBehind, kCanary),
            &workspace_));
    call_.workspace = workspace == Workspace::kNone ? nullptr : workspace_.data();
    return gpu::Synchronize(nullptr);  // stream_ does not wait for the default stream.
  }

  absl::Status Call() const { return MatMul(call_, stream_); }

  absl::Status Download(Problem* problem) const {
    RETURN_IF_ERROR(gpu::Synchronize(stream_));
    std::vector<float>& c = problem->c_with_guards();
    RETURN_IF_ERROR(gpu::Copy(c.data(), c_.data(), c.size() * sizeof(float)));
    uint8_t behind[kBehind];
    RETURN_IF_ERROR(gpu::Copy(behind, workspace_.As<uint8_t>() + call_.workspace_bytes, kBehind));
    const bool untouched =
        std::all_of(behind, behind + kBehind, [](uint8_t byte) { return byte == kCanary; });
    return untouched ? absl::OkStatus() : absl::DataLossError("written behind the workspace");
  }

  absl::Status Check(Problem& problem) const {
    const MatMulArgs& args = problem.args();
    // The host does well with what is small; more it would make the test wait for.
    const bool large = args.m * args.n * args.k > (1 << 25);
    return problem.Check(large ? cublas_.get() : nullptr);
  }

  absl::Status Run(const MatMulCase& c, MatrixLayout layout, Workspace workspace) {
    Problem problem(c);
    RETURN_IF_ERROR(Upload(problem, layout, workspace));
    RETURN_IF_ERROR(Call());
    RETURN_IF_ERROR(Download(&problem));
    return Check(problem);
  }

 private:
  static constexpr size_t kBehind = 64;
  static constexpr uint8_t kCanary = 0x5c;

  // Into memory that is kept, and grows. What lies behind is NaN: to be read by nobody.
  template <typename T>
  static absl::Status Put(const std::vector<T>& host, DeviceBuffer* buffer) {
    const size_t bytes = host.size() * sizeof(T);
    if (buffer->bytes() < bytes + kBehind) {
      ASSIGN_OR_RETURN(*buffer, DeviceBuffer::Allocate(2 * (bytes + kBehind)));
    }
    RETURN_IF_ERROR(gpu::FillBytes(buffer->As<uint8_t>() + bytes, 0xff, kBehind, nullptr));
    return gpu::Copy(buffer->data(), host.data(), bytes);
  }

  CublasHandle cublas_;
  DeviceBuffer a_, b_, c_, workspace_;
  MatMulProblem call_;
};

TEST_F(MatMulCallTest, RandomCases) {
  for (int64_t number = 0; number < kCases; ++number) {
    RandomMatMulLimits limits;
    if (number % 50 == 0) limits.extent = 2000;
    const MatMulCase c = RandomMatMulCase(kSeed, number, limits);
    const auto layout = number % 2 == 0 ? MatrixLayout::kRowMajor : MatrixLayout::kColumnMajor;
    const auto workspace = static_cast<Workspace>(number % 3);
    const absl::Status status = Run(c, layout, workspace);
    ASSERT_TRUE(status.ok()) << "case " << number << " of seed " << kSeed << ": " << c << ": "
                             << status;
  }
}

// As the header says: the same call gives the same bits.
TEST_F(MatMulCallTest, IsTheSameEveryTime) {
  for (int64_t number = 0; number < 100; ++number) {
    RandomMatMulLimits limits;
    limits.extent = 1000;
    const MatMulCase c = RandomMatMulCase(kSeed + 1, number, limits);
    const auto workspace = static_cast<Workspace>(number % 3);
    Problem first(c);
    Problem second(c);
    for (Problem* problem : {&first, &second}) {
      ASSERT_TRUE(Upload(*problem, MatrixLayout::kRowMajor, workspace).ok()) << c;
      ASSERT_TRUE(Call().ok()) << c;
      ASSERT_TRUE(Download(problem).ok()) << c;
    }
    ASSERT_TRUE(Check(first).ok()) << c << ": " << Check(first);
    const std::vector<float>& c_first = first.c_with_guards();
    const std::vector<float>& c_second = second.c_with_guards();
    ASSERT_EQ(std::memcmp(c_first.data(), c_second.data(), c_first.size() * sizeof(float)), 0) << c;
  }
}

// More than grid.y or grid.z hold, in matrices and in rows.
TEST_F(MatMulCallTest, MoreThanAGridHolds) {
  for (const MatMulCase& c : {MatMulCase{3, 4, 5, 0, false, true, 1, 1, 70001, 0},
                              MatMulCase{16, 16, 16, 0, false, false, 1, 0, 70001, 0},
                              MatMulCase{33, 5, 7, 1, true, false, 2, 0, 66001, 3, false, true},
                              MatMulCase{65536 * 64 + 3, 3, 2, 0},
                              MatMulCase{3, 65536 * 64 + 3, 2, 0, true, true, -1, 1}}) {
    for (const auto layout : {MatrixLayout::kRowMajor, MatrixLayout::kColumnMajor}) {
      const absl::Status status = Run(c, layout, Workspace::kFull);
      ASSERT_TRUE(status.ok()) << c << ": " << status;
    }
  }
}

// As the header says: no allocation, no wait, no other stream, or the capture would fail.
TEST_F(MatMulCallTest, IsCapturedIntoAGraphAndReplayed) {
  MatMulCase chosen_on_device = {4096, 4096, 2048, 0};
  chosen_on_device.precision = MatMulPrecision::kFp32SplitInt8;
  MatMulCase split = {2048, 2048, 2048, 0};
  split.precision = MatMulPrecision::kFp32Split;
  MatMulCase split_in_registers = {700, 900, 1100, 1, false, true, -0.5, 2};
  split_in_registers.precision = MatMulPrecision::kFp32Split;
  const MatMulCase cases[] = {
      {256, 512, 128, 0},
      {255, 513, 127, 1, true, false, -0.5, 2},
      {1024, 1024, 1024, 0},
      chosen_on_device,
      split,
      split_in_registers,
      {64, 64, 10000, 0},
      {1500, 700, 1800, 0, false, false, 1, 2},
      {5000, 3, 300, 0, false, true},
      {8, 8, 8, 0, false, false, 1, 1, 100, 0},
  };
  for (int number = 0; number < 2 * static_cast<int>(std::size(cases)); ++number) {
    const MatMulCase& c = cases[number / 2];
    const auto workspace = number % 2 == 0 ? Workspace::kFull : Workspace::kNone;
    SCOPED_TRACE(testing::Message() << c << (number % 2 == 0 ? "" : " without workspace"));
    Problem problem(c);
    ASSERT_TRUE(Upload(problem, MatrixLayout::kRowMajor, workspace).ok());

    absl::StatusOr<CapturedGraph> graph =
        CapturedGraph::Capture(stream_, cudaStreamCaptureModeGlobal, [&] { return Call(); });
    ASSERT_TRUE(graph.ok()) << graph.status();

    for (int replay = 0; replay < 2; ++replay) {
      problem.c_with_guards() = problem.c_before();
      // To the same addresses: the buffers are large enough.
      ASSERT_TRUE(Upload(problem, MatrixLayout::kRowMajor, workspace).ok());
      ASSERT_TRUE(graph->Launch(stream_).ok());
      ASSERT_TRUE(Download(&problem).ok());
      ASSERT_TRUE(Check(problem).ok()) << "replay " << replay << ": " << Check(problem);
    }
  }
}

}  // namespace
}  // namespace stridewise
