// What transposes over ranks refuse, what they return of a device that fails, and for how many of
// its multiprocessors they ask.

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "common/distributed/block_cyclic.h"
#include "common/distributed/local_ranks.h"
#include "common/streaming/fake_stream_queues.h"
#include "gtest/gtest.h"
#include "transpose/distributed/device_exchange.h"
#include "transpose/distributed/exchange.h"
#include "transpose/distributed/permute_elements.h"
#include "transpose/on_host.h"

namespace stridewise {
namespace {

constexpr double kSeconds = 20;

TEST(TransposeMultiprocessorsTest, AreLimitedWhereElementsTravel) {
  const auto of = [](RankGrid grid, int rank) {
    const auto layout = *BlockCyclicLayout::Create(4096, 4096, 16, 16, grid);
    return TransposeMultiprocessors(layout, layout, rank);
  };
  EXPECT_EQ(of({1, 1}, 0), 0);  // Nothing is sent.
  EXPECT_EQ(of({2, 2}, 0), 0);  // Nor from the diagonal.
  EXPECT_EQ(of({2, 2}, 3), 0);
  for (const auto& [grid, rank] : {std::pair(RankGrid{2, 2}, 1),
                                   {RankGrid{1, 2}, 0},
                                   {RankGrid{2, 1}, 1},
                                   {RankGrid{1, 4}, 3}}) {
    EXPECT_GT(of(grid, rank), 0);
  }
}

TEST(RedistributeTest, RefusesAnotherShape) {
  RunLocalRanks(1, kSeconds, [](TcpCommunicator* ranks) {
    const BlockCyclicLayout layout = *BlockCyclicLayout::Create(4, 5, 2, 2, {1, 1});
    const BlockCyclicLayout turned = *BlockCyclicLayout::Create(5, 4, 2, 2, {1, 1});
    std::vector<float> from(20), to(20);
    const absl::Status status =
        Redistribute(layout, {from.data(), 4, 5, 5, 4}, turned, {to.data(), 5, 4, 4, 4}, ranks);
    EXPECT_TRUE(absl::IsInvalidArgument(status));
    EXPECT_EQ(status.message().find("out: is not"), 0u) << status;
    return absl::OkStatus();
  });
}

TEST(DistributedTransposeTest, ReturnsTheErrorsOfTheDevice) {
  std::vector<float> from(64), to(64);
  const auto run = [&](Communicator* ranks, StreamQueues* queues, int64_t element_bytes,
                       int64_t message_bytes, int parts = 0, int copies_at_once = 1) {
    DeviceTransposeOptions options;
    options.copies_at_once = copies_at_once;
    options.message_bytes = message_bytes;
    const BlockCyclicLayout layout =
        *BlockCyclicLayout::Create(8, 8, 8 / ranks->size(), 8, {ranks->size(), 1});
    const int64_t rows = 8 / ranks->size();
    float* const mine = to.data() + 32 * ranks->rank();
    options.parts_of_out.assign(parts, {mine, rows, 8, 8, element_bytes});
    return DistributedTransposeOnDevice(layout, {from.data(), rows, 8, 8, element_bytes}, layout,
                                        {mine, rows, 8, 8, element_bytes}, options, PermuteElements,
                                        queues, ranks);
  };
  for (const int ranks : {1, 2}) {
    // Four pieces on one rank; on two a piece, and a message that is packed and unpacked.
    for (int64_t fails_at = 0; fails_at < (ranks == 1 ? 4 : 3); ++fails_at) {
      const auto results = RunLocalRanks(ranks, kSeconds, [&](TcpCommunicator* communicator) {
        FakeStreamQueues failing(fails_at, 1 << 20, fails_at);
        return run(communicator, &failing, 4, 64);
      });
      for (const absl::Status& status : results) {
        EXPECT_TRUE(absl::IsInternal(status) || absl::IsUnavailable(status)) << status;
      }
    }
  }
  const auto results = RunLocalRanks(2, kSeconds, [&](TcpCommunicator* communicator) {
    FakeStreamQueues small(1, 100);
    return run(communicator, &small, 4, 256);
  });
  for (const absl::Status& status : results) EXPECT_TRUE(absl::IsResourceExhausted(status));
  RunLocalRanks(1, kSeconds, [&](TcpCommunicator* communicator) {
    FakeStreamQueues queues(1);
    EXPECT_TRUE(absl::IsInvalidArgument(run(communicator, &queues, 3, 64)));
    EXPECT_TRUE(absl::IsInvalidArgument(run(communicator, &queues, 4, 0)));
    EXPECT_TRUE(absl::IsInvalidArgument(run(communicator, &queues, 4, 64, 2)));
    EXPECT_TRUE(absl::IsInvalidArgument(run(communicator, &queues, 4, 64, 1, 0)));
    EXPECT_TRUE(absl::IsInvalidArgument(run(communicator, &queues, 4, 64, 1, 3)));
    return absl::OkStatus();
  });
}

TEST(DistributedTransposeTest, RefusesWhatDoesNotFit) {
  RunLocalRanks(1, kSeconds, [](TcpCommunicator* ranks) {
    const BlockCyclicLayout layout = *BlockCyclicLayout::Create(4, 4, 2, 2, {1, 1});
    const BlockCyclicLayout larger = *BlockCyclicLayout::Create(4, 5, 2, 2, {1, 1});
    const BlockCyclicLayout four = *BlockCyclicLayout::Create(4, 4, 2, 2, {2, 2});
    std::vector<float> from(20), to(20);
    const MatrixView in = {from.data(), 4, 4, 4, 4};
    const auto refuses = [&](const char* name, const BlockCyclicLayout& in_layout,
                             const BlockCyclicLayout& out_layout, const MutableMatrixView& out) {
      const absl::Status status =
          DistributedTranspose(in_layout, in, out_layout, out, TransposeOnHost, ranks);
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name;
      EXPECT_EQ(status.message().find(name), 0u) << status;
    };
    refuses("in: a grid", four, layout, {to.data(), 4, 4, 4, 4});
    refuses("out: a part", layout, layout, {to.data(), 4, 4, 3, 4});
    refuses("out: is not", layout, larger, {to.data(), 4, 5, 5, 4});
    refuses("out: is not", layout, layout, {to.data(), 4, 4, 4, 2});
    return absl::OkStatus();
  });
}

}  // namespace
}  // namespace stridewise
