#include "common/measure/sustained.h"

#include <algorithm>

#include "common/base/status_macros.h"

namespace stridewise {
namespace {

// A batch is this long: the state is read and the clock looked at after each.
constexpr double kBatchSeconds = 0.05;
constexpr int64_t kMostRunsOfBatch = 1000;

absl::Status QueueBatch(const SustainedRun& run, int64_t runs) {
  for (int64_t i = 0; i < runs; ++i) RETURN_IF_ERROR(run());
  return absl::OkStatus();
}

// One contestant, slice after slice.
class Contestant {
 public:
  Contestant(const SustainedRun* run, const SustainedQueue* queue, const Clock* clock,
             const Nvml* nvml)
      : run_(*run), queue_(*queue), clock_(*clock), nvml_(*nvml) {}

  // Runs once for the first launch, and once more for its time.
  absl::Status WarmUp() {
    double seconds = 0;
    for (int i = 0; i < 2; ++i) {
      const double begin = clock_.Now();
      RETURN_IF_ERROR(QueueBatch(run_, 1));
      RETURN_IF_ERROR(Finish());
      seconds = clock_.Now() - begin;
    }
    const double runs = kBatchSeconds / std::max(seconds, kBatchSeconds / kMostRunsOfBatch);
    batch_ = std::max<int64_t>(1, static_cast<int64_t>(runs));
    return absl::OkStatus();
  }

  absl::Status RunSlice(double seconds, const std::function<bool()>& interrupted) {
    const std::optional<double> joules = nvml_.EnergyJoules();
    const double begin = clock_.Now();
    int mark = 0;
    RETURN_IF_ERROR(QueueBatch(run_, batch_));
    RETURN_IF_ERROR(queue_.mark(mark));
    int64_t runs = batch_;
    while (clock_.Now() - begin < seconds) {
      if (interrupted && interrupted()) return absl::CancelledError("interrupted");
      RETURN_IF_ERROR(QueueBatch(run_, batch_));
      RETURN_IF_ERROR(queue_.mark(1 - mark));
      runs += batch_;
      ReadState();
      RETURN_IF_ERROR(queue_.wait(mark));
      mark = 1 - mark;
    }
    RETURN_IF_ERROR(queue_.wait(mark));
    total_.seconds += clock_.Now() - begin;
    total_.runs += runs;
    const std::optional<double> after = nvml_.EnergyJoules();
    if (joules.has_value() && after.has_value()) {
      total_.joules = total_.joules.value_or(0) + *after - *joules;
    }
    return absl::OkStatus();
  }

  Sustained Total() const {
    Sustained total = total_;
    if (clocks_ > 0) total.sm_clock_mhz = clock_sum_ / static_cast<double>(clocks_);
    return total;
  }

 private:
  absl::Status Finish() {
    RETURN_IF_ERROR(queue_.mark(0));
    return queue_.wait(0);
  }

  void ReadState() {
    total_.state = nvml_.Read();
    if (!total_.state.sm_clock_mhz.has_value()) return;
    clock_sum_ += *total_.state.sm_clock_mhz;
    ++clocks_;
  }

  const SustainedRun& run_;
  const SustainedQueue& queue_;
  const Clock& clock_;
  const Nvml& nvml_;
  int64_t batch_ = 1;
  Sustained total_;
  double clock_sum_ = 0;
  int64_t clocks_ = 0;
};

}  // namespace

absl::StatusOr<std::vector<Sustained>> RunSustained(absl::Span<const SustainedRun> contestants,
                                                    const SustainedQueue& queue,
                                                    const SustainedOptions& options,
                                                    const Clock& clock, const Nvml& nvml) {
  std::vector<Contestant> all;
  all.reserve(contestants.size());
  for (const SustainedRun& run : contestants) {
    all.emplace_back(&run, &queue, &clock, &nvml);
    RETURN_IF_ERROR(all.back().WarmUp());
  }
  double left = options.seconds;
  for (bool forward = true; left > 0; forward = !forward) {
    const double slice = std::min(left, options.slice_seconds);
    for (size_t i = 0; i < all.size(); ++i) {
      Contestant& next = all[forward ? i : all.size() - 1 - i];
      RETURN_IF_ERROR(next.RunSlice(slice, options.interrupted));
    }
    left -= slice;
  }
  std::vector<Sustained> totals;
  totals.reserve(all.size());
  for (const Contestant& contestant : all) totals.push_back(contestant.Total());
  return totals;
}

}  // namespace stridewise
