#include "benchmarks/distributed/measuring_rank.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "common/base/status_macros.h"
#include "common/measure/statistics.h"

namespace stridewise {
namespace {

constexpr int kPartialRuns = 3;

}  // namespace

absl::Status MeasuringRank::Measure(const GridDevices& devices, GridMeasurement* measured) {
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

absl::Status MeasuringRank::MeasureAll(const GridDevices& devices, GridMeasurement* measured) {
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

absl::Status MeasuringRank::Open(const GridDevices& devices) {
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
    ASSIGN_OR_RETURN(nccl_,
                     NcclCommunicator::Create(nccl_library_, &control_, device_.communication.get(),
                                              subject_.seconds));
    ranks_ = std::make_unique<TimedCommunicator>(nccl_.get());
  }
  own_ = subject_.by_cublasmp ? Next::kRunCublasMp : Next::kRun;
  if (cublasmp_library_ == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(cublasmp_,
                   CublasMpGrid::Create(cublasmp_library_, nccl_library_, subject_.grid, &control_,
                                        device_.communication.get(), subject_.seconds));
  return BindCublasMp();
}

absl::Status MeasuringRank::BindCublasMp() {
  absl::StatusOr<CublasMpGrid::Call> bound = problem_->Bind(cublasmp_.get());
  const bool refused = absl::IsInternal(bound.status());
  if (!bound.ok() && (subject_.by_cublasmp || !refused)) return bound.status();
  ASSIGN_OR_RETURN(const double refusals, MaxOfRanks(refused ? 1 : 0));
  beside_cublasmp_ = subject_.beside_cublasmp && refusals == 0;
  if (bound.ok()) cublasmp_call_ = *std::move(bound);
  return absl::OkStatus();
}

absl::StatusOr<double> MeasuringRank::TimedRun(Next what, Communicator* ranks,
                                               Communicator* barriers,
                                               std::optional<PartialQueues::Part> part) {
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

absl::StatusOr<MeasuringRank::Next> MeasuringRank::Agree(Next next) {
  double number = control_.rank() == 0 ? static_cast<double>(next) : 0;
  RETURN_IF_ERROR(control_.Sum(absl::MakeSpan(&number, 1)));
  return static_cast<Next>(std::lround(number));
}

absl::StatusOr<double> MeasuringRank::RunTogether(Next next) {
  RETURN_IF_ERROR(Agree(next).status());
  return TimedRun(next);
}

absl::StatusOr<Samples> MeasuringRank::SampleTogether() {
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

absl::Status MeasuringRank::MeasureOverlap(double communication_seconds,
                                           GridMeasurement* measured) {
  SilentCommunicator silent(control_.rank(), control_.size());
  ASSIGN_OR_RETURN(const double alone, MedianOfPart(&silent));
  ASSIGN_OR_RETURN(const double communication_ms, MaxOfRanks(communication_seconds * 1e3));
  SetOverlap(communication_ms, alone, measured);
  return absl::OkStatus();
}

absl::Status MeasuringRank::MeasureOverlapOfCopies(GridMeasurement* measured) {
  if (!problem_->SendsByCopies()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const double copies, MedianOfPart(ranks_.get(), PartialQueues::Part::kCopies));
  ASSIGN_OR_RETURN(const double alone, MedianOfPart(ranks_.get(), PartialQueues::Part::kWork));
  SetOverlap(copies, alone, measured);
  return absl::OkStatus();
}

absl::StatusOr<double> MeasuringRank::MedianOfPart(Communicator* ranks,
                                                   std::optional<PartialQueues::Part> part) {
  std::vector<double> times;
  for (int i = 0; i < kPartialRuns; ++i) {
    ASSIGN_OR_RETURN(const double ms, TimedRun(Next::kRun, ranks, &control_, part));
    times.push_back(ms);
  }
  return Median(times);
}

void MeasuringRank::SetOverlap(double communication_ms, double alone, GridMeasurement* measured) {
  measured->communication_ms = communication_ms;
  if (communication_ms <= 0) return;
  const double added = measured->run.median - alone;
  measured->overlap_pct = std::clamp(100 * (1 - added / communication_ms), 0.0, 100.0);
}

absl::StatusOr<double> MeasuringRank::MaxOfRanks(double value) {
  std::vector<double> values(control_.size());
  values[control_.rank()] = value;
  RETURN_IF_ERROR(control_.Sum(absl::MakeSpan(values)));
  return *std::max_element(values.begin(), values.end());
}

absl::Status MeasuringRank::Verify() {
  if (subject_.verify == VerifyMode::kOff) return absl::OkStatus();
  return problem_->Verify(&control_);
}

}  // namespace stridewise
