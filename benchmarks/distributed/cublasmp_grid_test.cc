// cuBLASMp's calls on a library of tests that writes its whole workspaces, more than these, or
// whose work never ends.

#include "benchmarks/distributed/cublasmp_grid.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmarks/distributed/guarded_memory.h"
#include "common/base/status_macros.h"
#include "common/distributed/fake_communication_queue.h"
#include "common/distributed/local_ranks.h"
#include "common/distributed/tcp_communicator.h"
#include "common/streaming/fake_stream_queues.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

constexpr char kLibrary[] = "common/distributed/libfake_nccl.so";
constexpr int kWritesBesideWorkspace = 1, kNeverEnds = 2;  // fake_cublasmp.cc

template <typename Function>
Function* Find(const char* name) {
  static void* const library = dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  return library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
}

class CublasMpGridTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("STRIDEWISE_NCCL", kLibrary, 1);
    setenv("STRIDEWISE_CUBLASMP", kLibrary, 1);
  }
  void TearDown() override { Does(0); }
  static void Does(int wrong) { Find<void(int)>("FakeCublasMpDoes")(wrong); }
};

// Transposes doubles over two ranks `calls` times, and checks workspaces and result. Returns the
// first error of each rank; that of `fails` is one that the other one does not know of.
std::vector<absl::Status> TransposeOnTwoRanks(double seconds, int calls, int fails = -1) {
  const RankGrid grid = {1, 2};
  const auto in = *BlockCyclicLayout::Create(37, 23, 5, 5, grid);
  const auto out = *BlockCyclicLayout::Create(23, 37, 5, 5, grid);
  return RunLocalRanks(grid.size(), 20, [&](TcpCommunicator* control) -> absl::Status {
    const int rank = control->rank();
    const int64_t in_cols = in.LocalCols(rank), out_cols = out.LocalCols(rank);
    std::vector<double> from(37 * in_cols), to(23 * out_cols);
    for (int64_t i = 0; i < 37; ++i) {
      for (int64_t j = 0; j < in_cols; ++j) {
        from[i * in_cols + j] = static_cast<double>(100 * i + in.GlobalCol(rank, j));
      }
    }
    ASSIGN_OR_RETURN(const NcclLibrary* const nccl, LoadNccl());
    ASSIGN_OR_RETURN(const CublasMpLibrary* const library, LoadCublasMp());
    FakeCommunicationQueue queue;
    FakeStreamQueues device(rank);
    ASSIGN_OR_RETURN(const auto cublasmp,
                     CublasMpGrid::Create(library, nccl, grid, control, &queue, seconds));
    ASSIGN_OR_RETURN(
        const CublasMpGrid::Call call,
        cublasmp->Transpose(in, {from.data(), 37, in_cols, in_cols, sizeof(double)}, out,
                            {to.data(), 23, out_cols, out_cols, sizeof(double)}, &device));
    for (int i = 0; i < calls; ++i) {
      RETURN_IF_ERROR(call());
      RETURN_IF_ERROR(cublasmp->CheckWorkspaces());
      if (!device.CanariesAreWhole()) return absl::DataLossError("workspace on the device");
    }
    for (int64_t i = 0; i < 23; ++i) {
      for (int64_t j = 0; j < out_cols; ++j) {
        if (to[i * out_cols + j] != static_cast<double>(100 * out.GlobalCol(rank, j) + i)) {
          return absl::DataLossError("element");
        }
      }
    }
    if (rank == fails) return absl::CancelledError("told to fail");
    return cublasmp->Close();
  });
}

TEST_F(CublasMpGridTest, WorkspacesAreAsLargeAsTheLibraryAsksFor) {
  for (const absl::Status& status : TransposeOnTwoRanks(20, 3)) EXPECT_TRUE(status.ok()) << status;
}

TEST_F(CublasMpGridTest, WhoWritesBesideAWorkspaceIsNamed) {
  Does(kWritesBesideWorkspace);
  for (const absl::Status& status : TransposeOnTwoRanks(20, 1)) {
    EXPECT_TRUE(absl::IsInternal(status)) << status;
    EXPECT_EQ(status.message().find("cublasMpGeadd wrote beside its workspace of "), 0) << status;
  }
}

// A grid is ended by all ranks at once, and before any of their communicators.
TEST_F(CublasMpGridTest, RanksEndTogetherOrLeaveTheLibrarysObjects) {
  for (int i = 0; i < 20; ++i) {
    for (const absl::Status& status : TransposeOnTwoRanks(20, 1)) EXPECT_TRUE(status.ok());
  }
  for (int fails = 0; fails < 2; ++fails) {
    const auto results = TransposeOnTwoRanks(20, 1, fails);
    EXPECT_TRUE(absl::IsCancelled(results[fails]));
    EXPECT_TRUE(absl::IsUnavailable(results[1 - fails])) << results[1 - fails];
  }
  EXPECT_EQ(Find<int()>("FakeCublasMpLonelyEnds")(), 0);
  EXPECT_EQ(Find<int()>("FakeCublasMpLateUses")(), 0);
}

// Ended by its communicator, a call may still use its workspace, and the library's other objects
// may not be used.
TEST_F(CublasMpGridTest, NothingThatWorkOnTheDeviceStillUsesIsFreed) {
  Does(kNeverEnds);
  for (const absl::Status& status : TransposeOnTwoRanks(0.2, 1)) {
    EXPECT_TRUE(absl::IsUnavailable(status)) << status;
  }
  Find<void()>("FakeCublasMpWritesLate")();
  EXPECT_EQ(Find<int()>("FakeCublasMpLateUses")(), 0);
}

TEST(GuardedMemoryTest, EachByteBesideItIsSeen) {
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{1000}}) {
    const auto guard = static_cast<int64_t>(GuardedMemory::kGuardBytes);
    const auto size = static_cast<int64_t>(bytes);
    for (const int64_t at : {-guard, int64_t{-1}, size, size + guard - 1}) {
      GuardedMemory memory(bytes);
      for (int64_t i = 0; i < size; ++i) memory.data()[i] = 1;
      EXPECT_TRUE(memory.IsIntact());
      memory.data()[at] = 1;
      EXPECT_FALSE(memory.IsIntact()) << at;
    }
  }
}

}  // namespace
}  // namespace stridewise
