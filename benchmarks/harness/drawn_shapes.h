// Drawn shapes of a sweep with what each is judged by: the ratio of the call that chooses a kernel,
// and that of the fastest kernel that was measured there.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_DRAWN_SHAPES_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_DRAWN_SHAPES_H_

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "benchmarks/harness/distribution.h"
#include "benchmarks/harness/operation.h"
#include "benchmarks/harness/random_shapes.h"
#include "common/measure/result_row.h"

namespace stridewise {

struct DrawnShape {
  const ResultRow* row = nullptr;  // The chooser's.
  double ratio = 0;
  const ResultRow* fastest = nullptr;  // Of the kernels; null where none was measured.
  double fastest_ratio = 0;
  double rival_ratio = 0;  // Of the fastest rival, over the chooser; 0 without rivals.
  double other_ratio = 0;  // Of the fastest other peer, over the peer; 0 where none was measured.
  bool is_small = false;

  double regret() const { return fastest_ratio / ratio; }
};

// A way to judge shapes.
struct ShapeMetric {
  std::string name;
  Better better;
  bool of_small;           // Judges small shapes, or the others.
  bool of_others = false;  // Judges beside all peers the shapes where others were measured.

  // Returns what the metric shows for a ratio of a shape: that, or its inverse where less is
  // better.
  double ValueOf(const DrawnShape& shape, double ratio) const {
    if (of_others) ratio /= std::max(1.0, shape.other_ratio);
    return better == Better::kHigher ? ratio : 1 / ratio;
  }
};

// Refers to the rows, the operation and what was drawn, which outlive it.
class DrawnShapes {
 public:
  DrawnShapes(const Operation& operation, const RandomShapes& random,
              absl::Span<const ResultRow> rows);

  const std::vector<ShapeMetric>& metrics() const { return metrics_; }

  // Returns what keeps distributions apart, such as "workspace=no", as first seen; one of them may
  // be empty. None without drawn shapes.
  const std::vector<std::string>& variants() const { return variants_; }

  // Returns the shapes that the metric judges; those of all families for "all".
  std::vector<const DrawnShape*> Of(const ShapeMetric& metric, const std::string& variant,
                                    const std::string& family) const;

  // Returns at most `count` of all families, the slowest first.
  std::vector<const DrawnShape*> WorstOf(const ShapeMetric& metric, const std::string& variant,
                                         int count) const;

  // Calls fn(family, variant, metric's name, distribution) for each that has shapes.
  template <typename Fn>
  void ForEachDistribution(Fn fn) const {
    std::vector<std::string> families;
    for (const ShapeFamily& family : random_.families) families.emplace_back(family.name);
    families.emplace_back("all");
    for (const std::string& variant : variants_) {
      for (const ShapeMetric& metric : metrics_) {
        for (const std::string& family : families) {
          const std::vector<const DrawnShape*> shapes = Of(metric, variant, family);
          if (shapes.empty()) continue;
          std::vector<double> values;
          std::vector<double> regrets;
          for (const DrawnShape* shape : shapes) {
            values.push_back(metric.ValueOf(*shape, shape->ratio));
            if (shape->fastest != nullptr) regrets.push_back(shape->regret());
          }
          fn(family, variant, metric.name, Distribute(values, metric.better));
          if (regrets.size() < shapes.size() || metric.of_others) continue;
          fn(family, variant, "regret_" + metric.name, Distribute(regrets, Better::kLower));
        }
      }
    }
  }

 private:
  std::string VariantOf(const ResultRow& row) const;
  void AddChooser(const ResultRow& row, const Peer& peer);
  void AddKernel(const ResultRow& row, const Peer& peer);
  // Keeps the largest ratio at the row's shape, if the row is of one of these.
  void AddBeside(const ResultRow& row, const Peer& peer, const std::vector<std::string>& names,
                 double DrawnShape::*ratio_of);

  const Operation& operation_;
  const RandomShapes& random_;
  std::vector<ShapeMetric> metrics_;
  std::vector<DrawnShape> shapes_;        // In the order of the rows.
  std::map<std::string, size_t> by_key_;  // Indices of shapes_ while rows are added.
  std::vector<std::string> variants_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_DRAWN_SHAPES_H_
