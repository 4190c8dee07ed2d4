#include "benchmarks/harness/record_file.h"

#include <cstdio>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace stridewise {
namespace {

using Rows = std::vector<std::vector<std::string>>;

const std::vector<std::string> kHeader = {"name", "value"};

std::string FreshPath(const std::string& name) {
  std::string path = ::testing::TempDir() + "/" + name;
  std::remove(path.c_str());
  std::remove((path + ".bak").c_str());
  return path;
}

absl::Status WriteOne(const std::string& path, CsvMode mode, const std::string& value) {
  absl::StatusOr<RecordFile> file = RecordFile::Create(path, kHeader, mode);
  return file.ok() ? file->Write({"x", value}) : file.status();
}

Rows RowsOf(const std::string& path) {
  const absl::StatusOr<CsvTable> table = ReadCsv(path);
  EXPECT_TRUE(table.ok()) << table.status();
  return table.ok() ? table->rows : Rows();
}

TEST(RecordFileTest, ReplacesAndKeepsABackup) {
  const std::string path = FreshPath("replaced.csv");
  ASSERT_TRUE(WriteOne(path, CsvMode::kReplace, "1,2").ok());
  ASSERT_TRUE(WriteOne(path, CsvMode::kReplace, "3").ok());
  EXPECT_EQ(RowsOf(path), (Rows{{"x", "3"}}));
  EXPECT_EQ(RowsOf(path + ".bak"), (Rows{{"x", "1,2"}}));
}

TEST(RecordFileTest, ResumesAFileOfTheSameColumns) {
  const std::string path = FreshPath("resumed.csv");
  ASSERT_TRUE(WriteOne(path, CsvMode::kResume, "1").ok());
  ASSERT_TRUE(WriteOne(path, CsvMode::kResume, "2").ok());
  EXPECT_EQ(RowsOf(path), (Rows{{"x", "1"}, {"x", "2"}}));
  EXPECT_EQ(RecordFile::Create(path, {"other"}, CsvMode::kResume).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(RowsOf(path).size(), 2u);
}

TEST(RecordFileTest, NamesAFileThatCannotBeWritten) {
  const absl::Status status =
      RecordFile::Create("/no/such/folder/x.csv", kHeader, CsvMode::kReplace).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("/no/such/folder/x.csv"), absl::string_view::npos);
}

}  // namespace
}  // namespace stridewise
