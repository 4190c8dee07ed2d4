// What tests of CSV files begin with: a folder of their own, rows, and a writer's file read again.

#ifndef STRIDEWISE_COMMON_MEASURE_CSV_TEST_FILES_H_
#define STRIDEWISE_COMMON_MEASURE_CSV_TEST_FILES_H_

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/measure/csv.h"
#include "common/measure/csv_records.h"
#include "common/measure/result_row.h"
#include "gtest/gtest.h"

namespace stridewise {

inline std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void WriteFile(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline bool Exists(const std::string& path) { return std::filesystem::exists(path); }

inline ResultRow MakeRow(int rows, absl::string_view message = "") {
  ResultRow row;
  row.Set(Column::kOperation, "matmul");
  row.Set(Column::kRows, rows);
  row.SetStatus(RowStatus::kOk, message);
  return row;
}

// Texts that quotes have to be right for.
inline constexpr const char* kAwkward[] = {"",     "plain", "a,b", "say \"no\"", "\"",
                                           "\"\"", " ",     ",",   "\",\""};

class CsvWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string folder = testing::TempDir() + "/csv_test.XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    path_ = folder + "/results.csv";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void WriteRows(CsvMode mode, const std::vector<ResultRow>& rows) {
    absl::StatusOr<CsvWriter> writer = CsvWriter::Create(path_, mode);
    ASSERT_TRUE(writer.ok()) << writer.status();
    for (const ResultRow& row : rows) ASSERT_TRUE(writer->Write(row).ok());
  }

  // The file's rows as cells.
  std::vector<std::vector<std::string>> Cells(const std::string& path) {
    const absl::StatusOr<CsvTable> table = ReadCsv(path);
    EXPECT_TRUE(table.ok()) << table.status();
    if (!table.ok()) return {};
    EXPECT_EQ(table->header.size(), static_cast<size_t>(kNumColumns));
    return table->rows;
  }

  std::vector<std::string> Rows(const std::string& path) {
    std::vector<std::string> rows;
    for (const auto& cells : Cells(path)) rows.push_back(cells[static_cast<int>(Column::kRows)]);
    return rows;
  }

  std::string folder_;
  std::string path_;
};

using Strings = std::vector<std::string>;

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_MEASURE_CSV_TEST_FILES_H_
