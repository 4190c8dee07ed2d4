#include "common/distributed/peer_memory.h"

#include <string>
#include <vector>

#include "common/base/status_macros.h"
#include "common/distributed/fake_peer_memory.h"
#include "common/distributed/local_ranks.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

constexpr double kSeconds = 20;
constexpr int kRanks = 3;

TEST(ReachMemoryOfRanksTest, RanksReadAndWriteEachOthersMemory) {
  const auto results = RunLocalRanks(kRanks, kSeconds, [](TcpCommunicator* ranks) -> absl::Status {
    std::vector<int> mine(kRanks, -1);
    FakePeerMemory memory;
    ASSIGN_OR_RETURN(const std::vector<void*> reached,
                     ReachMemoryOfRanks(mine.data(), &memory, ranks));
    EXPECT_EQ(reached.size(), static_cast<size_t>(kRanks));
    EXPECT_EQ(reached[ranks->rank()], mine.data());
    for (int rank = 0; rank < kRanks; ++rank) {
      static_cast<int*>(reached[rank])[ranks->rank()] = 10 * rank + ranks->rank();
    }
    RETURN_IF_ERROR(ranks->Barrier());
    for (int rank = 0; rank < kRanks; ++rank) EXPECT_EQ(mine[rank], 10 * ranks->rank() + rank);
    return ranks->Barrier();
  });
  for (const absl::Status& status : results) EXPECT_TRUE(status.ok()) << status;
}

// Memory that another rank reaches may not be freed.
TEST(LeaveMemoryOfRanksTest, ReturnsWhenNobodyReachesAnothersMemory) {
  std::vector<FakePeerMemory> memories(kRanks);
  const auto results = RunLocalRanks(kRanks, kSeconds, [&](TcpCommunicator* ranks) -> absl::Status {
    int mine = 0;
    FakePeerMemory& memory = memories[ranks->rank()];
    for (int i = 0; i < 100; ++i) {
      RETURN_IF_ERROR(ReachMemoryOfRanks(&mine, &memory, ranks).status());
      EXPECT_EQ(memory.reached(), kRanks - 1);
      RETURN_IF_ERROR(LeaveMemoryOfRanks(&memory, ranks));
      for (const FakePeerMemory& of_rank : memories) EXPECT_EQ(of_rank.reached(), 0);
      RETURN_IF_ERROR(ranks->Barrier());
    }
    return absl::OkStatus();
  });
  for (const absl::Status& status : results) EXPECT_TRUE(status.ok()) << status;
}

TEST(ReachMemoryOfRanksTest, ARankThatReachesNothingIsNamedByAll) {
  for (int lonely = 0; lonely < 3; ++lonely) {
    const auto results = RunLocalRanks(3, kSeconds, [lonely](TcpCommunicator* ranks) {
      FakePeerMemory memory(/*reaches=*/ranks->rank() != lonely);
      int mine = 0;
      const absl::Status status = ReachMemoryOfRanks(&mine, &memory, ranks).status();
      EXPECT_TRUE(ranks->Barrier().ok());  // The ranks go on together.
      return status;
    });
    for (const absl::Status& status : results) {
      EXPECT_TRUE(absl::IsUnavailable(status)) << status;
      EXPECT_EQ(status.message().find("rank " + std::to_string(lonely)), 0) << status;
    }
  }
}

}  // namespace
}  // namespace stridewise
