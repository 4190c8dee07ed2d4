// SUMMA on devices of the host, whose queues run in any order that events allow.

#include "matmul/distributed/device_summa.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <vector>

#include "common/base/half_types.h"
#include "common/base/status_macros.h"
#include "common/distributed/fake_communication_queue.h"
#include "common/distributed/fake_peer_memory.h"
#include "common/distributed/local_ranks.h"
#include "common/distributed/nccl_communicator.h"
#include "common/distributed/nccl_library.h"
#include "common/streaming/fake_stream_queues.h"
#include "gtest/gtest.h"
#include "matmul/distributed/filled_part.h"
#include "matmul/distributed/filled_product.h"
#include "matmul/distributed/verify.h"
#include "matmul/distributed/wide_product.h"

namespace stridewise {
namespace {

constexpr double kSeconds = 20;

constexpr SummaCase kCases[] = {
    {0, 5, 3, 2, 2, 2, {2, 2}},
    {5, 7, 0, 2, 2, 2, {2, 2}, 1, 0.5},
    {1, 1, 1, 4, 4, 4, {1, 1}},
    {33, 29, 31, 7, 5, 3, {1, 1}, 2, -1},
    {37, 41, 43, 5, 3, 7, {2, 2}, 1.5, -0.5},
    {37, 41, 43, 5, 3, 7, {1, 4}, 1.5, -0.5},
    {37, 41, 43, 5, 3, 7, {4, 1}},
    {64, 48, 80, 16, 16, 16, {2, 3}, 2, 1},
};

// Returns the parts of all ranks, which have padding.
template <typename T>
absl::StatusOr<std::vector<MatMulInput>> ReachParts(ConstMatrix<T> mine,
                                                    const BlockCyclicLayout& layout,
                                                    Communicator* ranks) {
  FakePeerMemory memory;
  ASSIGN_OR_RETURN(const auto reached,
                   ReachMemoryOfRanks(const_cast<T*>(mine.data), &memory, ranks));
  std::vector<MatMulInput> parts;
  for (int rank = 0; rank < ranks->size(); ++rank) {
    parts.emplace_back(static_cast<const T*>(reached[rank]),
                       layout.LocalCols(rank) + mine.ld - mine.cols);
  }
  return parts;
}

// Multiplies this rank's part, with broadcasts by `panels`, or without one by copies, and checks it
// with sums by `ranks`.
template <typename T>
absl::Status MultiplyAndVerify(const SummaCase& c, uint64_t seed, Communicator* panels,
                               Communicator* ranks) {
  const int rank = ranks->rank();
  FilledProduct<T, float> filled(c, rank, 1);
  const SummaProblem<T, float>& problem = filled.problem;
  FakeStreamQueues queues(seed + rank);
  // Of every second seed the memory of the panels is the caller's: the queues have none.
  // Steps of one block, of a few, and of all that have the same owners.
  SummaOptions options;
  options.step_k = seed % 3 == 0 ? 1 : seed % 3 == 1 ? 3 * c.k_block : 1000;
  if (panels == nullptr) {
    ASSIGN_OR_RETURN(options.parts_of_a, ReachParts<T>(problem.a, problem.a_layout, ranks));
    ASSIGN_OR_RETURN(options.parts_of_b, ReachParts<T>(problem.b, problem.b_layout, ranks));
  }
  const int64_t bytes = SummaPanelBytes(problem, rank, options);
  constexpr int64_t kCanaryBytes = 256;
  std::vector<char> memory(bytes + kCanaryBytes, '\xff');
  FakeStreamQueues without_memory(seed + rank, 0);
  const bool is_ours = seed % 2 == 1;
  RETURN_IF_ERROR(SummaOnDevice(problem, WideProductOnHost, is_ours ? &without_memory : &queues,
                                panels == nullptr ? ranks : panels,
                                is_ours ? memory.data() : nullptr, options));
  for (int64_t i = bytes; i < bytes + kCanaryBytes; ++i) EXPECT_EQ(memory[i], '\xff');
  EXPECT_TRUE(queues.CanariesAreWhole());
  return VerifyProduct(problem, ConstMatrix<float>(filled.before.view), seed, ranks);
}

TEST(DeviceSummaTest, IsTheProductInAnyOrderOfTheQueues) {
  for (const SummaCase& c : kCases) {
    for (uint64_t seed = 0; seed < 12; ++seed) {
      SCOPED_TRACE(testing::Message() << c << ", seed " << seed);
      const auto results = RunLocalRanks(c.grid.size(), kSeconds, [&](TcpCommunicator* ranks) {
        RETURN_IF_ERROR(MultiplyAndVerify<float>(c, seed, ranks, ranks));
        RETURN_IF_ERROR(MultiplyAndVerify<float>(c, seed, nullptr, ranks));
        RETURN_IF_ERROR(MultiplyAndVerify<Bf16>(c, seed, ranks, ranks));
        return MultiplyAndVerify<Bf16>(c, seed, nullptr, ranks);
      });
      for (const absl::Status& status : results) EXPECT_TRUE(status.ok()) << status;
    }
  }
}

// Remembers where copies come from, by step.
class QueuesThatRemember : public FakeStreamQueues {
 public:
  using FakeStreamQueues::FakeStreamQueues;

  absl::Status Copy(StreamQueue queue, const BlockCopy& copy) override {
    steps_.back().push_back(static_cast<const char*>(copy.from));
    return FakeStreamQueues::Copy(queue, copy);
  }
  absl::Status Record(StreamQueue queue, int event) override {
    if (queue == StreamQueue::kIn) steps_.emplace_back();
    return FakeStreamQueues::Record(queue, event);
  }

  const std::vector<std::vector<const char*>>& steps() const { return steps_; }

 private:
  std::vector<std::vector<const char*>> steps_{1};
};

// Those on the device wait for the product before, and would keep those over the link waiting.
TEST(DeviceSummaTest, PanelsOfOtherRanksAreCopiedFirst) {
  for (const RankGrid grid : {RankGrid{1, 4}, RankGrid{4, 1}}) {
    const BlockCyclicLayout layout = *BlockCyclicLayout::Create(64, 64, 4, 4, grid);
    const auto results = RunLocalRanks(4, kSeconds, [&](TcpCommunicator* ranks) -> absl::Status {
      const FilledPart<float> a(layout, ranks->rank(), 1), b(layout, ranks->rank(), 2);
      FilledPart<float> c(layout, ranks->rank(), 3);
      SummaOptions options;
      ASSIGN_OR_RETURN(options.parts_of_a, ReachParts<float>(a.view, layout, ranks));
      ASSIGN_OR_RETURN(options.parts_of_b, ReachParts<float>(b.view, layout, ranks));
      QueuesThatRemember queues(ranks->rank());
      const SummaProblem<float> problem = {layout, layout, layout, a.view, b.view, c.view};
      RETURN_IF_ERROR(SummaOnDevice(problem, WideProductOnHost, &queues, ranks, nullptr, options));
      const auto is_mine = [&](const char* from) {
        for (const std::vector<float>* part : {&a.values, &b.values}) {
          const char* const begin = reinterpret_cast<const char*>(part->data());
          if (from >= begin && from < begin + part->size() * sizeof(float)) return true;
        }
        return false;
      };
      // Each begins with what lies on its own device.
      EXPECT_TRUE(std::all_of(queues.steps()[0].begin(), queues.steps()[0].end(), is_mine));
      int mixed = 0;
      for (const auto& step : queues.steps()) {
        EXPECT_TRUE(std::is_partitioned(step.begin(), step.end(), std::not_fn(is_mine)));
        mixed += std::any_of(step.begin(), step.end(), is_mine) &&
                 !std::all_of(step.begin(), step.end(), is_mine);
      }
      EXPECT_GT(mixed, 0);
      return absl::OkStatus();
    });
    for (const absl::Status& status : results) EXPECT_TRUE(status.ok()) << status;
  }
}

// NCCL's calls and their order, on a library that moves host memory.
TEST(DeviceSummaTest, IsTheProductWithBroadcastsByNccl) {
  setenv("STRIDEWISE_NCCL", "common/distributed/libfake_nccl.so", 1);
  for (const SummaCase& c : kCases) {
    SCOPED_TRACE(testing::Message() << c);
    const auto results =
        RunLocalRanks(c.grid.size(), kSeconds, [&](TcpCommunicator* ranks) -> absl::Status {
          ASSIGN_OR_RETURN(const NcclLibrary* const library, LoadNccl());
          FakeCommunicationQueue queue;
          ASSIGN_OR_RETURN(const auto nccl,
                           NcclCommunicator::Create(library, ranks, &queue, kSeconds));
          return MultiplyAndVerify<float>(c, 1, nccl.get(), nccl.get());
        });
    for (const absl::Status& status : results) EXPECT_TRUE(status.ok()) << status;
  }
}

TEST(DeviceSummaTest, ReturnsTheErrorsOfTheDevice) {
  RunLocalRanks(1, kSeconds, [](TcpCommunicator* ranks) {
    const BlockCyclicLayout layout = *BlockCyclicLayout::Create(8, 8, 2, 2, {1, 1});
    FilledPart<float> part(layout, 0, 1);
    const SummaProblem<float> problem = {layout, layout, layout, part.view, part.view, part.view};
    FakeStreamQueues small(1, 100);
    EXPECT_TRUE(
        absl::IsResourceExhausted(SummaOnDevice(problem, WideProductOnHost, &small, ranks)));
    for (int64_t fails_at = 0; fails_at < 12; ++fails_at) {
      FakeStreamQueues failing(fails_at, 4096, fails_at);
      SummaOptions one_block;
      one_block.step_k = 1;
      EXPECT_TRUE(absl::IsInternal(
          SummaOnDevice(problem, WideProductOnHost, &failing, ranks, nullptr, one_block)));
    }
    SummaOptions of_two;
    of_two.parts_of_a = of_two.parts_of_b = {{part.view.data, 8}, {part.view.data, 8}};
    FakeStreamQueues unused(1);
    EXPECT_TRUE(absl::IsInvalidArgument(
        SummaOnDevice(problem, WideProductOnHost, &unused, ranks, nullptr, of_two)));
    of_two.parts_of_a.pop_back();
    EXPECT_TRUE(absl::IsInvalidArgument(
        SummaOnDevice(problem, WideProductOnHost, &unused, ranks, nullptr, of_two)));
    SummaProblem<float> wrong = problem;
    wrong.b.rows = 3;
    FakeStreamQueues queues(1);
    EXPECT_TRUE(absl::IsInvalidArgument(SummaOnDevice(wrong, WideProductOnHost, &queues, ranks)));
    return absl::OkStatus();
  });
}

}  // namespace
}  // namespace stridewise
