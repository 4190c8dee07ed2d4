// The writer: what a file holds, is replaced by, and how it is resumed.

#include "common/measure/csv.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "common/base/case_random.h"
#include "common/measure/csv_records.h"
#include "common/measure/csv_test_files.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

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

}  // namespace
}  // namespace stridewise
