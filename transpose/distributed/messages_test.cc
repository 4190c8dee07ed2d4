#include "transpose/distributed/messages.h"

#include <cstdint>
#include <set>
#include <vector>

#include "common/distributed/block_cyclic.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

// On a row of ranks each sends as much to each other one.
TEST(MessagesTest, NoTwoRanksWriteToOneAtOnce) {
  for (const int size : {2, 3, 4, 5, 8}) {
    const int64_t n = 16 * size;
    const auto layout = *BlockCyclicLayout::Create(n, n, 4, 4, {1, size});
    std::vector<std::vector<Message>> of_ranks;
    for (int rank = 0; rank < size; ++rank) {
      of_ranks.push_back(CutMessages(layout, layout, 4, 4 * n, rank, size));
      TakeOwn(rank, &of_ranks.back());
      OrderForWriters(rank, size, &of_ranks.back());
      ASSERT_EQ(of_ranks[rank].size(), of_ranks[0].size());
    }
    for (size_t turn = 0; turn < of_ranks[0].size(); ++turn) {
      std::set<int> written;
      for (int rank = 0; rank < size; ++rank) {
        EXPECT_NE(of_ranks[rank][turn].partner, rank);
        written.insert(of_ranks[rank][turn].partner);
      }
      EXPECT_EQ(written.size(), size) << turn << " of " << size;
    }
  }
}

// What two ranks send each other is matched by its number.
TEST(MessagesTest, WritersKeepTheOrderOfAPartnersMessages) {
  const auto layout = *BlockCyclicLayout::Create(60, 60, 4, 4, {1, 3});
  std::vector<Message> messages = CutMessages(layout, layout, 4, 100, 1, 3);
  OrderForWriters(1, 3, &messages);
  for (size_t i = 1; i < messages.size(); ++i) {
    if (messages[i].partner != messages[i - 1].partner) continue;
    EXPECT_LT(messages[i - 1].cols.runs[0].first, messages[i].cols.runs[0].first);
  }
}

}  // namespace
}  // namespace stridewise
