#include "benchmarks/tuning/tune_report.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/base/sweep_args.h"
#include "common/base/table.h"

namespace stridewise {
namespace {

std::string Digits(double value) { return absl::StrFormat("%.3f", value); }

void SortByRegret(std::vector<TuneChoice>* choices) {
  std::stable_sort(choices->begin(), choices->end(), [](const TuneChoice& x, const TuneChoice& y) {
    return x.Regret() > y.Regret();
  });
}

std::string WorkspaceName(const TuneChoice& choice) {
  return choice.with_workspace ? "asked" : "no";
}

}  // namespace

double MeanRegret(absl::Span<const TuneChoice> choices) {
  double sum = 0;
  for (const TuneChoice& choice : choices) sum += std::log(choice.Regret());
  return std::exp(sum / static_cast<double>(choices.size()));
}

std::vector<std::vector<std::string>> RegretRecords(absl::Span<const TitledChoices> all) {
  std::vector<std::vector<std::string>> records = {
      {"products", "workspace", "shapes", "geomean", "p95", "p99", "worst", "best_chosen_pct"}};
  for (const auto& [title, choices] : all) {
    for (const bool with_workspace : {true, false}) {
      std::vector<TuneChoice> of;
      std::copy_if(choices.begin(), choices.end(), std::back_inserter(of),
                   [&](const TuneChoice& c) { return c.with_workspace == with_workspace; });
      if (of.empty()) continue;
      SortByRegret(&of);
      int right = 0;
      for (const TuneChoice& choice : of) {
        if (choice.chosen == choice.best) ++right;
      }
      const auto number = static_cast<double>(of.size());
      const auto at = [&](double part) {
        return Digits(of[static_cast<size_t>(part * number)].Regret());
      };
      records.push_back({title, WorkspaceName(of.front()), absl::StrCat(of.size()),
                         absl::StrFormat("%.4f", MeanRegret(of)), at(0.05), at(0.01), at(0),
                         absl::StrFormat("%.0f", 100 * right / number)});
    }
  }
  return records;
}

std::string RegretTable(absl::Span<const TitledChoices> all) {
  const std::vector<std::vector<std::string>> records = RegretRecords(all);
  std::vector<TableColumn> columns;
  for (const std::string& title : records.front()) {
    const bool is_name = columns.size() < 2;
    columns.push_back({title, is_name ? 10 : 7, !is_name});
  }
  std::ostringstream text;
  Table table(columns, &text);
  table.PrintHeader();
  for (size_t i = 1; i < records.size(); ++i) table.PrintRow(records[i]);
  return text.str();
}

std::string WorstChoices(std::vector<TuneChoice> choices, size_t count) {
  SortByRegret(&choices);
  choices.resize(std::min(choices.size(), count));
  std::ostringstream text;
  Table table({{"product", 28, false},
               {"workspace", 9, false},
               {"chosen", 17, false},
               {"us", 9, true},
               {"predicted", 9, true},
               {"best", 17, false},
               {"us", 9, true},
               {"regret", 6, true}},
              &text);
  table.PrintHeader();
  for (const TuneChoice& choice : choices) {
    const Point& point = choice.shape->shape.point;
    std::string product = absl::StrCat(ShapeText(point.extents), " ", point.axes[0]);
    if (point.batch > 1) absl::StrAppend(&product, " b", point.batch);
    table.PrintRow({product, WorkspaceName(choice), choice.chosen,
                    choice.is_measured ? absl::StrFormat("%.2f", 1e3 * choice.chosen_ms) : "-",
                    absl::StrFormat("%.2f", choice.predicted_us), choice.best,
                    absl::StrFormat("%.2f", 1e3 * choice.best_ms), Digits(choice.Regret())});
  }
  return text.str();
}

}  // namespace stridewise
