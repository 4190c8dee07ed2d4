#include "common/executor/source_view.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"

namespace stridewise::executor {

// Not in the unnamed namespace, so that the compiler cannot know all the callers. The asm keeps it
// from making two calls into one.
__attribute__((noinline)) uintptr_t WhereIAmCalledFrom() {
  asm volatile("");
  return reinterpret_cast<uintptr_t>(__builtin_return_address(0));
}

namespace {

constexpr char kThisFile[] = "common/executor/source_view_test.cc";

int Occurrences(absl::string_view text, absl::string_view part) {
  return static_cast<int>(std::vector<absl::string_view>(absl::StrSplit(text, part)).size()) - 1;
}

MemoryCounters Global(uint64_t requests, uint64_t sectors, uint64_t ideal_sectors) {
  MemoryCounters counters;
  counters.requests = requests;
  counters.sectors = sectors;
  counters.ideal_sectors = ideal_sectors;
  counters.distinct_bytes = ideal_sectors * 32;
  return counters;
}

MemoryCounters Shared(uint64_t requests, uint64_t wavefronts, uint64_t ideal_wavefronts) {
  MemoryCounters counters;
  counters.requests = requests;
  counters.wavefronts = wavefronts;
  counters.ideal_wavefronts = ideal_wavefronts;
  return counters;
}

// --- CountersByLine ----------------------------------------------------------------------------

TEST(CountersByLine, MergesTheSitesOfALineAndSeparatesKinds) {
  // Two sites of one line, as of an unrolled loop, and one of another.
  const uintptr_t first = WhereIAmCalledFrom(), second = WhereIAmCalledFrom();
  const int line = __LINE__ - 1;
  const uintptr_t below = WhereIAmCalledFrom();
  ASSERT_NE(first, second);

  Profile profile;
  profile.sites[MakeSite(below, EventKind::kGlobalLoad, 2)] = Global(1, 4, 4);
  profile.sites[MakeSite(first, EventKind::kGlobalLoad, 2)] = Global(10, 100, 40);
  profile.sites[MakeSite(second, EventKind::kGlobalLoad, 2)] = Global(20, 200, 80);
  profile.sites[MakeSite(second, EventKind::kGlobalLoad, 3)] = Global(5, 50, 50);
  profile.sites[MakeSite(second, EventKind::kSharedStore, 2)] = Shared(7, 14, 7);
  profile.sites[MakeSite(0, EventKind::kGlobalStore, 2)] = Global(3, 12, 12);

  const std::vector<LineCounters> lines = CountersByLine(profile);
  const std::vector<std::tuple<std::string, int, EventKind, MemoryCounters>> expected = {
      {"", 0, EventKind::kGlobalStore, Global(3, 12, 12)},
      {kThisFile, line, EventKind::kGlobalLoad, Global(35, 350, 170)},
      {kThisFile, line, EventKind::kSharedStore, Shared(7, 14, 7)},
      {kThisFile, line + 2, EventKind::kGlobalLoad, Global(1, 4, 4)},
  };
  ASSERT_EQ(lines.size(), expected.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto& [file, number, kind, counters] = expected[i];
    EXPECT_EQ(lines[i].file, file) << i;
    EXPECT_EQ(lines[i].line, number) << i;
    EXPECT_EQ(lines[i].kind, kind) << i;
    EXPECT_EQ(lines[i].counters, counters) << i;
  }
  EXPECT_TRUE(CountersByLine(Profile()).empty());
}

// --- ReadSource --------------------------------------------------------------------------------

class ReadSourceTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(root_ + "/kernels/folder");
    std::ofstream(root_ + "/kernels/stride.cu") << "one\ntwo\n";
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  const std::string root_ = testing::TempDir() + "/read_source_test";
};

TEST_F(ReadSourceTest, FindsAFileUnderTheRoot) {
  const auto source = ReadSource("kernels/stride.cu", root_);
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ(source->file, "kernels/stride.cu");
  EXPECT_EQ(source->text, "one\ntwo\n");
}

TEST_F(ReadSourceTest, WithoutARootLooksInTheWorkspace) {
  setenv("BUILD_WORKSPACE_DIRECTORY", root_.c_str(), /*replace=*/1);
  const auto source = ReadSource("kernels/stride.cu", "");
  const auto missing = ReadSource("kernels/none.cu", "");
  unsetenv("BUILD_WORKSPACE_DIRECTORY");
  ASSERT_TRUE(source.ok()) << source.status();
  EXPECT_EQ(source->text, "one\ntwo\n");
  EXPECT_TRUE(absl::StrContains(missing.status().message(), root_)) << missing.status();
}

TEST_F(ReadSourceTest, SaysWhereItLooked) {
  for (const char* file : {"kernels/none.cu", "kernels/folder", ""}) {
    const auto source = ReadSource(file, root_);
    EXPECT_EQ(source.status().code(), absl::StatusCode::kNotFound) << file;
    EXPECT_TRUE(absl::StrContains(source.status().message(), root_)) << source.status();
    EXPECT_TRUE(absl::StrContains(source.status().message(), file)) << source.status();
  }
}

// --- The views ---------------------------------------------------------------------------------

const SourceText& Source() {
  static const auto* const source =
      new SourceText{"kernels/stride.cu",
                     "template <typename T>\n"
                     "__global__ void Stride(T* out, const T& \"in\") {\n"
                     "\n"
                     "  tile[y] = in[x] && 'a' < 'b';\n"
                     "  out[x] = 4711;\n"
                     "}\n"};
  return *source;
}

std::vector<std::string> SourceLines() {
  return {"template <typename T>", "__global__ void Stride(T* out, const T& \"in\") {",
          "  tile[y] = in[x] && 'a' < 'b';", "  out[x] = 4711;", "}"};
}

std::vector<LineCounters> Counters() {
  return {
      {"kernels/stride.cu", 4, EventKind::kGlobalLoad, Global(1001, 4004, 4004)},
      {"kernels/stride.cu", 4, EventKind::kSharedStore, Shared(1002, 2004, 1002)},
      {"kernels/stride.cu", 5, EventKind::kGlobalStore, Global(1003, 32096, 4012)},
      {"kernels/views.h", 30, EventKind::kGlobalLoad, Global(104, 416, 416)},
      {"", 0, EventKind::kSharedLoad, Shared(105, 105, 105)},
  };
}

// The row of the text view that ends in `source`.
std::string RowOf(absl::string_view view, absl::string_view source) {
  for (const absl::string_view row : absl::StrSplit(view, '\n')) {
    if (absl::EndsWith(row, source)) return std::string(row);
  }
  return "";
}

TEST(SourceViewText, HasEverySourceLineOnceInOrder) {
  const std::string view = SourceViewText("Stride, 512 x 512", Source(), Counters());
  EXPECT_TRUE(absl::StrContains(view, "Stride, 512 x 512"));
  EXPECT_TRUE(absl::StrContains(view, "kernels/stride.cu"));
  size_t after = 0;
  for (const std::string& line : SourceLines()) {
    EXPECT_EQ(Occurrences(view, absl::StrCat(" | ", line, "\n")), 1) << line << " in\n" << view;
    EXPECT_GT(view.find(absl::StrCat(" | ", line, "\n")), after) << line;
    after = view.find(absl::StrCat(" | ", line, "\n"));
  }
}

TEST(SourceViewText, FiguresStandBesideTheirLine) {
  const std::string view = SourceViewText("Stride", Source(), Counters());
  const std::string store = RowOf(view, "out[x] = 4711;");
  for (const char* figure : {"global store", "1003", "32096", "32.00", "12.5"}) {
    EXPECT_TRUE(absl::StrContains(store, figure)) << figure << " in " << store;
  }
  EXPECT_TRUE(absl::StrContains(RowOf(view, "'a' < 'b';"), "global load")) << view;
  EXPECT_FALSE(absl::StrContains(RowOf(view, "'a' < 'b';"), "shared")) << view;
  // Its second kind is on a row of its own, which comes before the next line's.
  const size_t shared = view.find("1002");
  ASSERT_NE(shared, std::string::npos) << view;
  EXPECT_GT(shared, view.find("'a' < 'b';"));
  EXPECT_LT(shared, view.find("out[x]"));
  EXPECT_TRUE(absl::StrContains(view.substr(shared, view.find('\n', shared) - shared), "2.00"));
}

TEST(SourceViewText, LinesWithoutAccessesHaveNoFigures) {
  const std::string view = SourceViewText("Stride", Source(), Counters());
  for (const char* line : {"template <typename T>", "\"in\") {"}) {
    const std::string row = RowOf(view, line);
    // Nothing but blanks up to the line's number.
    EXPECT_EQ(row.find_first_not_of(' '), row.find(" | ") - 1) << row;
  }
}

TEST(SourceViewText, SourceIsAligned) {
  const std::string view = SourceViewText("Stride", Source(), Counters());
  const size_t column = RowOf(view, "source").find(" | ");
  ASSERT_NE(column, std::string::npos) << view;
  for (const std::string& line : SourceLines()) EXPECT_EQ(RowOf(view, line).find(" | "), column);
}

TEST(SourceViewText, TellsOfAccessesElsewhereAndTheTotal) {
  const std::string view = SourceViewText("Stride", Source(), Counters());
  EXPECT_TRUE(absl::StrContains(view, "kernels/views.h:30")) << view;
  EXPECT_TRUE(absl::StrContains(view, "416")) << view;
  EXPECT_TRUE(absl::StrContains(view, "105")) << view;
  EXPECT_TRUE(absl::StrContains(view, "4420")) << view;  // All the loads' sectors.
}

TEST(SourceViewText, LinesBeyondTheSourceAreElsewhere) {
  const std::string view = SourceViewText(
      "Stride", Source(), {{"kernels/stride.cu", 77, EventKind::kGlobalLoad, Global(1, 4, 4)}});
  EXPECT_TRUE(absl::StrContains(view, "kernels/stride.cu:77")) << view;
}

TEST(SourceViewText, OfNothing) {
  EXPECT_FALSE(SourceViewText("", SourceText(), {}).empty());
  EXPECT_FALSE(SourceViewHtml("", SourceText(), {}).empty());
}

TEST(SourceViewHtml, EscapesTheSourceAndTheTitle) {
  const std::string html = SourceViewHtml("Stride<T>", Source(), Counters());
  for (const char* wrong : {"<typename", "Stride<", "const T& ", "&& ", "'a' < 'b'", "<T>"}) {
    EXPECT_FALSE(absl::StrContains(html, wrong)) << wrong;
  }
  for (const char* right : {"template &lt;typename T&gt;", "Stride&lt;T&gt;", "const T&amp; ",
                            "in[x] &amp;&amp; ", "out[x] = 4711;"}) {
    EXPECT_TRUE(absl::StrContains(html, right)) << right;
  }
}

TEST(SourceViewHtml, HasTheFiguresAndNeedsNothingElse) {
  const std::string html = SourceViewHtml("Stride", Source(), Counters());
  for (const char* figure : {"1001", "2004", "32096", "12.5", "kernels/views.h:30", "4420"}) {
    EXPECT_TRUE(absl::StrContains(html, figure)) << figure;
  }
  for (const char* outside : {"http:", "https:", "src=", "<link", "@import", "url("}) {
    EXPECT_FALSE(absl::StrContains(html, outside)) << outside;
  }
}

TEST(SourceViewHtml, ShadesWhatWastes) {
  const auto shaded = [](uint64_t sectors) {
    const std::string html = SourceViewHtml(
        "Stride", Source(),
        {{"kernels/stride.cu", 4, EventKind::kGlobalLoad, Global(10, 40, 40)},
         {"kernels/stride.cu", 5, EventKind::kGlobalStore, Global(10, sectors, 40)}});
    return html.substr(html.find("<tbody"));
  };
  const std::string coalesced = shaded(40), wasteful = shaded(120);
  EXPECT_FALSE(absl::StrContains(coalesced, "--waste"));
  EXPECT_TRUE(absl::StrContains(wasteful, "--waste:0.5")) << wasteful;  // 80 of 160 sectors.
  // Only the second of the two.
  EXPECT_GT(wasteful.find("--waste"), wasteful.find("in[x]"));
}

}  // namespace
}  // namespace stridewise::executor
