#include "common/executor/predict/prediction_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "common/executor/source_view.h"
#include "common/executor/symbolizer.h"

namespace stridewise::executor {
namespace {

constexpr double kLeastShare = 0.01;  // Of what is worth a line.

// What the accesses of one kind at one line of the source take.
struct LineTime {
  std::string file;
  int line = 0;
  EventKind kind;
  double ms = 0;
  Totals totals;

  bool MostlyConflicts() const {
    return totals[Quantity::kBankConflicts] > totals[Quantity::kSharedWavefronts] / 2;
  }
};

// By time, the most first.
std::vector<LineTime> TimesByLine(const Demand& demand, const Prediction& prediction) {
  std::vector<uintptr_t> calls;
  for (const auto& [site, ms] : prediction.ms_of_site) calls.push_back(SitePc(site));
  const std::vector<SourceLine> places = SymbolizeCalls(calls);
  std::map<std::tuple<std::string, int, EventKind>, LineTime> by_line;
  size_t i = 0;
  for (const auto& [site, ms] : prediction.ms_of_site) {
    const SourceLine& place = places[i++];
    LineTime& time = by_line[{place.file, place.line, SiteKind(site)}];
    time.file = place.file;
    time.line = place.line;
    time.kind = SiteKind(site);
    time.ms += ms;
    time.totals.Add(demand.sites.at(site));
  }
  std::vector<LineTime> times;
  for (const auto& [key, time] : by_line) times.push_back(time);
  std::stable_sort(times.begin(), times.end(),
                   [](const LineTime& a, const LineTime& b) { return a.ms > b.ms; });
  return times;
}

// What a line asks of a limiter; 0 for limiters that are not of memory instructions.
double Asks(const LineTime& time, Limiter limiter) {
  const Totals& t = time.totals;
  switch (limiter) {
    case Limiter::kDram:
      return t[Quantity::kDramLoadSectors] + t[Quantity::kFullStoreSectors] +
             t[Quantity::kPartialStoreSectors];
    case Limiter::kL2:
      return t[Quantity::kL2LoadSectors] + t[Quantity::kFullStoreSectors] +
             t[Quantity::kPartialStoreSectors];
    case Limiter::kL1:
      return t[Quantity::kLoadTags] + t[Quantity::kStoreTags];
    case Limiter::kShared:
      return t[Quantity::kSharedWavefronts];
    default:
      return 0;
  }
}

}  // namespace

std::string LimiterText(const Demand& demand, const Prediction& prediction) {
  const Limiter limiter = prediction.limiter();
  std::string text =
      absl::StrFormat("%.0f %% of the time %s", 100 * prediction.share(), LimiterName(limiter));
  const std::vector<LineTime> times = TimesByLine(demand, prediction);
  const auto most = std::max_element(
      times.begin(), times.end(),
      [&](const LineTime& a, const LineTime& b) { return Asks(a, limiter) < Asks(b, limiter); });
  if (most == times.end() || Asks(*most, limiter) == 0) return text;
  if (limiter == Limiter::kShared && most->MostlyConflicts()) {
    text = absl::StrFormat("%.0f %% of the time bank conflicts", 100 * prediction.share());
  }
  absl::StrAppend(&text, times.size() > 1 ? ", most in line " : " in line ", most->line);
  return text;
}

std::string PredictionText(const Demand& demand, const Prediction& prediction,
                           const MachineModel& machine) {
  std::string text =
      absl::StrFormat("Predicted for %s, not measured: %.4g ms, %s.\n", machine.description,
                      prediction.ms, LimiterText(demand, prediction));
  std::vector<int> limiters(kLimiters);
  std::iota(limiters.begin(), limiters.end(), 0);
  std::stable_sort(limiters.begin(), limiters.end(),
                   [&](int a, int b) { return prediction.ms_of[a] > prediction.ms_of[b]; });
  const auto line = [&](double ms, const std::string& what) {
    if (ms < kLeastShare * prediction.ms) return;
    absl::StrAppendFormat(&text, "  predicted %3.0f %%  %s\n", 100 * ms / prediction.ms, what);
  };
  for (const int i : limiters) {
    line(prediction.ms_of[i], std::string(LimiterName(static_cast<Limiter>(i))));
  }
  absl::StrAppend(&text, "Of DRAM, L2, L1 and shared memory, by line:\n");
  for (const LineTime& time : TimesByLine(demand, prediction)) {
    std::string what = absl::StrCat("line ", time.line, ", ", std::string(KindName(time.kind)));
    if (time.MostlyConflicts()) absl::StrAppend(&what, ", mostly bank conflicts");
    line(time.ms, what);
  }
  return text;
}

}  // namespace stridewise::executor
