// What the text and the HTML view of a source share: which figures stand beside which line.

#ifndef STRIDEWISE_COMMON_EXECUTOR_SOURCE_FIGURES_H_
#define STRIDEWISE_COMMON_EXECUTOR_SOURCE_FIGURES_H_

#include <array>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/executor/source_view.h"

namespace stridewise::executor {

// A column of figures, with what it means in a sentence.
struct FigureColumn {
  absl::string_view title;
  absl::string_view meaning;
};
inline constexpr int kFigureColumns = 6;
extern const std::array<FigureColumn, kFigureColumns> kFigures;

// One row of figures. A cell without meaning for the kind of access is empty.
struct FigureRow {
  std::array<std::string, kFigureColumns> cells;
  // Of 1: the sectors, or wavefronts, of the whole launch that these accesses waste.
  double waste = 0;
};

// A row for each kind of access, and what they belong to.
struct SourceRow {
  int line = 0;      // 0 where it is not a line of this source.
  std::string text;  // The line of source, or where else it is.
  std::vector<FigureRow> figures;
};

struct SourceRows {
  std::vector<SourceRow> source;     // Every line of the source, in order.
  std::vector<SourceRow> elsewhere;  // Accesses at no line of this source.
  SourceRow total;                   // Of both.
};

SourceRows ArrangeFigures(const SourceText& source, const std::vector<LineCounters>& lines);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_SOURCE_FIGURES_H_
