// What cannot be written or read: paths, full disks, pipes.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/measure/csv.h"
#include "common/measure/csv_records.h"
#include "common/measure/csv_test_files.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

using ::testing::internal::CaptureStdout;
using ::testing::internal::GetCapturedStdout;

TEST_F(CsvWriterTest, UnwritablePathsAreNamedInOneLine) {
  WriteFile(folder_ + "/file", "");
  std::vector<std::string> paths = {folder_, folder_ + "/none/x.csv", folder_ + "/file/x.csv", ""};
  const std::string locked = folder_ + "/locked";
  if (geteuid() != 0) {  // The superuser writes anywhere.
    ASSERT_EQ(mkdir(locked.c_str(), 0555), 0);
    paths.push_back(locked + "/x.csv");
  }
  for (const std::string& path : paths) {
    for (const CsvMode mode : {CsvMode::kReplace, CsvMode::kResume}) {
      const absl::Status status = CsvWriter::Create(path, mode).status();
      ASSERT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << path;
      EXPECT_NE(status.message().find(path), absl::string_view::npos) << status;
      EXPECT_EQ(status.message().find('\n'), absl::string_view::npos) << status;
    }
  }
  EXPECT_FALSE(Exists(folder_ + ".bak"));
}

// Within its life no file grows beyond a size; what reaches the limit is an error, as on a full
// disk.
class ScopedFileSizeLimit {
 public:
  explicit ScopedFileSizeLimit(size_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    EXPECT_EQ(getrlimit(RLIMIT_FSIZE, &before_), 0);
    const rlimit limit = {bytes, before_.rlim_max};
    EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  ~ScopedFileSizeLimit() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_;
};

TEST_F(CsvWriterTest, AFullDiskIsAnErrorAndTheFileCanBeResumed) {
  {
    absl::StatusOr<CsvWriter> writer = CsvWriter::Create(path_, CsvMode::kReplace);
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE(writer->Write(MakeRow(1)).ok());
    absl::Status full;
    {
      ScopedFileSizeLimit limit(Contents(path_).size() + 5);
      full = writer->Write(MakeRow(2));
    }
    EXPECT_EQ(full.code(), absl::StatusCode::kDataLoss);
    EXPECT_NE(full.message().find(path_), absl::string_view::npos) << full;
    EXPECT_FALSE(writer->Write(MakeRow(3)).ok());
  }
  WriteRows(CsvMode::kResume, {MakeRow(4)});
  const Strings rows = Rows(path_);
  ASSERT_GE(rows.size(), 2u);
  EXPECT_EQ(rows.front(), "1");
  EXPECT_EQ(rows.back(), "4");
}

TEST_F(CsvWriterTest, AHeaderThatDoesNotFitIsAnUnwritableFile) {
  absl::Status status;
  {
    ScopedFileSizeLimit limit(5);
    status = CsvWriter::Create(path_, CsvMode::kReplace).status();
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find(path_), absl::string_view::npos) << status;
}

TEST_F(CsvWriterTest, DashIsStandardOutput) {
  CaptureStdout();
  {
    absl::StatusOr<CsvWriter> writer = CsvWriter::Create("-", CsvMode::kReplace);
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE(writer->Write(MakeRow(1)).ok());
  }
  const absl::StatusOr<CsvTable> table = ParseCsv(GetCapturedStdout());
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->rows.size(), 1u);
  EXPECT_EQ(CsvWriter::Create("-", CsvMode::kResume).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(CsvWriterTest, APipeIsWrittenAndNeitherReadNorRenamed) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  const int reader = open(path_.c_str(), O_RDWR | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  for (const CsvMode mode : {CsvMode::kReplace, CsvMode::kResume}) {
    absl::StatusOr<CsvWriter> writer = CsvWriter::Create(path_, mode);
    ASSERT_TRUE(writer.ok()) << writer.status();
    ASSERT_TRUE(writer->Write(MakeRow(1)).ok());
    char buffer[65536];
    const ssize_t bytes = read(reader, buffer, sizeof(buffer));
    ASSERT_GT(bytes, 0);
    const absl::StatusOr<CsvTable> table = ParseCsv(absl::string_view(buffer, bytes));
    ASSERT_TRUE(table.ok()) << table.status();
    EXPECT_EQ(table->rows.size(), 1u);
  }
  close(reader);
  EXPECT_FALSE(Exists(path_ + ".bak"));
}

TEST_F(CsvWriterTest, ReadErrorsNameTheFile) {
  EXPECT_EQ(ReadCsv(path_).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadCsv(folder_).status().code(), absl::StatusCode::kInvalidArgument);
  WriteFile(path_, "a\n1,2\n");
  const absl::Status status = ReadCsv(path_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find(path_), absl::string_view::npos) << status;
  EXPECT_NE(status.message().find("line 2"), absl::string_view::npos) << status;
}

}  // namespace
}  // namespace stridewise
