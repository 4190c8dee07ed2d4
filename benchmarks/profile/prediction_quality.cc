#include "benchmarks/profile/prediction_quality.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <map>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "benchmarks/harness/record_file.h"
#include "common/base/flag_parsing.h"
#include "common/base/status_macros.h"
#include "common/measure/git_commit.h"
#include "common/measure/statistics.h"

namespace stridewise {
namespace {

std::vector<double> Ranks(absl::Span<const double> values) {
  std::vector<double> ranks;
  for (const double v : values) {
    double below = 0, same = 0;
    for (const double w : values) {
      below += w < v;
      same += w == v;
    }
    ranks.push_back(below + (same - 1) / 2);
  }
  return ranks;
}

std::string Number(double value) { return absl::StrFormat("%.5g", value); }

constexpr size_t kLeastOfLadder = 5;  // Kernels, for a rank correlation.

// Writes what figures a set of rows has: errors, or rank correlations of ladders.
class Distribution {
 public:
  explicit Distribution(RecordFile file) : file_(std::move(file)) {}

  static std::vector<std::string> Header() {
    return {"set",           "operation", "what",    "count",      "median",
            "percentile_90", "least",     "largest", "pct_within", "git_commit"};
  }

  absl::Status Add(const std::string& set, const std::string& operation, const std::string& what,
                   std::vector<double> values, double within) {
    if (values.empty()) return absl::OkStatus();
    std::sort(values.begin(), values.end());
    const auto good = [&](double v) {
      return what == "rank correlation" ? v >= within : v <= within;
    };
    const double pct = 100.0 *
                       static_cast<double>(std::count_if(values.begin(), values.end(), good)) /
                       static_cast<double>(values.size());
    std::vector<std::string> record = {set,
                                       operation,
                                       what,
                                       absl::StrCat(values.size()),
                                       Number(Quantile(values, 0.5)),
                                       Number(Quantile(values, 0.9)),
                                       Number(Quantile(values, 0)),
                                       Number(Quantile(values, 1)),
                                       Number(pct),
                                       std::string(GitCommit())};
    std::cout << absl::StrJoin(absl::MakeSpan(record).first(record.size() - 1), "  ") << "\n";
    return file_.Write(record);
  }

 private:
  RecordFile file_;
};

}  // namespace

double RankCorrelation(absl::Span<const double> a, absl::Span<const double> b) {
  const std::vector<double> x = Ranks(a), y = Ranks(b);
  const double mean = (static_cast<double>(x.size()) - 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xy / std::sqrt(xx * yy);
}

absl::Status WritePredictionQuality(const std::string& path,
                                    const std::vector<PredictedRow>& rows) {
  ASSIGN_OR_RETURN(RecordFile file, RecordFile::Create(ResolvePath(path), Distribution::Header(),
                                                       CsvMode::kReplace));
  Distribution distribution(std::move(file));
  for (const std::string half : {"fitted", "judged", "left out", "document"}) {
    for (const std::string operation : {"all", "transpose", "matmul"}) {
      std::vector<double> errors;
      for (const PredictedRow& r : rows) {
        if (r.half == half && (operation == "all" || r.operation == operation)) {
          errors.push_back(100 * r.error());
        }
      }
      RETURN_IF_ERROR(distribution.Add(half, operation, "error %", errors, 35));
    }
  }

  // Ladders: all kernels of a shape and type, each with its first block.
  for (const std::string half : {"all", "judged"}) {
    for (const std::string operation : {"transpose", "matmul"}) {
      std::map<std::string, std::map<std::string, const PredictedRow*>> ladders;
      for (const PredictedRow& r : rows) {
        if (r.machine != "h200" || r.operation != operation || r.half == "left out") continue;
        if (half == "judged" && r.half != half) continue;
        ladders[absl::StrCat(r.type, r.rows, "x", r.cols, "x", r.depth)].emplace(r.kernel, &r);
      }
      std::vector<double> correlations;
      for (const auto& [key, kernels] : ladders) {
        if (kernels.size() < kLeastOfLadder) continue;
        std::vector<double> measured, predicted;
        for (const auto& [name, row] : kernels) {
          measured.push_back(row->measured_ms);
          predicted.push_back(row->predicted.ms);
        }
        correlations.push_back(RankCorrelation(measured, predicted));
      }
      RETURN_IF_ERROR(distribution.Add(half, operation, "rank correlation", correlations, 0.95));
    }
  }

  // The documents: each row of a table over the row before it.
  std::map<std::string, std::vector<double>> steps;
  for (size_t i = 1; i < rows.size(); ++i) {
    const PredictedRow& a = rows[i - 1];
    const PredictedRow& b = rows[i];
    if (b.half != "document" || a.table != b.table || a.machine != b.machine) continue;
    const double error = 100 * std::abs(b.ratio() / a.ratio() - 1);
    steps["documents"].push_back(error);
    steps[b.machine].push_back(error);
  }
  for (const auto& [machine, errors] : steps) {
    RETURN_IF_ERROR(distribution.Add(machine, "transpose", "error of a step %", errors, 30));
  }
  return absl::OkStatus();
}

}  // namespace stridewise
