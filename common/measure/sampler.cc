#include "common/measure/sampler.h"

#include <algorithm>
#include <cmath>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "common/base/status_macros.h"
#include "common/measure/statistics.h"

namespace stridewise {
namespace {

absl::Status CheckOptions(const SamplingOptions& options) {
  // Written so that NaN is refused as well.
  if (!(options.max_noise >= 0) || !(options.max_seconds >= 0) ||
      !(options.min_seconds_of_pairs >= 0) || !(options.max_warmup_seconds >= 0) ||
      options.min_samples < 1 || options.max_samples < options.min_samples) {
    return absl::InvalidArgumentError(
        absl::StrCat("sampling options: max_noise ", options.max_noise, ", max_seconds ",
                     options.max_seconds, ", min_seconds_of_pairs ", options.min_seconds_of_pairs,
                     ", max_warmup_seconds ", options.max_warmup_seconds, ", min_samples ",
                     options.min_samples, ", max_samples ", options.max_samples));
  }
  return absl::OkStatus();
}

absl::StatusOr<double> RunOnce(const Measure& measure) {
  ASSIGN_OR_RETURN(const double ms, measure());
  if (!std::isfinite(ms) || ms < 0) {
    return absl::InternalError(absl::StrCat("a run was measured to take ", ms, " ms"));
  }
  return ms;
}

// Returns whether the last three runs took the same time as the three before them.
bool IsSteady(absl::Span<const double> runs, double max_noise) {
  constexpr size_t kWindow = 3;
  if (runs.size() < 2 * kWindow) return false;
  const double now = Median(runs.last(kWindow));
  const double before = Median(runs.subspan(runs.size() - 2 * kWindow, kWindow));
  return std::abs(now - before) < max_noise * before;
}

// Returns reference / subject for each pair that has such a ratio.
std::vector<double> Ratios(const Samples& samples) {
  std::vector<double> ratios;
  ratios.reserve(samples.reference_ms.size());
  for (size_t i = 0; i < samples.reference_ms.size(); ++i) {
    if (samples.ms[i] > 0) ratios.push_back(samples.reference_ms[i] / samples.ms[i]);
  }
  return ratios;
}

bool HasConverged(const SamplingOptions& options, const Samples& samples) {
  const auto is_known = [&](absl::Span<const double> values) {
    return RelativeHalfWidth(Summarize(values)) <= options.max_noise;
  };
  return static_cast<int>(samples.ms.size()) >= options.min_samples && is_known(samples.ms) &&
         (samples.reference_ms.empty() || is_known(Ratios(samples)));
}

// One call of Sample().
class Sampling {
 public:
  Sampling(const SamplingOptions& options, const Clock& clock, const Measure& subject,
           const Measure& reference, const std::function<bool()>& interrupted)
      : options_(options),
        clock_(clock),
        subject_(subject),
        reference_(reference),
        interrupted_(interrupted) {}

  absl::StatusOr<Samples> Run() {
    RETURN_IF_ERROR(WarmUp());
    RETURN_IF_ERROR(TakeSamples());
    return std::move(samples_);
  }

 private:
  bool Interrupted() {
    samples_.interrupted = samples_.interrupted || (interrupted_ && interrupted_());
    return samples_.interrupted;
  }

  absl::Status WarmUp() {
    const double start = clock_.Now();
    std::vector<double> runs;
    do {
      if (Interrupted()) return absl::OkStatus();
      ASSIGN_OR_RETURN(const double ms, RunOnce(subject_));
      runs.push_back(ms);
      samples_.warmup_runs = static_cast<int>(runs.size());
    } while (clock_.Now() - start < options_.max_warmup_seconds &&
             samples_.warmup_runs < options_.max_samples && !IsSteady(runs, options_.max_noise));
    // The subject has raised the clock; the reference's own first run loads its code.
    if (reference_ && !Interrupted()) RETURN_IF_ERROR(RunOnce(reference_).status());
    return absl::OkStatus();
  }

  absl::Status TakeSamples() {
    const double start = clock_.Now();
    int next_check = options_.min_samples;
    while (!Interrupted()) {
      RETURN_IF_ERROR(TakeOne());
      const int taken = static_cast<int>(samples_.ms.size());
      const bool is_last =
          taken >= options_.max_samples || clock_.Now() - start >= MaxSeconds(taken);
      if (!is_last && taken < next_check) continue;
      samples_.converged = HasConverged(options_, samples_);
      if (is_last || samples_.converged) return absl::OkStatus();
      next_check = taken + std::max(1, taken / 10);
    }
    samples_.converged = HasConverged(options_, samples_);
    return absl::OkStatus();
  }

  double MaxSeconds(int taken) const {
    if (!reference_ || taken >= options_.min_samples) return options_.max_seconds;
    return std::max(options_.max_seconds, options_.min_seconds_of_pairs);
  }

  absl::Status TakeOne() {
    const bool reference_first = samples_.ms.size() % 2 == 1;
    if (reference_ && reference_first) RETURN_IF_ERROR(Append(reference_, &samples_.reference_ms));
    RETURN_IF_ERROR(Append(subject_, &samples_.ms));
    if (reference_ && !reference_first) RETURN_IF_ERROR(Append(reference_, &samples_.reference_ms));
    return absl::OkStatus();
  }

  static absl::Status Append(const Measure& measure, std::vector<double>* to) {
    ASSIGN_OR_RETURN(const double ms, RunOnce(measure));
    to->push_back(ms);
    return absl::OkStatus();
  }

  const SamplingOptions& options_;
  const Clock& clock_;
  const Measure& subject_;
  const Measure& reference_;
  const std::function<bool()>& interrupted_;
  Samples samples_;
};

}  // namespace

absl::StatusOr<Samples> Sample(const SamplingOptions& options, const Clock& clock,
                               const Measure& subject, const Measure& reference,
                               const std::function<bool()>& interrupted) {
  RETURN_IF_ERROR(CheckOptions(options));
  if (!subject) return absl::InvalidArgumentError("there is nothing to sample");
  return Sampling(options, clock, subject, reference, interrupted).Run();
}

double PairedRatio(const Samples& samples) {
  std::vector<double> logarithms = Ratios(samples);
  for (double& ratio : logarithms) ratio = std::log(ratio);
  return std::exp(Median(logarithms));
}

}  // namespace stridewise
