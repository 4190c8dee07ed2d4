#include "common/executor/source_view.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <system_error>
#include <tuple>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "common/executor/source_figures.h"
#include "common/executor/symbolizer.h"
#include "common/executor/trace.h"

namespace stridewise::executor {
namespace {

// The directories that may hold the workspace's files.
std::vector<std::string> SourceRoots() {
  std::vector<std::string> roots;
  if (const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY")) roots.push_back(workspace);
  // Under a test or `bazel run` the variable, otherwise the directory beside the program.
  if (const char* runfiles = std::getenv("RUNFILES_DIR")) {
    roots.push_back(absl::StrCat(runfiles, "/stridewise"));
  }
  char program[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof(program));
  if (length > 0) {
    roots.push_back(absl::StrCat(absl::string_view(program, static_cast<size_t>(length)),
                                 ".runfiles/stridewise"));
  }
  roots.push_back(".");
  return roots;
}

// "access" is text, the other columns are numbers.
std::string Aligned(absl::string_view cell, size_t width, bool left) {
  const std::string padding(width - std::min(width, cell.size()), ' ');
  return left ? absl::StrCat(cell, padding) : absl::StrCat(padding, cell);
}

using Cells = std::array<std::string, kFigureColumns>;

// The widths of the columns of figures and of the line numbers, and rows laid out in them.
class TextLayout {
 public:
  explicit TextLayout(const SourceRows& rows) {
    for (int i = 0; i < kFigureColumns; ++i) widths_[i] = kFigures[i].title.size();
    Widen(rows.source);
    Widen(rows.elsewhere);
    Widen({rows.total});
  }

  // Returns the line without trailing blanks.
  std::string Row(const Cells& cells, absl::string_view number, absl::string_view text) const {
    std::string line;
    for (int i = 0; i < kFigureColumns; ++i) {
      absl::StrAppend(&line, Aligned(cells[i], widths_[i], i == 0), "  ");
    }
    absl::StrAppend(&line, Aligned(number, number_width_, false), " | ", text);
    return std::string(absl::StripTrailingAsciiWhitespace(line)) + "\n";
  }

  // The text stands beside the first row of figures.
  std::string Rows(const SourceRow& row) const {
    const std::string number = row.line == 0 ? "" : absl::StrCat(row.line);
    std::string text = Row(row.figures.empty() ? Cells() : row.figures[0].cells, number, row.text);
    for (size_t i = 1; i < row.figures.size(); ++i) text += Row(row.figures[i].cells, "", "");
    return text;
  }

  std::string Rule() const {
    Cells rules;
    for (int i = 0; i < kFigureColumns; ++i) rules[i].assign(widths_[i], '-');
    return Row(rules, std::string(number_width_, '-'), "------");
  }

 private:
  void Widen(const std::vector<SourceRow>& rows) {
    for (const SourceRow& row : rows) {
      number_width_ = std::max(number_width_, absl::StrCat(row.line).size());
      for (const FigureRow& figures : row.figures) {
        for (int i = 0; i < kFigureColumns; ++i) {
          widths_[i] = std::max(widths_[i], figures.cells[i].size());
        }
      }
    }
  }

  std::array<size_t, kFigureColumns> widths_;
  size_t number_width_ = 4;  // "line".
};

}  // namespace

std::vector<LineCounters> CountersByLine(const Profile& profile) {
  std::vector<uintptr_t> calls;
  for (const auto& [site, counters] : profile.sites) calls.push_back(SitePc(site));
  const std::vector<SourceLine> places = SymbolizeCalls(calls);

  std::map<std::tuple<std::string, int, EventKind>, MemoryCounters> by_line;
  size_t i = 0;
  for (const auto& [site, counters] : profile.sites) {
    const SourceLine& place = places[i++];
    by_line[{place.file, place.line, SiteKind(site)}].Add(counters);
  }
  std::vector<LineCounters> result;
  for (const auto& [key, counters] : by_line) {
    const auto& [file, line, kind] = key;
    result.push_back({file, line, kind, counters});
  }
  return result;
}

absl::StatusOr<SourceText> ReadSource(absl::string_view file, absl::string_view root) {
  const std::vector<std::string> roots =
      root.empty() ? SourceRoots() : std::vector<std::string>{std::string(root)};
  for (const std::string& directory : roots) {
    const std::string path = absl::StrCat(directory, "/", file);
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) continue;
    std::ifstream stream(path, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    if (stream.is_open() && !text.bad()) return SourceText{std::string(file), text.str()};
  }
  return absl::NotFoundError(
      absl::StrCat("no source ", file, " under ", absl::StrJoin(roots, ", ")));
}

std::string SourceViewText(absl::string_view title, const SourceText& source,
                           const std::vector<LineCounters>& lines) {
  const SourceRows rows = ArrangeFigures(source, lines);
  const TextLayout layout(rows);
  Cells titles;
  for (int i = 0; i < kFigureColumns; ++i) titles[i] = std::string(kFigures[i].title);

  std::string text = absl::StrCat(title, "\n", source.file, "\n\n");
  absl::StrAppend(&text, layout.Row(titles, "line", "source"), layout.Rule());
  for (const SourceRow& row : rows.source) text += layout.Rows(row);
  text += layout.Rule();
  for (const SourceRow& row : rows.elsewhere) text += layout.Rows(row);
  absl::StrAppend(&text, layout.Rows(rows.total), "\n");

  size_t widest = 0;
  for (const FigureColumn& column : kFigures) widest = std::max(widest, column.title.size());
  for (const FigureColumn& column : kFigures) {
    absl::StrAppend(&text, Aligned(column.title, widest, true), "  ", column.meaning, "\n");
  }
  return text;
}

}  // namespace stridewise::executor
