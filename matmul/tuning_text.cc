// The text of tuning files, written and read; docs/tuning.md describes the format.

#include <cmath>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "common/base/status_macros.h"
#include "matmul/cost_model.h"
#include "matmul/tuning.h"

namespace stridewise {
namespace {

constexpr absl::string_view kFirstLine = "stridewise_tuning 1";
constexpr absl::string_view kDevice = "device ";
constexpr absl::string_view kAtLeast = ">=";

using Words = std::vector<absl::string_view>;

Words WordsOf(absl::string_view line) {
  return absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty());
}

// Sets *number to the word, a finite number of at least `least`.
bool ParseNumber(absl::string_view word, double least, double* number) {
  return absl::SimpleAtod(word, number) && std::isfinite(*number) && *number >= least;
}

bool ParseFeature(absl::string_view name, MatMulFeature* feature) {
  for (size_t i = 0; i < kMatMulFeatures; ++i) {
    *feature = static_cast<MatMulFeature>(i);
    if (name == MatMulFeatureName(*feature)) return true;
  }
  return false;
}

// Reads a file line by line.
class Parser {
 public:
  absl::Status Add(absl::string_view line) {
    ++line_;
    line = absl::StripAsciiWhitespace(line);
    if (line.empty() || line.front() == '#') return absl::OkStatus();
    if (!begun_) {
      begun_ = true;
      return line == kFirstLine ? absl::OkStatus() : Wrong(absl::StrCat("not '", kFirstLine, "'"));
    }
    if (absl::ConsumePrefix(&line, kDevice)) {
      tuning_.device = std::string(absl::StripAsciiWhitespace(line));
      return absl::OkStatus();
    }
    const Words words = WordsOf(line);
    if (words[0] == "compute_capability") return AddCount(words, &tuning_.compute_capability);
    if (words[0] == "multiprocessors") return AddCount(words, &tuning_.multiprocessors);
    if (words[0] == "memory_gbps") return AddCount(words, &tuning_.memory_gbps);
    if (words[0] == "kernel") return AddKernel(words);
    if (words[0] == "us") return AddCosts(words);
    if (words[0] == "within") return AddRange(words);
    if (words[0] == "times") return AddCorrection(words);
    return Wrong(absl::StrCat("it begins with '", words[0],
                              "'; allowed is device, compute_capability, multiprocessors, "
                              "memory_gbps, kernel, us, within, times and #"));
  }

  absl::StatusOr<MatMulTuning> Finish() {
    if (!begun_) return absl::InvalidArgumentError(absl::StrCat("no line '", kFirstLine, "'"));
    for (const auto& [name, value] : {std::pair("compute_capability", tuning_.compute_capability),
                                      std::pair("multiprocessors", tuning_.multiprocessors)}) {
      if (value == 0) return absl::InvalidArgumentError(absl::StrCat("no line '", name, " N'"));
    }
    if (tuning_.kernels.empty()) return absl::InvalidArgumentError("no line 'kernel NAME'");
    return std::move(tuning_);
  }

 private:
  absl::Status Wrong(absl::string_view why) const {
    return absl::InvalidArgumentError(absl::StrCat("line ", line_, ": ", why));
  }

  absl::Status AddCount(const Words& words, int* count) {
    constexpr int kMost = 1 << 20;
    if (words.size() == 2 && absl::SimpleAtoi(words[1], count) && *count > 0 && *count <= kMost) {
      return absl::OkStatus();
    }
    return Wrong(absl::StrCat(words[0], " is not followed by one number from 1 to ", kMost));
  }

  absl::Status AddKernel(const Words& words) {
    if (words.size() != 2) return Wrong("kernel is not followed by one name");
    if (tuning_.Find(words[1]) != nullptr) {
      return Wrong(absl::StrCat("kernel ", words[1], " stands twice"));
    }
    tuning_.kernels.push_back({std::string(words[1]), {}});
    return absl::OkStatus();
  }

  absl::Status AddCosts(const Words& words) {
    if (tuning_.kernels.empty()) return Wrong("us stands before the first kernel");
    if (words.size() % 2 == 0) return Wrong("us is not followed by pairs of a name and a number");
    for (size_t i = 1; i < words.size(); i += 2) {
      const auto* const field =
          std::find_if(std::begin(kMatMulCostFields), std::end(kMatMulCostFields),
                       [&](const MatMulCostField& f) { return f.name == words[i]; });
      if (field == std::end(kMatMulCostFields)) {
        return Wrong(absl::StrCat("there is no work called '", words[i], "'"));
      }
      if (!ParseNumber(words[i + 1], 0, &(tuning_.kernels.back().model.costs.*field->cost))) {
        return Wrong(absl::StrCat(words[i], ": '", words[i + 1],
                                  "' is not allowed; allowed is a number from 0 on"));
      }
    }
    return absl::OkStatus();
  }

  absl::Status AddRange(const Words& words) {
    if (tuning_.kernels.empty()) return Wrong("within stands before the first kernel");
    MatMulCostModel& model = tuning_.kernels.back().model;
    if (words.size() == 3 && ParseNumber(words[1], kLeastCorrection, &model.least_correction) &&
        ParseNumber(words[2], model.least_correction, &model.most_correction) &&
        model.most_correction <= kMostCorrection) {
      return absl::OkStatus();
    }
    return Wrong(absl::StrCat("within is not followed by two factors from ", kLeastCorrection,
                              " to ", kMostCorrection, ", the lesser first"));
  }

  absl::Status AddCorrection(const Words& words) {
    constexpr size_t kQuestions = MatMulCorrection::kQuestions;
    constexpr size_t kFactors = size_t{1} << kQuestions;
    if (tuning_.kernels.empty()) return Wrong("times stands before the first kernel");
    if (words.size() != 1 + kQuestions + 1 + kFactors || words[1 + kQuestions] != "?") {
      return Wrong(absl::StrCat("times is not followed by ", kQuestions, " comparisons, '?' and ",
                                kFactors, " factors"));
    }
    MatMulCorrection correction;
    for (size_t i = 0; i < kQuestions; ++i) {
      const std::pair<absl::string_view, absl::string_view> sides =
          absl::StrSplit(words[1 + i], absl::MaxSplits(kAtLeast, 1));
      double threshold = 0;
      if (!ParseFeature(sides.first, &correction.features[i]) ||
          !ParseNumber(sides.second, 0, &threshold)) {
        return Wrong(absl::StrCat("'", words[1 + i], "' is not FEATURE", kAtLeast, "NUMBER"));
      }
      correction.thresholds[i] = static_cast<float>(threshold);
    }
    for (size_t i = 0; i < kFactors; ++i) {
      double factor = 0;
      const absl::string_view word = words[2 + kQuestions + i];
      if (!ParseNumber(word, kLeastCorrection, &factor) || factor > kMostCorrection) {
        return Wrong(absl::StrCat("'", word, "' is not a factor from ", kLeastCorrection, " to ",
                                  kMostCorrection));
      }
      correction.factors[i] = static_cast<float>(factor);
    }
    tuning_.kernels.back().model.corrections.push_back(correction);
    return absl::OkStatus();
  }

  MatMulTuning tuning_;
  int line_ = 0;
  bool begun_ = false;
};

}  // namespace

std::string TuningText(const MatMulTuning& tuning) {
  std::string text =
      absl::StrCat(kFirstLine, "\n", kDevice, tuning.device, "\ncompute_capability ",
                   tuning.compute_capability, "\nmultiprocessors ", tuning.multiprocessors, "\n");
  if (tuning.memory_gbps > 0) absl::StrAppend(&text, "memory_gbps ", tuning.memory_gbps, "\n");
  for (const MatMulKernelTuning& of_kernel : tuning.kernels) {
    absl::StrAppend(&text, "kernel ", of_kernel.kernel, "\n  us");
    for (const MatMulCostField& field : kMatMulCostFields) {
      const double cost = of_kernel.model.costs.*field.cost;
      if (cost > 0) absl::StrAppendFormat(&text, " %s %.4g", field.name, cost);
    }
    const MatMulCostModel& model = of_kernel.model;
    absl::StrAppendFormat(&text, "\n  within %.4g %.4g\n", model.least_correction,
                          model.most_correction);
    for (const MatMulCorrection& correction : of_kernel.model.corrections) {
      text += "  times";
      for (int i = 0; i < MatMulCorrection::kQuestions; ++i) {
        absl::StrAppendFormat(&text, " %s%s%.6g", MatMulFeatureName(correction.features[i]),
                              kAtLeast, correction.thresholds[i]);
      }
      text += " ?";
      for (const float factor : correction.factors) absl::StrAppendFormat(&text, " %.4g", factor);
      text += "\n";
    }
  }
  return text;
}

absl::StatusOr<MatMulTuning> ParseTuning(absl::string_view text) {
  Parser parser;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    RETURN_IF_ERROR(parser.Add(line));
  }
  return parser.Finish();
}

absl::StatusOr<MatMulTuning> LoadTuning(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return absl::NotFoundError(absl::StrCat("cannot read \"", path, "\""));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (file.bad()) return absl::NotFoundError(absl::StrCat("cannot read \"", path, "\""));
  absl::StatusOr<MatMulTuning> tuning = ParseTuning(text);
  if (tuning.ok()) return tuning;
  return absl::InvalidArgumentError(absl::StrCat("\"", path, "\": ", tuning.status().message()));
}

}  // namespace stridewise
