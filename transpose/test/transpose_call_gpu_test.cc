// Transpose() on a GPU: thousands of random calls, a few that are large and skinny, streams and
// graph capture. Every byte of the result and around it is compared on the host.

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/captured_graph.h"
#include "common/gpu/gpu_runtime.h"
#include "common/gpu/stream_gpu_fixture.h"
#include "gtest/gtest.h"
#include "transpose/registry.h"
#include "transpose/test/random_cases.h"
#include "transpose/test/transpose_test_problem.h"
#include "transpose/transpose.h"

namespace stridewise {
namespace {

constexpr uint64_t kSeed = 20260131;
constexpr int64_t kCases = 5000;

class TransposeCallTest : public StreamTest {
 protected:
  // Copies the problem to the device, a workspace of canaries beside it.
  absl::Status Upload(TransposeTestProblem& problem) {
    RETURN_IF_ERROR(Put(problem.in(), &in_));
    RETURN_IF_ERROR(Put(problem.out_with_guards(), &out_));
    const TransposeArgs args = problem.ArgsAt(in_.data(), out_.data());
    const int64_t size = args.element_bytes;
    in_view_ = {args.in, args.rows, args.cols, args.ld_in, size, args.batch, args.stride_in};
    out_view_ = {args.out, args.cols, args.rows, args.ld_out, size, args.batch, args.stride_out};
    return PutWorkspace(TransposeWorkspaceBytes(in_view_, out_view_));
  }

  absl::Status Call() const {
    return Transpose(in_view_, out_view_, workspace_.data(), workspace_bytes_, stream_);
  }

  absl::Status DownloadAndCheck(TransposeTestProblem* problem) const {
    RETURN_IF_ERROR(gpu::Synchronize(stream_));
    std::vector<uint8_t>& out = problem->out_with_guards();
    RETURN_IF_ERROR(gpu::Copy(out.data(), out_.data(), out.size()));
    RETURN_IF_ERROR(problem->Check());
    uint8_t behind[kBehind];
    RETURN_IF_ERROR(gpu::Copy(behind, workspace_.As<uint8_t>() + workspace_bytes_, kBehind));
    const bool untouched =
        std::all_of(behind, behind + kBehind, [](uint8_t byte) { return byte == kCanary; });
    return untouched ? absl::OkStatus() : absl::DataLossError("written behind the workspace");
  }

  absl::Status Run(const TransposeCase& c, int64_t element_bytes, TransposeOperation operation) {
    TransposeTestProblem problem(c, element_bytes, operation);
    RETURN_IF_ERROR(Upload(problem));
    RETURN_IF_ERROR(Call());
    return DownloadAndCheck(&problem);
  }

  absl::Status RunKernel(const TransposeImplementation& implementation, const TransposeCase& c,
                         int64_t element_bytes) {
    TransposeTestProblem problem(c, element_bytes, implementation.operation);
    RETURN_IF_ERROR(Upload(problem));
    TransposeArgs args = problem.ArgsAt(in_.data(), out_.data());
    RETURN_IF_ERROR(PutWorkspace(TransposeWorkspaceBytes(implementation, args)));
    args.stream = stream_;
    args.workspace = workspace_.data();
    RETURN_IF_ERROR(RunTranspose(implementation, args));
    return DownloadAndCheck(&problem);
  }

 private:
  static constexpr size_t kBehind = 64;
  static constexpr uint8_t kCanary = 0x5c;

  absl::Status PutWorkspace(int64_t bytes) {
    workspace_bytes_ = bytes;
    RETURN_IF_ERROR(
        Put(std::vector<uint8_t>(static_cast<size_t>(bytes) + kBehind, kCanary), &workspace_));
    return gpu::Synchronize(nullptr);  // stream_ does not wait for the default stream.
  }

  // Copies to memory that is kept and grows.
  static absl::Status Put(const std::vector<uint8_t>& host, DeviceBuffer* buffer) {
    if (buffer->bytes() < host.size()) {
      ASSIGN_OR_RETURN(*buffer, DeviceBuffer::Allocate(2 * host.size()));
    }
    return gpu::Copy(buffer->data(), host.data(), host.size());
  }

  DeviceBuffer in_, out_, workspace_;
  MatrixView in_view_;
  MutableMatrixView out_view_;
  int64_t workspace_bytes_ = 0;
};

TEST_F(TransposeCallTest, RandomCases) {
  for (int64_t number = 0; number < kCases; ++number) {
    RandomLimits limits;
    limits.extent = 2000;
    limits.square = number % 4 == 1;
    const auto operation = number % 4 == 1 || number % 4 == 3 ? TransposeOperation::kInPlace
                                                              : TransposeOperation::kTranspose;
    const RandomTranspose made = RandomTransposeCase(kSeed, number, limits);
    TransposeCase c = made.shape;
    // By chance a square among the rectangles: with the leading dimension that squares need.
    if (operation == TransposeOperation::kInPlace && c.rows == c.cols) c.pad_out = c.pad;
    const absl::Status status = Run(c, made.element_bytes, operation);
    ASSERT_TRUE(status.ok()) << "case " << number << " of seed " << kSeed << ": " << c << ", "
                             << made.element_bytes << " bytes: " << status;
  }
}

// Transpose() takes small matrices by one or two of its kernels. Here they go through all of them,
// so that what slows a kernel down a hundred times, as compute-sanitizer does, sees each.
TEST_F(TransposeCallTest, SmallRandomCasesOfEachKernel) {
  for (const TransposeImplementation& implementation : TransposeLibrary()) {
    const bool copies = implementation.operation == TransposeOperation::kCopy;
    if (copies || implementation.name == "auto") continue;
    for (int64_t number = 0; number < 60; ++number) {
      RandomLimits limits;
      limits.extent = 320;
      limits.square = implementation.square_only;
      if (!implementation.batches) limits.batch = 1;
      const RandomTranspose made = RandomTransposeCase(kSeed + 1, number, limits);
      const absl::Status status = RunKernel(implementation, made.shape, made.element_bytes);
      ASSERT_TRUE(status.ok()) << implementation.name << ", case " << number << " of seed "
                               << kSeed + 1 << ": " << made.shape << ", " << made.element_bytes
                               << " bytes: " << status;
    }
  }
}

TEST_F(TransposeCallTest, LargeAndSkinny) {
  constexpr TransposeCase kSkinny[] = {
      {1, 2000003, 0},
      {2000003, 1, 0},
      {3, 700001, 0},
      {700001, 3, 1},
      {8, 250001, 0},
      {250001, 8, 0},
      {600001, 16, 0},
      {16, 600001, 3},
      {100003, 31, 0},
      {33, 100003, 0},
      // Batches of more matrices than grid.y or grid.z hold.
      {2, 3, 0, -1, 70001, 0},
      {8, 8, 0, -1, 70001, 0},
      {33, 5, 0, -1, 66001, 0},
      {8, 8, 0, -1, 70001, 1},
      {17, 19, 1, -1, 66001, 0},
      // Skinny matrices of a batch with gaps.
      {300001, 4, 0, -1, 3, 5},
      {4, 300001, 0, -1, 3, 5},
      {1001, 3, 0, -1, 40, 1},
  };
  for (const TransposeCase& c : kSkinny) {
    for (const int64_t element_bytes : {1, 4, 8}) {
      for (const TransposeOperation operation :
           {TransposeOperation::kTranspose, TransposeOperation::kInPlace}) {
        // Rectangles in place run one after the other, which is too slow for this many.
        const bool in_place = operation == TransposeOperation::kInPlace;
        if (in_place && c.batch > 1000 && c.rows != c.cols) continue;
        TransposeCase shape = c;
        if (in_place && c.rows == c.cols) shape.pad_out = c.pad;
        const absl::Status status = Run(shape, element_bytes, operation);
        ASSERT_TRUE(status.ok()) << shape << ", " << element_bytes << " bytes: " << status;
      }
    }
  }
}

// The capture would fail if the call allocated, waited or used another stream, as the header says.
TEST_F(TransposeCallTest, IsCapturedIntoAGraphAndReplayed) {
  const struct {
    TransposeCase shape;
    TransposeOperation operation;
  } cases[] = {
      {{256, 512, 0}, TransposeOperation::kTranspose},
      {{255, 513, 0}, TransposeOperation::kTranspose},
      {{5000, 3, 0}, TransposeOperation::kTranspose},
      {{3, 5000, 0}, TransposeOperation::kTranspose},
      {{8, 8, 0, -1, 100, 0}, TransposeOperation::kTranspose},
      {{300001, 4, 0, -1, 3, 5}, TransposeOperation::kTranspose},
      {{257, 257, 0, 0, 2, 1}, TransposeOperation::kInPlace},
      {{255, 512, 1, -1, 3, 2}, TransposeOperation::kInPlace},
      {{255, 512, 0}, TransposeOperation::kInPlace},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(testing::Message() << c.shape);
    TransposeTestProblem problem(c.shape, 4, c.operation);
    const std::vector<uint8_t> initial = problem.out_with_guards();
    ASSERT_TRUE(Upload(problem).ok());

    absl::StatusOr<CapturedGraph> graph =
        CapturedGraph::Capture(stream_, cudaStreamCaptureModeGlobal, [&] { return Call(); });
    ASSERT_TRUE(graph.ok()) << graph.status();

    for (int replay = 0; replay < 2; ++replay) {
      problem.out_with_guards() = initial;
      ASSERT_TRUE(Upload(problem).ok());  // To the same addresses: the buffers are large enough.
      ASSERT_TRUE(graph->Launch(stream_).ok());
      const absl::Status status = DownloadAndCheck(&problem);
      ASSERT_TRUE(status.ok()) << "replay " << replay << ": " << status;
    }
  }
}

}  // namespace
}  // namespace stridewise
