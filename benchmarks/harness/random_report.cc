#include "benchmarks/harness/random_report.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/harness/distribution.h"
#include "benchmarks/harness/drawn_shapes.h"
#include "benchmarks/harness/row_comparison.h"
#include "common/base/table.h"

namespace stridewise {
namespace {

std::string Digits(double value) { return absl::StrFormat("%.3f", value); }

std::string Distributions(const DrawnShapes& drawn) {
  std::vector<TableColumn> columns = {
      {"family", 12, false}, {"variant", 12, false}, {"metric", 23, false}};
  for (const std::string& name : DistributionNames()) columns.push_back({name, 7, true});
  std::ostringstream text;
  Table table(columns, &text);
  table.PrintHeader();
  drawn.ForEachDistribution([&](const std::string& family, const std::string& variant,
                                const std::string& metric, const Distribution& distribution) {
    std::vector<std::string> cells = {family, variant.empty() ? "-" : variant, metric};
    for (std::string& cell : DistributionTexts(distribution)) cells.push_back(std::move(cell));
    table.PrintRow(cells);
  });
  return text.str();
}

std::string WorstShapes(const ShapeMetric& metric, const std::string& chooser,
                        absl::Span<const DrawnShape* const> shapes) {
  std::ostringstream text;
  Table table({{"shape", 26, false},
               {"type", 6, false},
               {metric.name, 10, true},
               {"chosen", 16, false},
               {"fastest kernel", 16, false},
               {metric.name, 10, true},
               {"regret", 6, true}},
              &text);
  table.PrintHeader();
  for (const DrawnShape* shape : shapes) {
    const ResultRow& row = *shape->row;
    const std::string& chosen = row.Get(Column::kChosen);
    std::vector<std::string> cells = {ShapeText(row), row.Get(Column::kDtype),
                                      Digits(metric.ValueOf(*shape, shape->ratio)),
                                      chosen.empty() ? chooser : chosen};
    if (shape->fastest == nullptr) {
      cells.insert(cells.end(), 3, "-");
    } else {
      cells.insert(cells.end(),
                   {shape->fastest->Get(Column::kImplementation),
                    Digits(metric.ValueOf(*shape, shape->fastest_ratio)), Digits(shape->regret())});
    }
    table.PrintRow(cells);
  }
  return text.str();
}

// Adds those of the implementations that take the point, which a family of shapes has drawn.
void AddThoseThatTake(const Operation& operation, const Point& point, const std::string& family,
                      absl::Span<const std::string> names, std::vector<Config>* configs) {
  for (const std::string& name : names) {
    const Implementation* const found = operation.Find(name);
    if (found == nullptr || !operation.Takes(*found, point) ||
        !operation.CheckSupported(*found, point).ok()) {
      continue;
    }
    configs->push_back({&operation, found, point, found->default_block, family});
  }
}

}  // namespace

std::string RandomText(const Operation& operation, const RandomShapes& random,
                       absl::Span<const ResultRow> rows, int worst) {
  const DrawnShapes drawn(operation, random, rows);
  if (drawn.variants().empty()) return "";
  std::string text = absl::StrCat("\nRandom shapes, ", random.chooser, " beside ", random.Peers());
  if (random.small_bytes > 0) {
    absl::StrAppend(&text, "; time_over_", random.peer, " where less than ",
                    random.small_bytes / 1e6, " MB are moved, the others by speed");
  }
  absl::StrAppend(&text, ":\n", Distributions(drawn));
  for (const std::string& variant : drawn.variants()) {
    for (const ShapeMetric& metric : drawn.metrics()) {
      const std::vector<const DrawnShape*> shapes = drawn.WorstOf(metric, variant, worst);
      if (shapes.empty()) continue;
      absl::StrAppend(&text, "\nThe ", shapes.size(), " worst by ", metric.name,
                      variant.empty() ? "" : ", ", variant, ":\n",
                      WorstShapes(metric, random.chooser, shapes));
    }
  }
  return text;
}

std::vector<std::vector<std::string>> DistributionRecords(const Operation& operation,
                                                          const RandomShapes& random,
                                                          absl::Span<const ResultRow> rows) {
  std::vector<std::string> header = {"operation", "family", "variant", "metric"};
  for (std::string& name : DistributionNames()) header.push_back(std::move(name));
  header.emplace_back("git_commit");
  std::vector<std::vector<std::string>> records = {header};
  const DrawnShapes drawn(operation, random, rows);
  drawn.ForEachDistribution([&](const std::string& family, const std::string& variant,
                                const std::string& metric, const Distribution& distribution) {
    std::vector<std::string> record = {std::string(operation.name()), family, variant, metric};
    for (std::string& text : DistributionTexts(distribution)) record.push_back(std::move(text));
    record.push_back(rows.back().Get(Column::kGitCommit));
    records.push_back(std::move(record));
  });
  return records;
}

std::vector<Config> OtherPeers(const Operation& operation, const RandomShapes& random,
                               absl::Span<const ResultRow> rows) {
  std::vector<Config> configs;
  for (const ResultRow& row : rows) {
    const std::string& family = row.Get(Column::kShapeFamily);
    if (row.Get(Column::kImplementation) != random.chooser || family.empty() || !IsOk(row)) {
      continue;
    }
    const Point point = PointOf(operation, row);
    if (point.type == operation.types().front()) continue;
    AddThoseThatTake(operation, point, family, random.other_peers, &configs);
  }
  return configs;
}

std::vector<Config> KernelsAtWorst(const Operation& operation, const RandomShapes& random,
                                   absl::Span<const ResultRow> rows, int worst) {
  const DrawnShapes drawn(operation, random, rows);
  std::vector<Config> configs;
  for (const std::string& variant : drawn.variants()) {
    for (const ShapeMetric& metric : drawn.metrics()) {
      if (metric.of_others) continue;  // Of the same shapes as another one.
      for (const DrawnShape* shape : drawn.WorstOf(metric, variant, worst)) {
        const ResultRow& row = *shape->row;
        AddThoseThatTake(operation, PointOf(operation, row), row.Get(Column::kShapeFamily),
                         random.kernels, &configs);
      }
    }
  }
  return configs;
}

}  // namespace stridewise
