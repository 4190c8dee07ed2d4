#include "benchmarks/harness/random_report.h"

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "benchmarks/harness/distribution.h"
#include "benchmarks/harness/random_shapes.h"
#include "benchmarks/harness/row_comparison.h"
#include "common/base/table.h"

namespace stridewise {
namespace {

// One drawn shape.
struct Shape {
  const ResultRow* row = nullptr;  // The chooser's.
  double ratio = 0;
  const ResultRow* fastest = nullptr;  // Of the kernels; null where none was measured.
  double fastest_ratio = 0;
  double rival_ratio = 0;  // Of the fastest rival or, if it is faster, the peer; 0 without rivals.
  bool is_small = false;

  double regret() const { return fastest_ratio / ratio; }
};

// A way to judge shapes.
struct Metric {
  std::string name;
  Better better;
  bool of_small;  // Judges small shapes, or the others.
};

double ValueOf(const Metric& metric, double ratio) {
  return metric.better == Better::kHigher ? ratio : 1 / ratio;
}

class Report {
 public:
  Report(const Operation& operation, const RandomShapes& random, absl::Span<const ResultRow> rows)
      : operation_(operation), random_(random) {
    const Peer* peer = operation.FindPeer(random_.peer);
    if (peer == nullptr) return;
    metrics_.push_back({random_.rivals.empty() ? std::string(ColumnName(peer->column)) : "vs_best",
                        Better::kHigher, false});
    if (random_.small_bytes > 0) {
      metrics_.push_back({absl::StrCat("time_over_", random_.peer), Better::kLower, true});
    }
    for (const ResultRow& row : rows) AddChooser(row, *peer);
    for (const ResultRow& row : rows) AddKernel(row, *peer);
    for (const ResultRow& row : rows) AddRival(row, *peer);
    for (Shape& shape : shapes_) {
      if (!random_.rivals.empty()) shape.ratio /= std::max(shape.rival_ratio, 1.0);
    }
  }

  const std::vector<Metric>& metrics() const { return metrics_; }
  const std::vector<std::string>& variants() const { return variants_; }

  // Returns the shapes that the metric judges; those of all families for "all".
  std::vector<const Shape*> Of(const Metric& metric, const std::string& variant,
                               const std::string& family) const {
    std::vector<const Shape*> found;
    for (const Shape& shape : shapes_) {
      if (shape.is_small == metric.of_small && VariantOf(*shape.row) == variant &&
          (family == "all" || shape.row->Get(Column::kShapeFamily) == family)) {
        found.push_back(&shape);
      }
    }
    return found;
  }

  std::vector<const Shape*> WorstOf(const Metric& metric, const std::string& variant,
                                    int count) const {
    std::vector<const Shape*> shapes = Of(metric, variant, "all");
    std::stable_sort(shapes.begin(), shapes.end(),
                     [](const Shape* a, const Shape* b) { return a->ratio < b->ratio; });
    shapes.resize(std::min(shapes.size(), static_cast<size_t>(count)));
    return shapes;
  }

  // Calls fn(family, variant, metric's name, distribution) for each that has shapes.
  template <typename Fn>
  void ForEachDistribution(Fn fn) const {
    std::vector<std::string> families;
    for (const ShapeFamily& family : random_.families) families.emplace_back(family.name);
    families.emplace_back("all");
    for (const std::string& variant : variants_) {
      for (const Metric& metric : metrics_) {
        for (const std::string& family : families) {
          const std::vector<const Shape*> shapes = Of(metric, variant, family);
          if (shapes.empty()) continue;
          std::vector<double> values;
          std::vector<double> regrets;
          for (const Shape* shape : shapes) {
            values.push_back(ValueOf(metric, shape->ratio));
            if (shape->fastest != nullptr) regrets.push_back(shape->regret());
          }
          fn(family, variant, metric.name, Distribute(values, metric.better));
          if (regrets.size() < shapes.size()) continue;
          fn(family, variant, "regret_" + metric.name, Distribute(regrets, Better::kLower));
        }
      }
    }
  }

 private:
  // Returns what keeps the row's distribution apart from others: "workspace=no".
  std::string VariantOf(const ResultRow& row) const {
    std::vector<std::pair<Column, std::string>> usual = {
        {Column::kDtype, std::string(operation_.types().front())}, {Column::kL2, "cold"}};
    for (const Axis& axis : operation_.axes()) usual.emplace_back(axis.column, "");
    std::string text;
    for (const auto& [column, value] : usual) {
      const std::string& has = row.Get(column);
      const auto& drawn = random_.drawn;
      if (has == value || std::find(drawn.begin(), drawn.end(), column) != drawn.end()) continue;
      absl::StrAppend(&text, text.empty() ? "" : " ", ColumnName(column), "=", has);
    }
    return text;
  }

  // Returns a key that is equal for rows of one shape under the same conditions.
  static std::string KeyOf(ResultRow row) {
    for (const Column column :
         {Column::kImplementation, Column::kMath, Column::kBlockX, Column::kBlockY}) {
      row.Set(column, "");
    }
    return RowKey(row);
  }

  // Returns the paired ratio of a correct row of a drawn shape.
  static std::optional<double> RatioOf(const ResultRow& row, const Peer& peer) {
    if (row.Get(Column::kShapeFamily).empty() || !IsOk(row)) return std::nullopt;
    const std::optional<double> ratio = Number(row, peer.column);
    if (ratio.value_or(0) <= 0) return std::nullopt;
    return *ratio / peer.scale;
  }

  void AddChooser(const ResultRow& row, const Peer& peer) {
    const std::optional<double> ratio = RatioOf(row, peer);
    if (row.Get(Column::kImplementation) != random_.chooser || !ratio.has_value()) return;
    const auto [place, is_new] = by_key_.emplace(KeyOf(row), shapes_.size());
    if (is_new) shapes_.emplace_back();
    Shape& shape = shapes_[place->second];
    shape.row = &row;
    shape.ratio = *ratio;
    const Point point = PointOf(operation_, row);
    shape.is_small = operation_.MakeProblem(point)->work().bytes < random_.small_bytes;
    const std::string variant = VariantOf(row);
    if (std::find(variants_.begin(), variants_.end(), variant) == variants_.end()) {
      variants_.push_back(variant);
    }
  }

  void AddKernel(const ResultRow& row, const Peer& peer) {
    const std::optional<double> ratio = RatioOf(row, peer);
    const auto& kernels = random_.kernels;
    const std::string& name = row.Get(Column::kImplementation);
    if (!ratio.has_value() || std::find(kernels.begin(), kernels.end(), name) == kernels.end()) {
      return;
    }
    const auto place = by_key_.find(KeyOf(row));
    if (place == by_key_.end()) return;
    Shape& shape = shapes_[place->second];
    if (*ratio <= shape.fastest_ratio) return;
    shape.fastest = &row;
    shape.fastest_ratio = *ratio;
  }

  void AddRival(const ResultRow& row, const Peer& peer) {
    const std::optional<double> ratio = RatioOf(row, peer);
    const auto& rivals = random_.rivals;
    const std::string& name = row.Get(Column::kImplementation);
    const auto place = by_key_.find(KeyOf(row));
    if (!ratio.has_value() || std::find(rivals.begin(), rivals.end(), name) == rivals.end() ||
        place == by_key_.end()) {
      return;
    }
    Shape& shape = shapes_[place->second];
    shape.rival_ratio = std::max(shape.rival_ratio, *ratio);
  }

  const Operation& operation_;
  const RandomShapes& random_;
  std::vector<Metric> metrics_;
  std::vector<Shape> shapes_;             // In the order of the rows.
  std::map<std::string, size_t> by_key_;  // Indices of shapes_.
  std::vector<std::string> variants_;     // As first seen.
};

std::string Digits(double value) { return absl::StrFormat("%.3f", value); }

std::string Distributions(const Report& report) {
  std::vector<TableColumn> columns = {
      {"family", 12, false}, {"variant", 12, false}, {"metric", 23, false}};
  for (const std::string& name : DistributionNames()) columns.push_back({name, 7, true});
  std::ostringstream text;
  Table table(columns, &text);
  table.PrintHeader();
  report.ForEachDistribution([&](const std::string& family, const std::string& variant,
                                 const std::string& metric, const Distribution& distribution) {
    std::vector<std::string> cells = {family, variant.empty() ? "-" : variant, metric};
    for (std::string& cell : DistributionTexts(distribution)) cells.push_back(std::move(cell));
    table.PrintRow(cells);
  });
  return text.str();
}

std::string WorstShapes(const Metric& metric, const std::string& chooser,
                        absl::Span<const Shape* const> shapes) {
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
  for (const Shape* shape : shapes) {
    const ResultRow& row = *shape->row;
    const std::string& chosen = row.Get(Column::kChosen);
    std::vector<std::string> cells = {ShapeText(row), row.Get(Column::kDtype),
                                      Digits(ValueOf(metric, shape->ratio)),
                                      chosen.empty() ? chooser : chosen};
    if (shape->fastest == nullptr) {
      cells.insert(cells.end(), 3, "-");
    } else {
      cells.insert(cells.end(),
                   {shape->fastest->Get(Column::kImplementation),
                    Digits(ValueOf(metric, shape->fastest_ratio)), Digits(shape->regret())});
    }
    table.PrintRow(cells);
  }
  return text.str();
}

}  // namespace

std::string RandomText(const Operation& operation, const RandomShapes& random,
                       absl::Span<const ResultRow> rows, int worst) {
  const Report report(operation, random, rows);
  if (report.variants().empty()) return "";
  std::string text = absl::StrCat("\nRandom shapes, ", random.chooser, " beside ", random.peer);
  if (random.small_bytes > 0) {
    absl::StrAppend(&text, "; time_over_", random.peer, " where less than ",
                    random.small_bytes / 1e6, " MB are moved, the others by speed");
  }
  absl::StrAppend(&text, ":\n", Distributions(report));
  for (const std::string& variant : report.variants()) {
    for (const Metric& metric : report.metrics()) {
      const std::vector<const Shape*> shapes = report.WorstOf(metric, variant, worst);
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
  const Report report(operation, random, rows);
  report.ForEachDistribution([&](const std::string& family, const std::string& variant,
                                 const std::string& metric, const Distribution& distribution) {
    std::vector<std::string> record = {std::string(operation.name()), family, variant, metric};
    for (std::string& text : DistributionTexts(distribution)) record.push_back(std::move(text));
    record.push_back(rows.back().Get(Column::kGitCommit));
    records.push_back(std::move(record));
  });
  return records;
}

std::vector<Config> KernelsAtWorst(const Operation& operation, const RandomShapes& random,
                                   absl::Span<const ResultRow> rows, int worst) {
  const Report report(operation, random, rows);
  std::vector<Config> configs;
  for (const std::string& variant : report.variants()) {
    for (const Metric& metric : report.metrics()) {
      for (const Shape* shape : report.WorstOf(metric, variant, worst)) {
        const Point point = PointOf(operation, *shape->row);
        for (const std::string& name : random.kernels) {
          const Implementation* kernel = operation.Find(name);
          if (kernel == nullptr || !operation.Takes(*kernel, point) ||
              !operation.CheckSupported(*kernel, point).ok()) {
            continue;
          }
          configs.push_back({&operation, kernel, point, kernel->default_block,
                             shape->row->Get(Column::kShapeFamily)});
        }
      }
    }
  }
  return configs;
}

}  // namespace stridewise
