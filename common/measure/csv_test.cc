#include "common/measure/csv.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/base/case_random.h"
#include "common/measure/csv_records.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

using ::testing::internal::CaptureStdout;
using ::testing::internal::GetCapturedStdout;

std::string Contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void WriteFile(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

bool Exists(const std::string& path) { return std::filesystem::exists(path); }

ResultRow MakeRow(int rows, absl::string_view message = "") {
  ResultRow row;
  row.Set(Column::kOperation, "matmul");
  row.Set(Column::kRows, rows);
  row.SetStatus(RowStatus::kOk, message);
  return row;
}

const char* const kAwkward[] = {"", "plain", "a,b", "say \"no\"", "\"", "\"\"", " ", ",", "\",\""};

// --- Reader

TEST(ParseCsvTest, Records) {
  using Rows = std::vector<std::vector<std::string>>;
  const struct {
    std::string text;
    Rows records;  // The header first.
  } kCases[] = {
      {"a,b\r\n1,2\r\n", {{"a", "b"}, {"1", "2"}}},
      {"a,b\n1,2\n", {{"a", "b"}, {"1", "2"}}},
      {"a,b\n1,2", {{"a", "b"}, {"1", "2"}}},
      {"a,b\r\n1,2\r", {{"a", "b"}, {"1", "2"}}},
      {"a,b\r\n,\r\n", {{"a", "b"}, {"", ""}}},
      {"a,b\r\n,", {{"a", "b"}, {"", ""}}},
      {"a,b\n\"\",\"\"\n", {{"a", "b"}, {"", ""}}},
      {"a\n\n1\n", {{"a"}, {""}, {"1"}}},
      {"a,b\n\"x,y\",\"say \"\"no\"\"\"\n", {{"a", "b"}, {"x,y", "say \"no\""}}},
      {"a,b\n\"two\r\nlines\",\"\n\"\n3,4\n", {{"a", "b"}, {"two\r\nlines", "\n"}, {"3", "4"}}},
      {"\"a\",\"b\"\n 1 ,\" 2\"\n", {{"a", "b"}, {" 1 ", " 2"}}},
      {"\xEF\xBB\xBF\"a\"\n1\n", {{"a"}, {"1"}}},
      {"a\n\"\"\"\"", {{"a"}, {"\""}}},
      {"a", {{"a"}}},
  };
  for (const auto& test : kCases) {
    const absl::StatusOr<CsvTable> table = ParseCsv(test.text);
    ASSERT_TRUE(table.ok()) << test.text << ": " << table.status();
    EXPECT_EQ(table->header, test.records[0]) << test.text;
    EXPECT_EQ(table->rows, Rows(test.records.begin() + 1, test.records.end())) << test.text;
  }
}

TEST(ParseCsvTest, ErrorsNameTheLine) {
  const struct {
    std::string text;
    std::string line;
  } kCases[] = {
      {"", "line 1:"},
      {"a,b\n1\n", "line 2:"},
      {"a,b\n1,2\n1,2,3\n", "line 3:"},
      {"a,b\n1,2\n\n", "line 3:"},
      {"a,b\n\"x\ny\",2\n1\n", "line 4:"},        // Lines, not records.
      {"a,b\n\"x\ny\",2,3\n", "line 2:"},         // Where the record begins.
      {"a,b\n1,x\"y\n", "line 2:"},               // A quote within a field.
      {"a,b\n1,\"x\"y\n", "line 2:"},             // Text after the quotes.
      {"a,b\n\"1\n2\",\"x\" ,\n", "line 3:"},     // A blank is text.
      {"a,b\n1,2\n\"1\n2\",\"x\n\n", "line 4:"},  // Never closed: where it opens.
      {"a,b\n1\r,2\n", "line 2:"},                // A lone carriage return.
      {"a,b\r1,2\r", "line 1:"},
  };
  for (const auto& test : kCases) {
    const absl::StatusOr<CsvTable> table = ParseCsv(test.text);
    ASSERT_EQ(table.status().code(), absl::StatusCode::kInvalidArgument) << test.text;
    EXPECT_NE(table.status().message().find(test.line), absl::string_view::npos)
        << test.text << ": " << table.status();
  }
}

TEST(CsvRecordTest, RoundTrip) {
  std::vector<absl::string_view> fields(std::begin(kAwkward), std::end(kAwkward));
  fields.insert(fields.end(), {"\n", "\r\n", "two\nlines", "\xC3\xA9"});
  const absl::StatusOr<CsvTable> table = ParseCsv(FormatCsvRecord(fields));
  ASSERT_TRUE(table.ok()) << table.status();
  EXPECT_EQ(table->header, std::vector<std::string>(fields.begin(), fields.end()));
  EXPECT_EQ(FormatCsvRecord({"a", "", "b,c"}), "a,,\"b,c\"\r\n");
}

// --- Writer

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

TEST_F(CsvWriterTest, HeaderIsThereAtOnceAndEachRowWhenWritten) {
  absl::StatusOr<CsvWriter> writer = CsvWriter::Create(path_, CsvMode::kReplace);
  ASSERT_TRUE(writer.ok()) << writer.status();
  Strings names;
  for (int i = 0; i < kNumColumns; ++i) {
    names.emplace_back(ColumnName(static_cast<Column>(i)));
  }
  EXPECT_EQ(Contents(path_), absl::StrJoin(names, ",") + "\r\n");
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(writer->Write(MakeRow(i)).ok());
    EXPECT_EQ(Rows(path_).size(), static_cast<size_t>(i));
  }
}

TEST_F(CsvWriterTest, AwkwardTextsComeBack) {
  std::vector<ResultRow> rows;
  for (const char* text : kAwkward) rows.push_back(MakeRow(1, text));
  WriteRows(CsvMode::kReplace, rows);
  const auto cells = Cells(path_);
  ASSERT_EQ(cells.size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(cells[i][static_cast<int>(Column::kMessage)], kAwkward[i]);
  }
  const absl::StatusOr<CsvWriter> resumed = CsvWriter::Create(path_, CsvMode::kResume);
  ASSERT_TRUE(resumed.ok()) << resumed.status();
  EXPECT_EQ(resumed->rows_found(), rows);
}

TEST_F(CsvWriterTest, ReplaceKeepsTheOldFileAsBak) {
  WriteRows(CsvMode::kReplace, {MakeRow(1), MakeRow(2)});
  EXPECT_FALSE(Exists(path_ + ".bak"));
  WriteRows(CsvMode::kReplace, {MakeRow(3)});
  EXPECT_EQ(Rows(path_), Strings({"3"}));
  EXPECT_EQ(Rows(path_ + ".bak"), Strings({"1", "2"}));
}

TEST_F(CsvWriterTest, AFileWithoutRowsDoesNotPushAMeasuredOneOutOfBak) {
  WriteRows(CsvMode::kReplace, {MakeRow(1)});
  WriteRows(CsvMode::kReplace, {});
  WriteRows(CsvMode::kReplace, {MakeRow(2)});
  EXPECT_EQ(Rows(path_), Strings({"2"}));
  EXPECT_EQ(Rows(path_ + ".bak"), Strings({"1"}));
}

TEST_F(CsvWriterTest, ReplaceKeepsAFileThatIsNotOurs) {
  WriteFile(path_, "notes");
  WriteRows(CsvMode::kReplace, {});
  EXPECT_EQ(Contents(path_ + ".bak"), "notes");
}

TEST_F(CsvWriterTest, ReplaceFollowsALink) {
  const std::string link = folder_ + "/link.csv";
  WriteRows(CsvMode::kReplace, {MakeRow(1)});
  std::filesystem::create_symlink(path_, link);
  ASSERT_TRUE(CsvWriter::Create(link, CsvMode::kReplace).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(Rows(path_ + ".bak"), Strings({"1"}));
}

TEST_F(CsvWriterTest, ResumeOfNothingStartsAFile) {
  WriteRows(CsvMode::kResume, {MakeRow(1)});
  EXPECT_EQ(Rows(path_), Strings({"1"}));
  WriteFile(path_, "");
  WriteRows(CsvMode::kResume, {MakeRow(2)});
  EXPECT_EQ(Rows(path_), Strings({"2"}));
}

TEST_F(CsvWriterTest, WritersOneAfterAnotherAppend) {
  WriteRows(CsvMode::kReplace, {MakeRow(1), MakeRow(2)});
  {
    absl::StatusOr<CsvWriter> writer = CsvWriter::Create(path_, CsvMode::kResume);
    ASSERT_TRUE(writer.ok()) << writer.status();
    EXPECT_EQ(writer->rows_found(), std::vector<ResultRow>({MakeRow(1), MakeRow(2)}));
    CsvWriter moved = *std::move(writer);
    ASSERT_TRUE(moved.Write(MakeRow(3)).ok());
  }
  WriteRows(CsvMode::kResume, {MakeRow(4)});
  EXPECT_EQ(Rows(path_), Strings({"1", "2", "3", "4"}));
  EXPECT_FALSE(Exists(path_ + ".bak"));
}

TEST_F(CsvWriterTest, ResumeTakesLineFeedsAlone) {
  WriteRows(CsvMode::kReplace, {MakeRow(1)});
  std::string text = Contents(path_);
  for (size_t at; (at = text.find('\r')) != text.npos;) text.erase(at, 1);
  WriteFile(path_, text);
  WriteRows(CsvMode::kResume, {MakeRow(2)});
  EXPECT_EQ(Rows(path_), Strings({"1", "2"}));
}

// Resumes from each beginning of a file: whatever a killed program leaves.
TEST_F(CsvWriterTest, ResumeMendsAFileCutAnywhere) {
  const std::vector<ResultRow> rows = {MakeRow(1), MakeRow(2, "a \"quoted\", long \"\" message"),
                                       MakeRow(3)};
  WriteRows(CsvMode::kReplace, rows);
  const std::string whole = Contents(path_);
  std::vector<size_t> record_ends;
  for (size_t at = 0; (at = whole.find("\r\n", at)) != whole.npos;) record_ends.push_back(at += 2);
  ASSERT_EQ(record_ends.size(), rows.size() + 1);

  for (size_t cut = 0; cut <= whole.size(); ++cut) {
    // Most cuts are alike: of those far from quotes and the ends of lines every eighth is enough.
    const std::string near = whole.substr(cut < 4 ? 0 : cut - 4, 8);
    if (!IsExhaustive() && near.find_first_of("\"\r\n") == near.npos && cut % 8 != 0) continue;
    WriteFile(path_, whole.substr(0, cut));
    size_t complete = 0;  // Rows.
    while (complete < rows.size() && record_ends[complete + 1] <= cut) ++complete;
    std::vector<ResultRow> want(rows.begin(), rows.begin() + complete);
    {
      absl::StatusOr<CsvWriter> writer = CsvWriter::Create(path_, CsvMode::kResume);
      ASSERT_TRUE(writer.ok()) << cut << ": " << writer.status();
      ASSERT_EQ(writer->rows_found(), want) << cut;
      ASSERT_EQ(Contents(path_), whole.substr(0, record_ends[complete])) << cut;
      ASSERT_TRUE(writer->Write(MakeRow(4)).ok());
    }
    want.push_back(MakeRow(4));
    const absl::StatusOr<CsvWriter> again = CsvWriter::Create(path_, CsvMode::kResume);
    ASSERT_TRUE(again.ok()) << cut << ": " << again.status();
    ASSERT_EQ(again->rows_found(), want) << cut;
    ASSERT_EQ(Cells(path_).size(), want.size()) << cut;
  }
}

// The last columns were added one after another; older files lack some of them.
TEST_F(CsvWriterTest, ResumeGivesAnOlderFileTheColumnsThatItLacks) {
  const ResultRow row = MakeRow(1, "a \"quoted\", long message");
  for (int columns = static_cast<int>(Column::kAchievedOccupancy) + 1; columns < kNumColumns;
       ++columns) {
    std::vector<absl::string_view> names, fields;
    for (int i = 0; i < columns; ++i) {
      names.push_back(ColumnName(static_cast<Column>(i)));
      fields.emplace_back(row.Get(static_cast<Column>(i)));
    }
    const std::string old = FormatCsvRecord(names) + FormatCsvRecord(fields);
    for (const char* cut_short : {"", "1,2,3"}) {
      WriteFile(path_, old + cut_short);
      {
        absl::StatusOr<CsvWriter> writer = CsvWriter::Create(path_, CsvMode::kResume);
        ASSERT_TRUE(writer.ok()) << columns << ": " << writer.status();
        EXPECT_EQ(writer->rows_found(), std::vector<ResultRow>({row}));
        ASSERT_TRUE(writer->Write(MakeRow(2)).ok());
      }
      EXPECT_EQ(Rows(path_), Strings({"1", "2"})) << columns;
      EXPECT_FALSE(Exists(path_ + ".new"));
    }
  }
}

TEST_F(CsvWriterTest, ResumeRefusesWhatIsNotOursAndLeavesItAlone) {
  WriteRows(CsvMode::kReplace, {MakeRow(1)});
  const std::string ours = Contents(path_);
  const size_t header = ours.find("\r\n") + 2;
  const struct {
    std::string text;
    std::string named;
  } kCases[] = {
      {"notes", "notes"},
      {"notes\n", "notes"},
      {"\n", "column 1"},
      {absl::StrCat("x", ours), "schema_version"},
      {absl::StrCat("schema_version,time\r\n", "1,2\r\n"), "\"time\""},
      {absl::StrCat(ours.substr(0, header - 2), ",extra\r\n"), "columns"},
      {absl::StrCat("schema_version\r\n"), "columns"},
      {absl::StrCat(ours, "1,2,3\r\n"), "line 3"},
      {absl::StrCat(ours.substr(0, header), "1,x\"y\r\n", ours.substr(header)), "line 2"},
  };
  for (const auto& test : kCases) {
    WriteFile(path_, test.text);
    const absl::StatusOr<CsvWriter> writer = CsvWriter::Create(path_, CsvMode::kResume);
    ASSERT_EQ(writer.status().code(), absl::StatusCode::kFailedPrecondition) << test.text;
    for (const std::string& named : {test.named, path_}) {
      EXPECT_NE(writer.status().message().find(named), absl::string_view::npos) << writer.status();
    }
    EXPECT_EQ(writer.status().message().find('\n'), absl::string_view::npos);
    EXPECT_EQ(Contents(path_), test.text);
  }
}

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
