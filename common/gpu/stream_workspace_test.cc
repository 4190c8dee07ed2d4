#include "common/gpu/stream_workspace.h"

#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

constexpr int64_t kPage = int64_t{2} << 20;

// Memory of numbers instead of bytes, and what was done with it. Not synchronised: a workspace has
// to do that.
struct FakeMemory {
  uint64_t capture = 0;    // That the stream takes part in.
  int64_t left = 1 << 30;  // Bytes that an allocation may have.
  uintptr_t next = kPage;
  std::set<void*> on_stream;
  std::set<void*> anytime;
  int freed_on_stream = 0;
  int freed_anytime = 0;
};

FakeMemory* fake = nullptr;  // Of the test that runs.

absl::StatusOr<void*> FakeAllocate(size_t bytes, std::set<void*>* allocated) {
  if (static_cast<int64_t>(bytes) > fake->left) return absl::ResourceExhaustedError("full");
  void* const data = reinterpret_cast<void*>(fake->next);
  fake->next += bytes;
  allocated->insert(data);
  return data;
}

constexpr WorkspaceMemory kFakeMemory = {
    [](cudaStream_t) -> absl::StatusOr<uint64_t> { return fake->capture; },
    [](size_t bytes, cudaStream_t) { return FakeAllocate(bytes, &fake->on_stream); },
    [](void* data, cudaStream_t) {
      fake->freed_on_stream += static_cast<int>(fake->on_stream.erase(data));
      return absl::OkStatus();
    },
    [](size_t bytes) { return FakeAllocate(bytes, &fake->anytime); },
    [](void* data) {
      fake->freed_anytime += static_cast<int>(fake->anytime.erase(data));
      return absl::OkStatus();
    },
};

class StreamWorkspaceTest : public testing::Test {
 protected:
  StreamWorkspaceTest() {
    fake = &memory_;
    workspace_ = std::make_unique<StreamWorkspace>(nullptr, kFakeMemory);
  }
  ~StreamWorkspaceTest() override {
    workspace_ = nullptr;
    fake = nullptr;
  }

  // Returns what a call that needs this number of bytes is given; null where it is not called.
  void* Use(int64_t bytes) {
    void* used = nullptr;
    (void)workspace_->Use(bytes, [&](void* workspace) {
      used = workspace;
      return absl::OkStatus();
    });
    return used;
  }

  FakeMemory memory_;
  std::unique_ptr<StreamWorkspace> workspace_;
};

TEST_F(StreamWorkspaceTest, AllocatesWhenItIsNeededAndReuses) {
  EXPECT_EQ(workspace_->allocated_bytes(), 0);
  void* const first = Use(kPage + 1);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(workspace_->allocated_bytes(), 2 * kPage);
  EXPECT_EQ(Use(1), first);
  EXPECT_EQ(Use(2 * kPage), first);
  EXPECT_EQ(memory_.on_stream.size(), 1u);
  workspace_ = nullptr;
  EXPECT_EQ(memory_.freed_on_stream, 1);
  EXPECT_TRUE(memory_.on_stream.empty());
}

TEST_F(StreamWorkspaceTest, GrowsByHalfAtLeastAndGivesTheSmallerBlockBack) {
  void* const first = Use(8 * kPage);
  void* const second = Use(8 * kPage + 1);
  ASSERT_NE(second, nullptr);
  EXPECT_NE(second, first);
  EXPECT_EQ(workspace_->allocated_bytes(), 12 * kPage);
  EXPECT_EQ(memory_.on_stream, std::set<void*>{second});
  void* const third = Use(100 * kPage);
  EXPECT_EQ(Use(99 * kPage), third);
  EXPECT_EQ(workspace_->allocated_bytes(), 100 * kPage);
  EXPECT_EQ(memory_.freed_on_stream, 2);
}

// Addresses in graphs stay valid and are nobody else's, whatever grows later.
TEST_F(StreamWorkspaceTest, EachCaptureHasBlocksOfItsOwnUntilTheEnd) {
  void* const shared = Use(kPage);
  memory_.capture = 7;
  void* const of_7 = Use(kPage);
  EXPECT_EQ(Use(kPage), of_7);
  void* const larger_of_7 = Use(3 * kPage);
  EXPECT_EQ(Use(2 * kPage), larger_of_7);
  memory_.capture = 8;
  void* const of_8 = Use(kPage);
  EXPECT_EQ((std::set<void*>{nullptr, shared, of_7, larger_of_7, of_8}).size(), 5u);
  memory_.capture = 0;
  EXPECT_EQ(Use(kPage), shared);
  ASSERT_NE(Use(50 * kPage), shared);
  EXPECT_EQ(memory_.anytime, (std::set<void*>{of_7, larger_of_7, of_8}));
  EXPECT_EQ(memory_.freed_anytime, 0);
  workspace_ = nullptr;
  EXPECT_EQ(memory_.freed_anytime, 3);
  EXPECT_TRUE(memory_.anytime.empty());
}

TEST_F(StreamWorkspaceTest, ReservesForTheCallsOfNow) {
  ASSERT_TRUE(workspace_->Reserve(5 * kPage).ok());
  void* const shared = Use(5 * kPage);
  EXPECT_EQ(memory_.on_stream, std::set<void*>{shared});
  memory_.capture = 3;
  ASSERT_TRUE(workspace_->Reserve(2 * kPage).ok());
  EXPECT_EQ(memory_.anytime, std::set<void*>{Use(2 * kPage)});
}

// A call that fails for lack of memory leaves the workspace usable.
TEST_F(StreamWorkspaceTest, SaysWhereThereIsNoMemory) {
  ASSERT_NE(Use(kPage), nullptr);
  memory_.left = 4 * kPage;
  for (const uint64_t capture : {0, 1}) {
    memory_.capture = capture;
    bool called = false;
    const absl::Status status = workspace_->Use(5 * kPage, [&](void*) {
      called = true;
      return absl::OkStatus();
    });
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
    EXPECT_FALSE(called);
    EXPECT_NE(Use(4 * kPage), nullptr);
  }
}

TEST_F(StreamWorkspaceTest, ReturnsWhatTheCallReturns) {
  const absl::Status status = workspace_->Use(1, [](void*) { return absl::AbortedError("mine"); });
  EXPECT_EQ(status, absl::AbortedError("mine"));
}

// What was handed out is queued before anybody frees it, and in one order. Under TSan a missing
// lock is a race on `queue` and on the memory.
TEST_F(StreamWorkspaceTest, ThreadsTakeTurns) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 500;
  std::vector<void*> queue;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int call = 1; call <= kCalls; ++call) {
        const absl::Status status =
            workspace_->Use(call * 1000 * (thread + 1), [&](void* workspace) {
              EXPECT_EQ(memory_.on_stream.count(workspace), 1u);
              queue.push_back(workspace);
              return absl::OkStatus();
            });
        EXPECT_TRUE(status.ok()) << status;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(queue.size(), size_t{kThreads} * kCalls);
  EXPECT_EQ(memory_.on_stream.size(), 1u);
}

}  // namespace
}  // namespace stridewise
