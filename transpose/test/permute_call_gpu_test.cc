// Permute() on a GPU: thousands of random calls and graph capture. Every byte of the result and
// around it is compared on the host.

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/captured_graph.h"
#include "common/gpu/gpu_runtime.h"
#include "common/gpu/stream_gpu_fixture.h"
#include "gtest/gtest.h"
#include "transpose/permute.h"
#include "transpose/permute_blocks_plan.h"
#include "transpose/permute_flat_plan.h"
#include "transpose/permute_joined_plan.h"
#include "transpose/permute_plan.h"
#include "transpose/permute_rows_plan.h"
#include "transpose/permute_vector_plan.h"
#include "transpose/test/permute_test_problem.h"

namespace stridewise {
namespace {

constexpr uint64_t kSeed = 20261122;

class PermuteCallTest : public StreamTest {
 protected:
  // Copies the problem to device memory of exactly its size, so that compute-sanitizer sees every
  // access beside it.
  absl::Status Upload(PermuteTestProblem& problem) {
    ASSIGN_OR_RETURN(in_, DeviceBuffer::Allocate(problem.in().size()));
    ASSIGN_OR_RETURN(out_, DeviceBuffer::Allocate(problem.out().size()));
    RETURN_IF_ERROR(gpu::Copy(in_.data(), problem.in().data(), problem.in().size()));
    RETURN_IF_ERROR(gpu::Copy(out_.data(), problem.out().data(), problem.out().size()));
    return gpu::Synchronize(nullptr);  // stream_ does not wait for the default stream.
  }

  absl::Status DownloadAndCheck(PermuteTestProblem* problem) const {
    RETURN_IF_ERROR(gpu::Synchronize(stream_));
    RETURN_IF_ERROR(gpu::Copy(problem->out().data(), out_.data(), problem->out().size()));
    return problem->Check();
  }

  absl::Status Run(const PermuteCase& c) {
    PermuteTestProblem problem(c);
    RETURN_IF_ERROR(Upload(problem));
    RETURN_IF_ERROR(Permute(problem.At(in_.data(), out_.data()), stream_));
    return DownloadAndCheck(&problem);
  }

  // Runs one kernel on the canonical form of the case, if it takes it, and counts it.
  absl::Status RunKernel(const PermuteCase& c, bool (*takes)(const PermuteArgs& args),
                         LaunchStatus (*kernel)(const PermuteArgs& args), int* taken) {
    PermuteTestProblem problem(c);
    RETURN_IF_ERROR(Upload(problem));
    ASSIGN_OR_RETURN(PermuteArgs args, CheckedPermuteArgs(problem.At(in_.data(), out_.data())));
    args.stream = stream_;
    const PermuteArgs canonical = Canonical(args);
    if (!takes(canonical)) return absl::OkStatus();
    ++*taken;
    RETURN_IF_ERROR(absl::Status(kernel(canonical)));
    return DownloadAndCheck(&problem);
  }

  DeviceBuffer in_, out_;
};

TEST_F(PermuteCallTest, SmallRandomCases) {
  for (int64_t number = 0; number < 300; ++number) {
    const PermuteCase c = RandomPermuteCase(kSeed + 1, number, 5000);
    const absl::Status status = Run(c);
    ASSERT_TRUE(status.ok()) << "case " << number << ": " << c << ": " << status;
  }
}

TEST_F(PermuteCallTest, RandomCases) {
  for (int64_t number = 0; number < 1500; ++number) {
    const PermuteCase c = RandomPermuteCase(kSeed, number, 400000);
    const absl::Status status = Run(c);
    ASSERT_TRUE(status.ok()) << "case " << number << ": " << c << ": " << status;
  }
}

// Permute() gathers small tensors directly. Here they go through the kernels for large ones.
TEST_F(PermuteCallTest, SmallRandomCasesOfEachKernel) {
  const struct {
    const char* name;
    bool (*takes)(const PermuteArgs& args);
    LaunchStatus (*kernel)(const PermuteArgs& args);
  } kernels[] = {
      {"permute_row_bytes", KeepsRowsOfBytes, PermuteRowBytes},
      {"permute_flat", IsFlat, PermuteFlat},
      {"permute_vector", IsMadeOfVectors, PermuteVector},
      {"permute_joined", CanJoinColumns, PermuteJoined},
      {"permute_blocks", HasBlocks, PermuteBlocks},
      // As of large tensors of 1- and 2-byte elements.
      {"permute_tile", [](const PermuteArgs& args) { return args.element_bytes <= 2; },
       [](const PermuteArgs& args) {
         PermuteTileLimits limits;
         limits.least_bytes = limits.most_bytes;
         limits.lanes = true;
         PermuteArgs tiles = args;
         tiles.limits = &limits;
         return PermuteTiles(tiles);
       }},
  };
  for (const auto& kernel : kernels) {
    int taken = 0;
    for (int64_t more = 0; more < 16; ++more) {
      for (const PermuteCase& c :
           {PermuteCase{{3, 5, 2, 41 + 2 * more}, {1, 0, 3, 2}, 1 + more % 2, {}, {}, more, 3},
            PermuteCase{
                {3, 5, 2, 4, 3, 7 + more}, {1, 0, 2, 4, 5, 3}, 1 + more % 2, {}, {}, 1, more},
            PermuteCase{{3, 7, 33 + 2 * more}, {1, 0, 2}, 1, {}, {}, more, 15 - more},
            PermuteCase{{5, 16 + 16 * more, 3, 32}, {3, 0, 2, 1}, int64_t{1} << more % 5}}) {
        const absl::Status status = RunKernel(c, kernel.takes, kernel.kernel, &taken);
        ASSERT_TRUE(status.ok()) << kernel.name << ": " << c << ": " << status;
      }
    }
    for (int64_t number = 0; number < 400; ++number) {
      const PermuteCase c = RandomPermuteCase(kSeed + 2, number, 20000);
      const absl::Status status = RunKernel(c, kernel.takes, kernel.kernel, &taken);
      ASSERT_TRUE(status.ok()) << kernel.name << ", case " << number << ": " << c << ": " << status;
    }
    EXPECT_GE(taken, 16) << kernel.name;
  }
}

// Matrices that change their order: in strips, in tiles of all rows, and in a launch for each
// batch.
TEST_F(PermuteCallTest, BatchesOfBatches) {
  const PermuteCase cases[] = {
      {{50, 30, 20, 64}, {1, 0, 3, 2}, 2},
      {{5, 7, 200, 333}, {1, 0, 3, 2}, 1, {}, {}, 1, 3},
      {{3, 2, 2900, 2001}, {1, 0, 3, 2}, 1, {}, {}, 5, 1},
  };
  for (const PermuteCase& c : cases) {
    SCOPED_TRACE(testing::Message() << c);
    PermuteTestProblem problem(c);
    const auto args = CheckedPermuteArgs(problem.At(problem.in().data(), problem.out().data()));
    ASSERT_TRUE(args.ok()) << args.status();
    EXPECT_EQ(ChoosePermute(Canonical(*args)), PermuteMethod::kTranspose);
    const absl::Status status = Run(c);
    ASSERT_TRUE(status.ok()) << status;
  }
}

// The capture would fail if the call allocated, waited or used another stream, as the header says.
TEST_F(PermuteCallTest, IsCapturedIntoAGraphAndReplayed) {
  const PermuteCase cases[] = {
      {{3, 40, 50}, {0, 1, 2}, 4},        // A copy.
      {{5, 300, 70}, {0, 2, 1}, 4},       // A transpose.
      {{9, 33, 7, 65}, {2, 0, 3, 1}, 2},  // Tiles.
  };
  for (const PermuteCase& c : cases) {
    SCOPED_TRACE(testing::Message() << c);
    PermuteTestProblem problem(c);
    ASSERT_TRUE(Upload(problem).ok());
    absl::StatusOr<CapturedGraph> graph = CapturedGraph::Capture(
        stream_, cudaStreamCaptureModeGlobal,
        [&] { return Permute(problem.At(in_.data(), out_.data()), stream_); });
    ASSERT_TRUE(graph.ok()) << graph.status();
    ASSERT_TRUE(graph->Launch(stream_).ok());
    const absl::Status status = DownloadAndCheck(&problem);
    ASSERT_TRUE(status.ok()) << status;
  }
}

}  // namespace
}  // namespace stridewise
