#include "benchmarks/tuning/tensor_fit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"

namespace stridewise {
namespace {

constexpr size_t kLeastSamples = 50;

constexpr const char* kPredictedNames[] = {
    "Tile",   "Divided", "Turned",  "Single",  "Clustered", "Split",  "KParts",
    "Decode", "Pair",    "Lines",   "General", "Tiny",      "Direct", "Ring",
    "Small",  "Vector",  "Shallow", "Copied",  "Rounded",   "Tf32",   "FewTf32"};

constexpr const char* kFeatureNames[] = {
    "M",      "N",    "K",        "Batch", "Less",    "Greater", "Elements",  "Ops",
    "OffA",   "OffB", "VectorsC", "Rows",  "Cols",    "Group",   "Split",     "Transposed",
    "Blocks", "Last", "Waste",    "Steps", "Balance", "Us",      "MemoryGbps"};
static_assert(std::size(kFeatureNames) == kTensorFeatures);

// Returns a constant of type float.
std::string Number(double x) {
  const std::string digits = absl::StrFormat("%.6g", x);
  const bool is_whole = digits.find_first_of(".e") == std::string::npos;
  return absl::StrCat(digits, is_whole ? ".0f" : "f");
}

TensorTable TableOf(const FactorTable<size_t>& boosted) {
  TensorTable table = {};
  for (int i = 0; i < TensorTable::kQuestions; ++i) {
    table.features[i] = static_cast<TensorFeature>(boosted.features[i]);
  }
  std::copy(std::begin(boosted.thresholds), std::end(boosted.thresholds), table.thresholds);
  std::copy(std::begin(boosted.factors), std::end(boosted.factors), table.factors);
  return table;
}

double FastestOf(const TensorProduct& product) {
  double least = std::numeric_limits<double>::infinity();
  for (const TensorTime& time : product) least = std::min(least, time.us);
  return least;
}

using Samples = std::map<TensorPredicted, std::vector<BoostSample>>;

// Returns what predictions, `us` of each, leave of the times of the kernels, all where none is
// named; of those that are, beside what they leave of all others' times in the mean, since a choice
// asks for nothing but ratios.
template <typename Us>
Samples SamplesOf(absl::Span<const TensorProduct> products, const std::set<std::string>& kernels,
                  const Us& us) {
  double others = 0;
  double weights = 0;
  Samples samples;
  for (const TensorProduct& product : products) {
    const double fastest = FastestOf(product);
    double least = std::numeric_limits<double>::infinity();
    for (const TensorTime& time : product) least = std::min(least, us(time.prediction));
    for (const TensorTime& time : product) {
      const TensorPrediction& prediction = time.prediction;
      const double predicted = us(prediction);
      const double error = std::log(time.us / predicted);
      // A slow kernel that is predicted to be fast counts, too: it would be chosen.
      const double weight = WeightOf(std::min(time.us / fastest, predicted / least));
      if (!kernels.empty() && kernels.count(time.kernel) == 0) {
        others += weight * error;
        weights += weight;
        continue;
      }
      samples[prediction.predicted].push_back(
          {{prediction.features.begin(), prediction.features.end()}, error, weight});
    }
  }
  if (weights == 0) return samples;
  for (auto& [predicted, of_predicted] : samples) {
    for (BoostSample& sample : of_predicted) sample.error -= others / weights;
  }
  return samples;
}

// Asks the table's last question, which was not asked, and keeps its factors where the answer is
// yes.
void AskLast(TensorFeature feature, float threshold, TensorTable* table) {
  constexpr int kLast = TensorTable::kQuestions - 1;
  table->features[kLast] = feature;
  table->thresholds[kLast] = threshold;
  for (int i = 0; i < 1 << kLast; ++i) {
    table->factors[i + (1 << kLast)] = table->factors[i];
    table->factors[i] = 1;
  }
}

}  // namespace

TensorTables BuiltInTensorTables() {
  TensorTables tables;
  for (size_t i = 0; i < std::size(kPredictedNames); ++i) {
    const auto predicted = static_cast<TensorPredicted>(i);
    const auto of_predicted = TensorTablesOf(predicted);
    tables[predicted] = {of_predicted.begin(), of_predicted.end()};
  }
  return tables;
}

TensorTables FitTensorTables(absl::Span<const TensorProduct> products,
                             const CorrectionOptions& options) {
  const Samples samples =
      SamplesOf(products, {}, [](const TensorPrediction& prediction) { return prediction.us; });
  TensorTables tables = BuiltInTensorTables();
  for (const auto& [predicted, of_predicted] : samples) {
    if (of_predicted.size() < kLeastSamples) continue;
    tables[predicted].clear();
    for (const FactorTable<size_t>& boosted : BoostTables(of_predicted, options)) {
      tables[predicted].push_back(TableOf(boosted));
    }
  }
  return tables;
}

TensorTables FitOnTop(absl::Span<const TensorProduct> products, const CorrectionOptions& options,
                      double least_gbps, const std::set<std::string>& kernels) {
  TensorTables tables = BuiltInTensorTables();
  CorrectionOptions more = options;
  more.questions = TensorTable::kQuestions - 1;
  Samples samples = SamplesOf(products, kernels, [&](const TensorPrediction& prediction) {
    return CorrectedBy(tables, prediction);
  });
  // Both predictions of tensor_single have the same tables: few times of one of them alone would
  // move it beside the other, which the call could take as well.
  auto& single = samples[TensorPredicted::kSingle];
  auto& clustered = samples[TensorPredicted::kClustered];
  single.insert(single.end(), clustered.begin(), clustered.end());
  clustered = single;
  for (const auto& [predicted, of_predicted] : samples) {
    for (const FactorTable<size_t>& boosted : BoostTables(of_predicted, more)) {
      TensorTable table = TableOf(boosted);
      AskLast(TensorFeature::kMemoryGbps, static_cast<float>(least_gbps), &table);
      tables[predicted].push_back(table);
    }
  }
  return tables;
}

double CorrectedBy(const TensorTables& tables, const TensorPrediction& prediction) {
  const auto found = tables.find(prediction.predicted);
  if (found == tables.end()) return prediction.us;
  return prediction.us * ProductOfFactors(found->second, prediction.features.data(),
                                          1 / kMostTensorFactor, kMostTensorFactor);
}

std::vector<double> RegretsOf(absl::Span<const TensorProduct> products,
                              const TensorTables& tables) {
  std::vector<double> regrets;
  for (const TensorProduct& product : products) {
    const auto chosen = std::min_element(
        product.begin(), product.end(), [&](const TensorTime& x, const TensorTime& y) {
          return CorrectedBy(tables, x.prediction) < CorrectedBy(tables, y.prediction);
        });
    if (chosen != product.end()) regrets.push_back(chosen->us / FastestOf(product));
  }
  std::sort(regrets.begin(), regrets.end());
  return regrets;
}

std::string TextOf(const TensorTables& tables) {
  std::string text =
      "// Written by tensor_tune, not by hand: the corrections of tensor_corrections.h.\n\n";
  std::string cases;
  for (const auto& [predicted, of_predicted] : tables) {
    const char* const name = kPredictedNames[static_cast<size_t>(predicted)];
    absl::StrAppend(&cases, "    case TensorPredicted::k", name, ":\n      return ",
                    of_predicted.empty() ? "{}" : absl::StrCat("k", name, "Corrections"), ";\n");
    if (of_predicted.empty()) continue;
    absl::StrAppend(&text, "constexpr Correction k", name, "Corrections[] = {\n");
    const auto number = [](std::string* to, float x) { to->append(Number(x)); };
    for (const TensorTable& table : of_predicted) {
      absl::StrAppend(&text, "    {{",
                      absl::StrJoin(table.features, ", ",
                                    [](std::string* to, TensorFeature feature) {
                                      absl::StrAppend(to, "Feature::k",
                                                      kFeatureNames[static_cast<size_t>(feature)]);
                                    }),
                      "}, {", absl::StrJoin(table.thresholds, ", ", number), "}, {",
                      absl::StrJoin(table.factors, ", ", number), "}},\n");
    }
    absl::StrAppend(&text, "};\n");
  }
  absl::StrAppend(&text,
                  "\nabsl::Span<const Correction> CorrectionsOf(TensorPredicted predicted) {\n"
                  "  switch (predicted) {\n",
                  cases, "  }\n  return {};\n}\n");
  return text;
}

}  // namespace stridewise
