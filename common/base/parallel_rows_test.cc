#include "common/base/parallel_rows.h"

#include <cstdint>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "common/base/host_threads.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

TEST(ForRowsInParallel, TakesEachRowOnce) {
  SetHostThreads(5);
  for (const int64_t rows : {0, 1, 3, 5, 6, 1000}) {
    for (const int64_t cols : {0, 1, 300'000, 2'000'000}) {
      std::vector<int> taken(rows);
      ForRowsInParallel(rows, cols, [&](int64_t first, int64_t last) {
        for (int64_t row = first; row < last; ++row) ++taken[row];
      });
      EXPECT_EQ(taken, std::vector<int>(rows, 1)) << rows << " rows of " << cols;
    }
  }
}

TEST(ForRowsInParallel, StartsThreadsForLargeMatricesOnly) {
  SetHostThreads(5);
  const auto threads = [](int64_t rows, int64_t cols) {
    std::mutex mutex;
    std::set<std::thread::id> ids;
    ForRowsInParallel(rows, cols, [&](int64_t, int64_t) {
      const std::lock_guard<std::mutex> lock(mutex);
      ids.insert(std::this_thread::get_id());
    });
    return ids.size();
  };
  EXPECT_EQ(threads(1000, 1000), 1);
  EXPECT_EQ(threads(1 << 10, 1 << 11), 2);
  EXPECT_EQ(threads(1000, 1'000'000), 5);
  EXPECT_EQ(threads(2, 100'000'000), 3);
}

}  // namespace
}  // namespace stridewise
