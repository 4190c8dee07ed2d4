#include "benchmarks/distributed/grid_measurement.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "benchmarks/distributed/cublasmp_grid.h"
#include "common/base/clock.h"
#include "common/base/status_macros.h"
#include "common/distributed/cublasmp_library.h"
#include "common/distributed/local_ranks.h"
#include "common/distributed/measured_communicator.h"
#include "common/distributed/nccl_communicator.h"
#include "common/distributed/nccl_library.h"
#include "common/distributed/tcp_communicator.h"
#include "common/streaming/partial_queues.h"
#include "common/streaming/stream_queues.h"

namespace stridewise {
namespace {

constexpr int kPartialRuns = 3;

// What rank 0 tells the others to do next.
enum class Next { kEnd = 0, kRun = 1, kRunCublasMp = 2, kStop = 3 };

// One rank while it measures.
class MeasuringRank {
 public:
  MeasuringRank(const GridSubject& subject, const NcclLibrary* nccl,
                const CublasMpLibrary* cublasmp, Communicator* control)
      : subject_(subject), nccl_library_(nccl), cublasmp_library_(cublasmp), control_(*control) {}

  // `measured` is rank 0's to fill.
  absl::Status Measure(const GridDevices& devices, GridMeasurement* measured) {
    const absl::Status status = MeasureAll(devices, measured);
    // All ranks get these answers together, and nobody waits for one that does not come.
    const bool together = status.ok() || absl::IsDataLoss(status) || absl::IsCancelled(status);
    if (!together) {
      if (nccl_ != nullptr) nccl_->Abandon();
      return status;
    }
    if (cublasmp_ == nullptr) return status;
    const absl::Status closed = cublasmp_->Close();
    return status.ok() ? closed : status;
  }

 private:
  absl::Status MeasureAll(const GridDevices& devices, GridMeasurement* measured) {
    RETURN_IF_ERROR(Open(devices));
    RETURN_IF_ERROR(problem_->PoisonResult());
    ASSIGN_OR_RETURN(measured->first_run_ms, TimedRun(own_));
    RETURN_IF_ERROR(Verify());
    if (beside_cublasmp_) RETURN_IF_ERROR(TimedRun(Next::kRunCublasMp).status());
    const double communication = ranks_->seconds();
    runs_ = 0;
    ASSIGN_OR_RETURN(const Samples samples, SampleTogether());
    if (device_.nvml != nullptr) measured->state = device_.nvml->Read();
    measured->run = Summarize(samples.ms);
    if (beside_cublasmp_) measured->over_cublasmp = PairedRatio(samples);
    if (control_.size() > 1 && !subject_.by_cublasmp) {
      RETURN_IF_ERROR(subject_.is_direct
                          ? MeasureOverlapOfCopies(measured)
                          : MeasureOverlap((ranks_->seconds() - communication) / runs_, measured));
    }
    if (subject_.verify != VerifyMode::kFull) return absl::OkStatus();
    RETURN_IF_ERROR(problem_->PoisonResult());
    RETURN_IF_ERROR(TimedRun(own_).status());
    return Verify();
  }

  absl::Status Open(const GridDevices& devices) {
    ASSIGN_OR_RETURN(device_, devices.open(subject_.first_device + control_.rank()));
    ASSIGN_OR_RETURN(memory_, device_.open_queues(0));
    RETURN_IF_ERROR(memory_->Enter());
    ASSIGN_OR_RETURN(problem_, subject_.make_problem(control_.rank()));
    RETURN_IF_ERROR(problem_->MakeOperands(subject_.seed, memory_.get()));
    // Ranks that have no memory do not come here, and nobody waits for them in NCCL.
    RETURN_IF_ERROR(control_.Barrier());
    if (subject_.is_direct) {
      RETURN_IF_ERROR(problem_->ReachPeers(device_.peers.get(), &control_));
      ranks_ = std::make_unique<TimedCommunicator>(&control_);
    } else if (control_.size() == 1) {
      ranks_ = std::make_unique<TimedCommunicator>(&control_);  // Sends nothing.
    } else {
      ASSIGN_OR_RETURN(
          nccl_, NcclCommunicator::Create(nccl_library_, &control_, device_.communication.get(),
                                          subject_.seconds));
      ranks_ = std::make_unique<TimedCommunicator>(nccl_.get());
    }
    own_ = subject_.by_cublasmp ? Next::kRunCublasMp : Next::kRun;
    if (cublasmp_library_ == nullptr) return absl::OkStatus();
    ASSIGN_OR_RETURN(
        cublasmp_, CublasMpGrid::Create(cublasmp_library_, nccl_library_, subject_.grid, &control_,
                                        device_.communication.get(), subject_.seconds));
    return BindCublasMp();
  }

  // A form that cuBLASMp refuses is measured without it.
  absl::Status BindCublasMp() {
    absl::StatusOr<CublasMpGrid::Call> bound = problem_->Bind(cublasmp_.get());
    const bool refused = absl::IsInternal(bound.status());
    if (!bound.ok() && (subject_.by_cublasmp || !refused)) return bound.status();
    ASSIGN_OR_RETURN(const double refusals, MaxOfRanks(refused ? 1 : 0));
    beside_cublasmp_ = subject_.beside_cublasmp && refusals == 0;
    if (bound.ok()) cublasmp_call_ = *std::move(bound);
    return absl::OkStatus();
  }

  // Returns the milliseconds of one run, between two barriers.
  absl::StatusOr<double> TimedRun(Next what) { return TimedRun(what, ranks_.get(), &control_); }

  absl::StatusOr<double> TimedRun(Next what, Communicator* ranks, Communicator* barriers,
                                  std::optional<PartialQueues::Part> part = std::nullopt) {
    ASSIGN_OR_RETURN(const std::unique_ptr<StreamQueues> all,
                     device_.open_queues(problem_->Multiprocessors()));
    std::optional<PartialQueues> some;
    if (part.has_value()) some.emplace(all.get(), *part);
    StreamQueues* const queues = part.has_value() ? &*some : all.get();
    RETURN_IF_ERROR(barriers->Barrier());
    const double begin = clock_.Now();
    if (what == Next::kRunCublasMp) {
      RETURN_IF_ERROR(cublasmp_call_());
    } else {
      RETURN_IF_ERROR(problem_->Run(device_, queues, ranks));
      ++runs_;
    }
    RETURN_IF_ERROR(barriers->Barrier());
    const double ms = (clock_.Now() - begin) * 1e3;
    if (cublasmp_ != nullptr) RETURN_IF_ERROR(cublasmp_->CheckWorkspaces());
    return ms;
  }

  // Rank 0 says what is next, and all return it.
  absl::StatusOr<Next> Agree(Next next) {
    double number = control_.rank() == 0 ? static_cast<double>(next) : 0;
    RETURN_IF_ERROR(control_.Sum(absl::MakeSpan(&number, 1)));
    return static_cast<Next>(std::lround(number));
  }

  absl::StatusOr<double> RunTogether(Next next) {
    RETURN_IF_ERROR(Agree(next).status());
    return TimedRun(next);
  }

  static absl::Status Stopped() { return absl::CancelledError("interrupted"); }

  // Rank 0 samples. The others run what it runs, and have no samples.
  absl::StatusOr<Samples> SampleTogether() {
    if (control_.rank() != 0) {
      while (true) {
        ASSIGN_OR_RETURN(const Next next, Agree(Next::kEnd));
        if (next == Next::kEnd) return Samples();
        if (next == Next::kStop) return Stopped();
        RETURN_IF_ERROR(TimedRun(next).status());
      }
    }
    const stridewise::Measure own = [&] { return RunTogether(own_); };
    const stridewise::Measure reference = [&] { return RunTogether(Next::kRunCublasMp); };
    ASSIGN_OR_RETURN(const Samples samples,
                     Sample(subject_.sampling, clock_, own, beside_cublasmp_ ? reference : nullptr,
                            subject_.interrupted));
    // The others wait for the answer, and rank 0 for them where it ends NCCL's communicators.
    RETURN_IF_ERROR(Agree(samples.interrupted ? Next::kStop : Next::kEnd).status());
    if (samples.interrupted) return Stopped();
    return samples;
  }

  // What the call takes where nothing is sent, of the slowest rank, says what communication adds.
  absl::Status MeasureOverlap(double communication_seconds, GridMeasurement* measured) {
    SilentCommunicator silent(control_.rank(), control_.size());
    ASSIGN_OR_RETURN(const double alone, MedianOfPart(&silent));
    ASSIGN_OR_RETURN(const double communication_ms, MaxOfRanks(communication_seconds * 1e3));
    SetOverlap(communication_ms, alone, measured);
    return absl::OkStatus();
  }

  // The same of a call that sends by copies, which take what the call takes without all else.
  absl::Status MeasureOverlapOfCopies(GridMeasurement* measured) {
    if (!problem_->SendsByCopies()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const double copies, MedianOfPart(ranks_.get(), PartialQueues::Part::kCopies));
    ASSIGN_OR_RETURN(const double alone, MedianOfPart(ranks_.get(), PartialQueues::Part::kWork));
    SetOverlap(copies, alone, measured);
    return absl::OkStatus();
  }

  absl::StatusOr<double> MedianOfPart(Communicator* ranks,
                                      std::optional<PartialQueues::Part> part = std::nullopt) {
    std::vector<double> times;
    for (int i = 0; i < kPartialRuns; ++i) {
      ASSIGN_OR_RETURN(const double ms, TimedRun(Next::kRun, ranks, &control_, part));
      times.push_back(ms);
    }
    return Median(times);
  }

  static void SetOverlap(double communication_ms, double alone, GridMeasurement* measured) {
    measured->communication_ms = communication_ms;
    if (communication_ms <= 0) return;
    const double added = measured->run.median - alone;
    measured->overlap_pct = std::clamp(100 * (1 - added / communication_ms), 0.0, 100.0);
  }

  absl::StatusOr<double> MaxOfRanks(double value) {
    std::vector<double> values(control_.size());
    values[control_.rank()] = value;
    RETURN_IF_ERROR(control_.Sum(absl::MakeSpan(values)));
    return *std::max_element(values.begin(), values.end());
  }

  absl::Status Verify() {
    if (subject_.verify == VerifyMode::kOff) return absl::OkStatus();
    return problem_->Verify(&control_);
  }

  const GridSubject& subject_;
  const NcclLibrary* const nccl_library_;          // Null where nothing asks for it.
  const CublasMpLibrary* const cublasmp_library_;  // Null where it is not asked for.
  Communicator& control_;
  SteadyClock clock_;
  Next own_ = Next::kRun;
  bool beside_cublasmp_ = false;
  int64_t runs_ = 0;  // Of this repository's call, not the silent ones, since sampling began.

  // In the order in which they are needed.
  GridDevice device_;
  std::unique_ptr<StreamQueues> memory_;
  std::unique_ptr<GridProblem> problem_;
  std::unique_ptr<NcclCommunicator> nccl_;
  std::unique_ptr<TimedCommunicator> ranks_;
  std::unique_ptr<CublasMpGrid> cublasmp_;
  CublasMpGrid::Call cublasmp_call_;
};

// Returns that of the device that the others wait for.
DeviceState StateOfSlowest(const std::vector<GridMeasurement>& ranks) {
  const auto clock = [](const GridMeasurement& rank) {
    return rank.state.sm_clock_mhz.value_or(std::numeric_limits<int>::max());
  };
  return std::min_element(ranks.begin(), ranks.end(),
                          [&](const auto& a, const auto& b) { return clock(a) < clock(b); })
      ->state;
}

// Returns why the ranks ended: of one that failed itself, else of one that says so of itself, as
// where its NCCL failed, else of one that lost another.
absl::Status ReasonOf(const std::vector<absl::Status>& results) {
  absl::Status reason;
  for (size_t rank = 0; rank < results.size(); ++rank) {
    const absl::Status& status = results[rank];
    if (status.ok()) continue;
    if (!absl::IsUnavailable(status) && !absl::IsInternal(status)) return status;
    const std::string name = absl::StrCat("rank ", rank, ": ");
    const bool of_itself = absl::StartsWith(status.message(), name);
    if (!reason.ok() && !of_itself) continue;
    reason = absl::InternalError(absl::StrCat(of_itself ? "" : name, status.message()));
    if (of_itself) break;
  }
  return reason;
}

}  // namespace

absl::StatusOr<GridMeasurement> MeasureOnGrid(const GridSubject& subject,
                                              const GridDevices& devices) {
  RETURN_IF_ERROR(devices.check(subject.first_device, subject.grid.size()));
  absl::StatusOr<const NcclLibrary*> nccl = LoadNccl();
  const bool sends_messages = !subject.is_direct && subject.grid.size() > 1;
  if (!nccl.ok() && (sends_messages || subject.by_cublasmp)) return nccl.status();
  GridSubject asked = subject;
  const CublasMpLibrary* cublasmp = nullptr;
  if (subject.by_cublasmp || subject.beside_cublasmp) {
    absl::StatusOr<const CublasMpLibrary*> loaded = LoadCublasMp();
    if (loaded.ok() && !nccl.ok()) loaded = nccl.status();
    if (loaded.ok()) loaded = ForRanks(*loaded, subject.grid.size(), **nccl);
    if (loaded.ok()) {
      cublasmp = *loaded;
    } else if (subject.by_cublasmp) {
      return loaded.status();
    }
  }
  asked.beside_cublasmp = subject.beside_cublasmp && !subject.by_cublasmp && cublasmp != nullptr;
  std::vector<GridMeasurement> measured(subject.grid.size());
  const std::vector<absl::Status> results =
      RunLocalRanks(subject.grid.size(), subject.seconds, [&](TcpCommunicator* control) {
        return MeasuringRank(asked, nccl.ok() ? *nccl : nullptr, cublasmp, control)
            .Measure(devices, &measured[control->rank()]);
      });
  RETURN_IF_ERROR(ReasonOf(results));
  measured[0].state = StateOfSlowest(measured);
  return measured[0];
}

}  // namespace stridewise
