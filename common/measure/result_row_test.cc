#include "common/measure/result_row.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

std::vector<Column> AllColumns() {
  std::vector<Column> columns;
  for (int i = 0; i < kNumColumns; ++i) columns.push_back(static_cast<Column>(i));
  return columns;
}

TEST(ColumnTest, NamesAreUniqueSnakeCase) {
  std::set<absl::string_view> names;
  for (Column column : AllColumns()) {
    const absl::string_view name = ColumnName(column);
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_TRUE(absl::ascii_islower(name.front())) << name;
    for (char c : name) {
      EXPECT_TRUE(absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '_') << name;
    }
  }
}

TEST(ColumnTest, OrderOfTheFile) {
  EXPECT_EQ(ColumnName(Column::kSchemaVersion), "schema_version");
  EXPECT_EQ(static_cast<int>(Column::kSchemaVersion), 0);
  // Older files end with one of the columns from here on: none of them may move.
  EXPECT_EQ(static_cast<int>(Column::kBatch), static_cast<int>(Column::kBranchEfficiency) + 1);
  EXPECT_EQ(static_cast<int>(Column::kLayout), static_cast<int>(Column::kBatch) + 1);
  EXPECT_EQ(ColumnName(Column::kVsCublas), "vs_cublas");
  EXPECT_EQ(ColumnName(Column::kStep), "step");
  EXPECT_EQ(static_cast<int>(Column::kStep), static_cast<int>(Column::kVsCublas) + 1);
  EXPECT_EQ(ColumnName(Column::kComputePctOfPeak), "compute_pct_of_peak");
  EXPECT_EQ(ColumnName(Column::kStalledBarrier), "stalled_barrier");
  EXPECT_EQ(static_cast<int>(Column::kComputePctOfPeak), static_cast<int>(Column::kStep) + 1);
  EXPECT_EQ(ColumnName(Column::kCounters), "counters");
  EXPECT_EQ(static_cast<int>(Column::kWorkspace), static_cast<int>(Column::kCounters) + 1);
  EXPECT_EQ(static_cast<int>(Column::kPermutation), static_cast<int>(Column::kVsMemcpy) + 1);
  EXPECT_EQ(static_cast<int>(Column::kPrecision), static_cast<int>(Column::kPermutation) + 1);
  EXPECT_EQ(static_cast<int>(Column::kEpilogue), static_cast<int>(Column::kPrecision) + 1);
  EXPECT_EQ(static_cast<int>(Column::kShard), static_cast<int>(Column::kEpilogue) + 1);
  EXPECT_EQ(static_cast<int>(Column::kMedianError), static_cast<int>(Column::kVsEigen) + 1);
  EXPECT_EQ(static_cast<int>(Column::kGrid), static_cast<int>(Column::kMaxError) + 1);
  EXPECT_EQ(static_cast<int>(Column::kVsOneDnn), static_cast<int>(Column::kOverlapPct) + 1);
  EXPECT_EQ(static_cast<int>(Column::kVsChooser), static_cast<int>(Column::kVsOneDnn) + 1);
  EXPECT_EQ(static_cast<int>(Column::kVsChooser), kNumColumns - 1);
  EXPECT_EQ(static_cast<int>(Column::kHostMemory), static_cast<int>(Column::kL2) + 1);
  EXPECT_EQ(static_cast<int>(Column::kEmptyKernelMs), static_cast<int>(Column::kKernelMsP95) + 1);
}

TEST(ResultRowTest, StartsUnknown) {
  const ResultRow row;
  for (Column column : AllColumns()) {
    EXPECT_EQ(row.Get(column), column == Column::kSchemaVersion ? "1" : "") << ColumnName(column);
  }
}

TEST(ResultRowTest, Integers) {
  ResultRow row;
  row.Set(Column::kRows, 0);
  EXPECT_EQ(row.Get(Column::kRows), "0");
  row.Set(Column::kRows, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(row.Get(Column::kRows), "-9223372036854775808");
  row.Set(Column::kRows, std::numeric_limits<uint64_t>::max());
  EXPECT_EQ(row.Get(Column::kRows), "18446744073709551615");
}

TEST(ResultRowTest, DoublesAreShort) {
  const struct {
    double value;
    const char* text;
  } kCases[] = {
      {0, "0"},
      {0.1, "0.1"},
      {1.0 / 3, "0.333333333"},
      {51234.5678, "51234.5678"},
      {1e-7, "1e-07"},
      {-2.5, "-2.5"},
      {std::nan(""), ""},
      {std::numeric_limits<double>::infinity(), ""},
      {-std::numeric_limits<double>::infinity(), ""},
  };
  for (const auto& test : kCases) {
    ResultRow row;
    row.Set(Column::kGflops, "stale");
    row.Set(Column::kGflops, test.value);
    EXPECT_EQ(row.Get(Column::kGflops), test.text) << test.value;
  }
}

TEST(ResultRowTest, DoublesKeepNineDigits) {
  for (double value = 1.23456789e-300; value < 1e300; value *= 97.3) {
    ResultRow row;
    row.Set(Column::kGbps, value);
    EXPECT_NEAR(std::strtod(row.Get(Column::kGbps).c_str(), nullptr) / value, 1, 5.1e-9) << value;
  }
}

TEST(ResultRowTest, TextBecomesPrintableAscii) {
  ResultRow row;
  row.Set(Column::kCpu, "Xeon\xC2\xAE, \"fast\"\tcores\nsecond line\x7F");
  EXPECT_EQ(row.Get(Column::kCpu), "Xeon??, \"fast\"?cores second line?");
  row.Set(Column::kCpu, absl::string_view("a\0b", 3));
  EXPECT_EQ(row.Get(Column::kCpu), "a?b");
  row.Set(Column::kCpu, "");
  EXPECT_EQ(row.Get(Column::kCpu), "");
}

TEST(RowStatusTest, NamesAndWrongness) {
  const struct {
    RowStatus status;
    const char* name;
    bool wrong;
  } kCases[] = {
      {RowStatus::kOk, "ok", false},
      {RowStatus::kSkipped, "skipped", false},
      {RowStatus::kOutOfMemory, "out_of_memory", false},
      {RowStatus::kMismatch, "mismatch", true},
      {RowStatus::kUnsupported, "unsupported", false},
      {RowStatus::kTimeout, "timeout", false},
      {RowStatus::kError, "error", true},
  };
  for (const auto& test : kCases) {
    ResultRow row;
    row.SetStatus(test.status, "because");
    EXPECT_EQ(row.Get(Column::kStatus), test.name);
    EXPECT_EQ(row.Get(Column::kMessage), "because");
    EXPECT_EQ(StatusOf(row), test.status) << test.name;
    EXPECT_EQ(IsWrong(row), test.wrong) << test.name;
    for (const auto& other : kCases) {
      EXPECT_EQ(HasStatus(row, other.status), other.status == test.status) << test.name;
    }
  }
}

TEST(RowStatusTest, ARowMayHaveNoStatus) {
  ResultRow row;
  EXPECT_EQ(StatusOf(row), std::nullopt);
  row.Set(Column::kStatus, "Ok");
  EXPECT_EQ(StatusOf(row), std::nullopt);
  EXPECT_FALSE(IsWrong(row));
}

TEST(RowStatusTest, ANewStatusClearsTheOldMessage) {
  ResultRow row;
  row.SetStatus(RowStatus::kError, "boom");
  row.SetStatus(RowStatus::kOk);
  EXPECT_EQ(row.Get(Column::kMessage), "");
}

TEST(RowKeyTest, DiffersInEachColumnOfTheConfigurationAndInNoOther) {
  const std::set<Column> kKey = {Column::kOperation, Column::kImplementation, Column::kDtype,
                                 Column::kMath,      Column::kRows,           Column::kCols,
                                 Column::kDepth,     Column::kBlockX,         Column::kBlockY,
                                 Column::kL2,        Column::kHostMemory,     Column::kBatch,
                                 Column::kLayout,    Column::kAlpha,          Column::kBeta,
                                 Column::kWorkspace, Column::kPermutation,    Column::kPrecision,
                                 Column::kEpilogue,  Column::kGrid,           Column::kGridBlock};
  const std::string empty = RowKey(ResultRow());
  for (Column column : AllColumns()) {
    ResultRow row;
    row.Set(column, "7");
    EXPECT_EQ(RowKey(row) != empty, kKey.count(column) == 1) << ColumnName(column);
  }
}

TEST(RowKeyTest, FieldsDoNotRunTogether) {
  const struct {
    const char* implementation[2];
    const char* dtype[2];
  } kCases[] = {
      {{"ab", "a"}, {"c", "bc"}}, {{"a", ""}, {"", "a"}},     {{"a\n", "a"}, {"b", "\nb"}},
      {{"a,", "a"}, {"b", ",b"}}, {{"a|", "a"}, {"b", "|b"}}, {{"a ", "a"}, {"b", " b"}},
  };
  for (const auto& test : kCases) {
    ResultRow rows[2];
    for (int i = 0; i < 2; ++i) {
      rows[i].Set(Column::kImplementation, test.implementation[i]);
      rows[i].Set(Column::kDtype, test.dtype[i]);
    }
    EXPECT_NE(RowKey(rows[0]), RowKey(rows[1])) << test.implementation[0] << " " << test.dtype[0];
  }
}

}  // namespace
}  // namespace stridewise
