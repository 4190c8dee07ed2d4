#include "benchmarks/profile/profile_tables.h"

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

ResultRow Row() {
  ResultRow row;
  row.Set(Column::kOperation, "matmul");
  row.Set(Column::kImplementation, "tiled");
  row.Set(Column::kDtype, "float");
  row.Set(Column::kRows, 64);
  row.Set(Column::kCols, 48);
  row.Set(Column::kDepth, 32);
  row.Set(Column::kBlockX, 32);
  row.Set(Column::kBlockY, 8);
  return row;
}

TEST(ProfileTableTest, KnownRowsAndColumnsOnly) {
  EXPECT_EQ(ProfileTable({Row()}), "");  // Nothing is known of it.
  ResultRow row = Row();
  row.Set(Column::kLoadTransactions, 4711);
  std::string table = ProfileTable({Row(), row});
  for (const char* text : {"64x48x32", "32x8", "4711"}) {
    EXPECT_TRUE(absl::StrContains(table, text)) << text << table;
  }
  EXPECT_FALSE(absl::StrContains(table, "occ %")) << table;
  row.Set(Column::kAchievedOccupancy, 66.5);
  table = ProfileTable({row});
  EXPECT_TRUE(absl::StrContains(table, "occ %")) << table;
}

TEST(ReasonTableTest, RowsOfTheGpusCountersOnly) {
  ResultRow row = Row();
  row.Set(Column::kLoadTransactions, 4711);
  EXPECT_EQ(ReasonTable({row}), "");  // From the host executor.
  row.Set(Column::kComputePctOfPeak, 81.25);
  row.Set(Column::kStalledBarrier, 14);
  const std::string table = ReasonTable({Row(), row});
  for (const char* text : {"64x48x32", "compute %", "81.25", "barrier", "14"}) {
    EXPECT_TRUE(absl::StrContains(table, text)) << text << table;
  }
  EXPECT_FALSE(absl::StrContains(table, "l2 hit %")) << table;
}

ComparedRow Compared() {
  ComparedRow compared;
  compared.row = Row();
  compared.row.Set(Column::kGitCommit, "g0123456789ab");
  compared.counts.implementation = "tiled";
  for (int i = 0; i < kNumCounters; ++i) {
    compared.counts.predicted[i] = compared.counts.measured[i] = 1000 + i;
  }
  return compared;
}

TEST(CountTableTest, MarksDifferences) {
  EXPECT_EQ(CountTable({}), "");
  ComparedRow compared = Compared();
  EXPECT_FALSE(absl::StrContains(CountTable({compared}), "1000/"));
  compared.counts.measured[0] = 999;
  compared.counts.measured[4] = 998;
  compared.counts.measured[5].reset();
  const std::string table = CountTable({compared});
  for (const char* text : {"1000/999!", "1004/998~", "1005/?", "ptxas"}) {
    EXPECT_TRUE(absl::StrContains(table, text)) << text << table;
  }
}

TEST(CountRecordsTest, ACounterARecord) {
  ComparedRow compared = Compared();
  compared.counts.measured[7].reset();
  const std::vector<std::vector<std::string>> records = CountRecords(compared);
  ASSERT_EQ(records.size(), 8u);
  for (const std::vector<std::string>& record : records) {
    EXPECT_EQ(record.size(), CountHeader().size());
  }
  EXPECT_EQ(records[0],
            (std::vector<std::string>{"matmul", "tiled", "float", "64", "48", "32", "32", "8",
                                      "global_load_requests", "1000", "1000", "g0123456789ab"}));
  EXPECT_EQ(records[7][10], "");
}

}  // namespace
}  // namespace stridewise
