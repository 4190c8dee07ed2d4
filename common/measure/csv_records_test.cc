#include "common/measure/csv_records.h"

#include <iterator>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/measure/csv_test_files.h"
#include "gtest/gtest.h"

namespace stridewise {
namespace {

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

}  // namespace
}  // namespace stridewise
