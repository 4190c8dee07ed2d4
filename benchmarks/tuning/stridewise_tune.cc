#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/harness/program_main.h"
#include "benchmarks/harness/record_file.h"
#include "benchmarks/tuning/fit_tuning.h"
#include "benchmarks/tuning/kernel_times.h"
#include "benchmarks/tuning/time_kernels.h"
#include "common/base/clock.h"
#include "common/base/flag_parsing.h"
#include "common/base/status_macros.h"

ABSL_FLAG(std::string, times, "stridewise_tune.csv", "The file of the measured times.");
ABSL_FLAG(std::string, from_csv, "", "x");
ABSL_FLAG(std::string, tuning, "", "x");
ABSL_FLAG(int, corrections, stridewise::kUsualCorrections, "x");
ABSL_FLAG(int, shapes, 2000, "The number of random products.");
ABSL_FLAG(double, budget_seconds, 480, "When measuring ends, whatever is left.");
ABSL_FLAG(uint64_t, tune_seed, 1, "Of the products.");

namespace stridewise {
namespace {

void Report(std::vector<TuneChoice> choices, const char* title) {
  for (const bool ws : {true, false}) {
    std::vector<TuneChoice> of;
    for (const TuneChoice& c : choices) if (c.with_workspace == ws) of.push_back(c);
    std::sort(of.begin(), of.end(), [](const TuneChoice& a, const TuneChoice& b) { return a.Regret() > b.Regret(); });
    double sum = 0; int unmeasured = 0; double abs_err = 0;
    for (const TuneChoice& c : of) { sum += std::log(c.Regret()); unmeasured += !c.is_measured; abs_err += std::abs(std::log(c.predicted_us / 1e3 / c.chosen_ms)); }
    const double n = of.size();
    printf("%s %s: %d shapes, geomean %.4f, 95%% %.3f, 99%% %.3f, worst %.3f, unmeasured %d, error %.3f\n", title, ws ? "asked" : "no", (int)n, std::exp(sum / n), of[(size_t)(0.05 * n)].Regret(), of[(size_t)(0.01 * n)].Regret(), of[0].Regret(), unmeasured, abs_err / n);
    for (size_t i = 0; i < 12 && absl::GetFlag(FLAGS_corrections) % 2 == 1; ++i) {
      const TuneChoice& c = of[i];
      const auto& p = c.shape->shape.point;
      printf("   %.3f %ldx%ldx%ld %s b%ld %s chosen %s %.4f (predicted %.4f) best %s %.4f\n", c.Regret(), p.extents[0], p.extents[1], p.extents[2], p.axes[0].c_str(), p.batch, c.shape->shape.family.c_str(), c.chosen.c_str(), c.chosen_ms, c.predicted_us / 1e3, c.best.c_str(), c.best_ms);
    }
  }
}

absl::StatusOr<int> FromCsv() {
  ASSIGN_OR_RETURN(const TuneData data, ReadTuneData({absl::GetFlag(FLAGS_from_csv)}));
  std::vector<const ShapeTimes*> fit, held;
  for (const ShapeTimes& s : data.shapes) (s.shape.number % 5 == 4 ? held : fit).push_back(&s);
  const SteadyClock clock;
  const double start = clock.Now();
  const MatMulTuning tuning = FitTuning(data, fit, absl::GetFlag(FLAGS_corrections));
  std::cout << "fitted in " << clock.Now() - start << " s\n";
  const MatMulChooser chooser(tuning);
  Report(ChoicesOf(chooser, data.model, fit), "fitted");
  Report(ChoicesOf(chooser, data.model, held), "held out");
  const std::string text = TuningText(tuning);
  std::cout << text.size() << " bytes\n";
  for (absl::string_view line : absl::StrSplit(text, '\n')) if (line.find("times") == line.npos) std::cout << line << "\n";
  if (!absl::GetFlag(FLAGS_tuning).empty()) std::ofstream(absl::GetFlag(FLAGS_tuning)) << text;
  // The time of a choice.
  const double from = clock.Now();
  int count = 0; double us = 0;
  for (int r = 0; r < 20; ++r) for (const ShapeTimes* s : held) { us += chooser.Choose(WithAnyWorkspace(s->args), data.model, RunsOn::kDevice).us; ++count; }
  std::cout << "a choice takes " << 1e9 * (clock.Now() - from) / count << " ns " << us << "\n";
  return kExitOk;
}

absl::StatusOr<int> RunProgram() {
  if (!absl::GetFlag(FLAGS_from_csv).empty()) return FromCsv();
  ASSIGN_OR_RETURN(const DeviceInfo device, OpenDevice(0));
  ASSIGN_OR_RETURN(const std::unique_ptr<GpuTimer> timer, GpuTimer::Create(device, true));
  std::vector<const MatMulImplementation*> kernels;
  for (const MatMulImplementation& i : MatMulImplementations()) {
    if (i.dispatch.work != nullptr) kernels.push_back(&i);
  }
  const SteadyClock clock;
  const double start = clock.Now();
  ASSIGN_OR_RETURN(const std::unique_ptr<KernelTimer> kernel_timer,
                   KernelTimer::Create(device, timer.get(), kernels));
  std::cout << "warm after " << clock.Now() - start << " s\n";
  ASSIGN_OR_RETURN(
      const std::vector<TuneShape> shapes,
      DrawTuneShapes(absl::GetFlag(FLAGS_shapes), absl::GetFlag(FLAGS_tune_seed)));
  ASSIGN_OR_RETURN(RecordFile file,
                   RecordFile::Create(ResolvePath(absl::GetFlag(FLAGS_times)), TuneHeader(),
                                      CsvMode::kReplace));
  CatchInterrupts();
  int measured = 0;
  for (const TuneShape& shape : shapes) {
    if (Interrupted() || clock.Now() - start > absl::GetFlag(FLAGS_budget_seconds)) break;
    ASSIGN_OR_RETURN(const ShapeTimes times, kernel_timer->Measure(shape));
    for (const auto& record : TuneRecords(device.name, kernel_timer->model(), times)) {
      RETURN_IF_ERROR(file.Write(record));
    }
    ++measured;
  }
  std::cout << measured << " products in " << clock.Now() - start << " s\n";
  return kExitOk;
}

}  // namespace
}  // namespace stridewise

int main(int argc, char** argv) {
  return stridewise::ProgramMain(
      argc, argv, "stridewise_tune: fits the choice of MatMul() to this machine's GPU.",
      stridewise::RunProgram);
}
