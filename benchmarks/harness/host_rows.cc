#include "benchmarks/harness/host_rows.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "absl/strings/str_cat.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/harness/row_columns.h"
#include "common/base/status_macros.h"
#include "common/measure/sampler.h"

namespace stridewise {
namespace {

constexpr double kMinSampleSeconds = 20e-6;
constexpr int kMaxCallsOfSample = 1000;

// Several times as long as pools spin (pool_waits.cc).
constexpr std::chrono::milliseconds kUntilThreadsSleep(2);

// A pair of short calls takes 5 ms, most of them rests, so that a short --max_seconds is over after
// a few: with two pairs of four disturbed the middle is a disturbed one. Seven are taken of calls
// of up to 15 ms.
constexpr double kMinSecondsOfPairs = 0.25;

// To wake a thread takes 50 us, to spread threads over the cores some more.
constexpr double kMinSecondsWithoutWaking = 0.02;
constexpr double kWakingSeconds = 200e-6;

// Times one side of a measurement.
class TimedCall {
 public:
  TimedCall(const HostCall& call, bool rests, const Clock& clock)
      : call_(call), rests_(rests), clock_(clock) {}

  // Returns the milliseconds of one call.
  absl::StatusOr<double> RunOnce() {
    if (call_.prepare) call_.prepare();
    const double start = clock_.Now();
    RETURN_IF_ERROR(call_.run());
    seconds_ = clock_.Now() - start;
    if (!call_.prepare) {
      const double calls = std::ceil(kMinSampleSeconds / std::max(seconds_, 1e-9));
      calls_ = static_cast<int>(std::min<double>(calls, kMaxCallsOfSample));
    }
    return seconds_ * 1e3;
  }

  // Returns the milliseconds of a call, as the class's user describes it.
  absl::StatusOr<double> Sample() {
    if (rests_) {
      std::this_thread::sleep_for(kUntilThreadsSleep);
      RETURN_IF_ERROR(Wake());
    }
    if (calls_ <= 1) return RunOnce();
    const double start = clock_.Now();
    for (int i = 0; i < calls_; ++i) RETURN_IF_ERROR(call_.run());
    seconds_ = (clock_.Now() - start) / calls_;
    return seconds_ * 1e3;
  }

 private:
  // Runs short calls untimed, once at least.
  absl::Status Wake() {
    if (seconds_ >= kMinSecondsWithoutWaking) return absl::OkStatus();
    const double start = clock_.Now();
    do {
      RETURN_IF_ERROR(RunOnce().status());
    } while (clock_.Now() - start < kWakingSeconds);
    return absl::OkStatus();
  }

  const HostCall& call_;
  const bool rests_;
  const Clock& clock_;
  double seconds_ = 0;  // Of the last call.
  int calls_ = 1;       // Of a sample.
};

}  // namespace

absl::Status HostRows::CheckTimeout(const std::string& implementation, double work) const {
  const auto last = seconds_per_work_.find(implementation);
  if (last == seconds_per_work_.end()) return absl::OkStatus();
  const double seconds = last->second * work;
  if (seconds <= options_.max_row_seconds) return absl::OkStatus();
  return absl::DeadlineExceededError(absl::StrCat(
      "one run would take about ", seconds, " s; --max_row_seconds is ", options_.max_row_seconds));
}

absl::StatusOr<HostMeasurement> HostRows::Measure(const HostSubject& subject, ResultRow* row) {
  const bool is_paired = subject.reference.run != nullptr;
  TimedCall call(subject.call, is_paired && subject.rests, clock_);
  TimedCall reference(subject.reference, subject.rests, clock_);
  // The row before may have been of another library.
  std::this_thread::sleep_for(kUntilThreadsSleep);
  subject.poison();
  ASSIGN_OR_RETURN(const double first_ms, call.RunOnce());
  row->Set(Column::kFirstLaunchMs, first_ms);
  RETURN_IF_ERROR(subject.verify());
  if (is_paired) {
    RETURN_IF_ERROR(reference.RunOnce().status());
    subject.poison();
  }
  // The first run's time is that of cold caches: too few calls for a sample would follow from it.
  if (first_ms * 1e-3 < kMinSecondsWithoutWaking) {
    if (is_paired) RETURN_IF_ERROR(reference.RunOnce().status());
    RETURN_IF_ERROR(call.RunOnce().status());
  }
  const stridewise::Measure sample = [&] {
    const absl::StatusOr<double> ms = call.Sample();
    if (subject.beside && ms.ok()) subject.beside(*ms);
    return ms;
  };
  const stridewise::Measure sample_reference = [&] { return reference.Sample(); };
  SamplingOptions sampling = options_.sampling;
  sampling.min_seconds_of_pairs = kMinSecondsOfPairs;
  subject.poison();
  ASSIGN_OR_RETURN(
      const Samples samples,
      Sample(sampling, clock_, sample, is_paired ? sample_reference : nullptr, Interrupted));
  if (samples.interrupted) return absl::CancelledError("interrupted");
  // The last of the samples may be the reference's.
  if (is_paired) {
    subject.poison();
    RETURN_IF_ERROR(call.RunOnce().status());
  }
  RETURN_IF_ERROR(subject.verify());
  HostMeasurement measured;
  measured.kernel = Summarize(samples.ms);
  if (is_paired) measured.over_reference = PairedRatio(samples);
  seconds_per_work_[subject.implementation] =
      measured.kernel.median * 1e-3 / std::max(1.0, subject.work);
  SetKernelTimes(measured.kernel, row);
  row->Set(Column::kTotalMs, measured.kernel.median);
  return measured;
}

}  // namespace stridewise
