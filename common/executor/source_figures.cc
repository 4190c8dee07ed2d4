#include "common/executor/source_figures.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "common/executor/trace.h"

namespace stridewise::executor {
namespace {

// Counts what the launch moved and what it wasted.
struct Traffic {
  double moved = 0;
  double ideal = 0;
};

Traffic TrafficOf(EventKind kind, const MemoryCounters& counters) {
  if (!IsShared(kind)) {
    return {static_cast<double>(counters.sectors), static_cast<double>(counters.ideal_sectors)};
  }
  return {static_cast<double>(counters.wavefronts), static_cast<double>(counters.ideal_wavefronts)};
}

FigureRow Figures(EventKind kind, const MemoryCounters& counters, double moved_in_all) {
  FigureRow row;
  if (!IsShared(kind)) {
    row.cells = {std::string(KindName(kind)),
                 absl::StrCat(counters.requests),
                 absl::StrCat(counters.sectors),
                 "",
                 absl::StrFormat("%.2f", counters.SectorsPerRequest()),
                 absl::StrFormat("%.1f %%", 100 * counters.SectorEfficiency())};
  } else {
    row.cells = {std::string(KindName(kind)),
                 absl::StrCat(counters.requests),
                 "",
                 absl::StrCat(counters.wavefronts),
                 absl::StrFormat("%.2f", counters.WavefrontsPerRequest()),
                 ""};
  }
  const Traffic traffic = TrafficOf(kind, counters);
  if (moved_in_all > 0) row.waste = std::max(0.0, (traffic.moved - traffic.ideal) / moved_in_all);
  return row;
}

}  // namespace

absl::string_view KindName(EventKind kind) {
  switch (kind) {
    case EventKind::kBasicBlock:
      break;
    case EventKind::kGlobalLoad:
      return "global load";
    case EventKind::kGlobalStore:
      return "global store";
    case EventKind::kGlobalAtomic:
      return "global atomic";
    case EventKind::kSharedLoad:
      return "shared load";
    case EventKind::kSharedStore:
      return "shared store";
    case EventKind::kSharedAtomic:
      return "shared atomic";
    case EventKind::kSharedCopy:
      return "shared copy";
  }
  return "";
}

const std::array<FigureColumn, kFigureColumns> kFigures = {{
    {"access",
     "Load, store or atomic, of global memory or of the block's shared memory; or a cp.async to "
     "it."},
    {"requests", "The number of times that a warp issued it, once for up to 32 threads."},
    {"sectors", "The aligned pieces of 32 bytes, in which global memory moves, that it accessed."},
    {"wavefronts",
     "Passes through the 32 banks of shared memory; unnecessary passes are bank conflicts."},
    {"per request", "Sectors or wavefronts; 32 threads of 4 bytes each need 4 or 1."},
    {"efficiency", "The fraction of the sectors' bytes that threads requested."},
}};

SourceRows ArrangeFigures(const SourceText& source, const std::vector<LineCounters>& lines) {
  SourceRows rows;
  int number = 0;
  for (const absl::string_view line : absl::StrSplit(absl::StripSuffix(source.text, "\n"), '\n')) {
    rows.source.push_back({++number, std::string(absl::StripSuffix(line, "\r")), {}});
  }

  std::map<EventKind, MemoryCounters> totals;
  double sectors = 0, wavefronts = 0;
  for (const LineCounters& line : lines) {
    totals[line.kind].Add(line.counters);
    sectors += static_cast<double>(line.counters.sectors);
    wavefronts += static_cast<double>(line.counters.wavefronts);
  }
  const auto figures = [&](EventKind kind, const MemoryCounters& counters) {
    return Figures(kind, counters, IsShared(kind) ? wavefronts : sectors);
  };

  for (const LineCounters& line : lines) {
    const FigureRow row = figures(line.kind, line.counters);
    if (line.file == source.file && line.line >= 1 && line.line <= number) {
      rows.source[line.line - 1].figures.push_back(row);
    } else {
      const std::string place =
          line.line == 0 ? "at an unknown line" : absl::StrCat("at ", line.file, ":", line.line);
      if (rows.elsewhere.empty() || rows.elsewhere.back().text != place) {
        rows.elsewhere.push_back({0, place, {}});
      }
      rows.elsewhere.back().figures.push_back(row);
    }
  }
  rows.total.text = "in all";
  for (const auto& [kind, counters] : totals) {
    rows.total.figures.push_back(figures(kind, counters));
    rows.total.figures.back().waste = 0;  // Only lines are shaded.
  }
  return rows;
}

}  // namespace stridewise::executor
