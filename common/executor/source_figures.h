// Arranges figures beside the lines of a source, for its text and its HTML view.

#ifndef STRIDEWISE_COMMON_EXECUTOR_SOURCE_FIGURES_H_
#define STRIDEWISE_COMMON_EXECUTOR_SOURCE_FIGURES_H_

#include <array>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/executor/source_view.h"

namespace stridewise::executor {

// A column of figures and a sentence that explains it.
struct FigureColumn {
  absl::string_view title;
  absl::string_view meaning;
};
inline constexpr int kFigureColumns = 6;
extern const std::array<FigureColumn, kFigureColumns> kFigures;

// One row of figures. A cell without meaning for the kind of access is empty.
struct FigureRow {
  std::array<std::string, kFigureColumns> cells;
  // The fraction of the whole launch's sectors, or wavefronts, that these accesses waste.
  double waste = 0;
};

// A line of the source with a row of figures for each kind of access.
struct SourceRow {
  int line = 0;      // 0 for accesses that are not at a line of this source.
  std::string text;  // The line's text, or where the accesses are.
  std::vector<FigureRow> figures;
};

struct SourceRows {
  std::vector<SourceRow> source;     // Every line of the source, in order.
  std::vector<SourceRow> elsewhere;  // Accesses in other files.
  SourceRow total;                   // The sum of both.
};

SourceRows ArrangeFigures(const SourceText& source, const std::vector<LineCounters>& lines);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_SOURCE_FIGURES_H_
