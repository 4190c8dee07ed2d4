#include "common/streaming/partial_queues.h"

#include <vector>

#include "absl/status/status.h"
#include "common/streaming/fake_stream_queues.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

using Part = PartialQueues::Part;

struct Done {
  float copied = 0;
  int computed = 0;
  int stored = 0;
};

// Queues a copy, a computation that waits for it, and one of another queue.
Done RunPart(Part part) {
  FakeStreamQueues device(1);
  PartialQueues queues(&device, part);
  EXPECT_TRUE(queues.Enter().ok());
  Done done;
  const float value = 7;
  const auto increment = [](int* number) {
    return [number](cudaStream_t) {
      ++*number;
      return absl::OkStatus();
    };
  };
  EXPECT_TRUE(queues.Copy(StreamQueue::kIn, {&done.copied, 4, &value, 4, sizeof(value), 1}).ok());
  EXPECT_TRUE(queues.Record(StreamQueue::kIn, 0).ok());
  EXPECT_TRUE(queues.Wait(StreamQueue::kCompute, 0).ok());
  EXPECT_TRUE(queues.Run(increment(&done.computed)).ok());
  EXPECT_TRUE(queues.Record(StreamQueue::kCompute, 1).ok());
  EXPECT_TRUE(queues.RunOn(StreamQueue::kOut, increment(&done.stored)).ok());
  EXPECT_TRUE(queues.WaitOnHost(1).ok());
  EXPECT_TRUE(queues.Finish().ok());
  return done;
}

TEST(PartialQueuesTest, CopiesAlone) {
  const Done done = RunPart(Part::kCopies);
  EXPECT_EQ(done.copied, 7);
  EXPECT_EQ(done.computed, 0);
  EXPECT_EQ(done.stored, 0);
}

TEST(PartialQueuesTest, WorkAlone) {
  const Done done = RunPart(Part::kWork);
  EXPECT_EQ(done.copied, 0);
  EXPECT_EQ(done.computed, 1);
  EXPECT_EQ(done.stored, 1);
}

}  // namespace
}  // namespace stridewise
