#include "bindings/cublas/trial_timer.h"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "common/base/status_macros.h"
#include "common/gpu/gpu_runtime.h"

namespace stridewise::drop_in {
namespace {

constexpr double kUsInMs = 1000;

// A timed call.
struct Trial {
  CallShape shape;
  Way way;
  cudaStream_t stream;
  cudaEvent_t start, stop;
};

thread_local std::optional<Trial> open_trial;

CallTrials& Trials() {
  static auto& trials = *new CallTrials;
  return trials;
}

// Calls whose times have not been read yet, by their shapes.
class QueuedTrials {
 public:
  void Push(const Trial& trial) {
    const std::lock_guard<std::mutex> lock(mutex_);
    queued_[trial.shape].push_back(trial);
  }

  // Reads the times of this shape's calls that the device has finished.
  void Collect(const CallShape& shape) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = queued_.find(shape);
    if (found == queued_.end()) return;
    std::vector<Trial> rest;
    for (const Trial& trial : found->second) {
      const absl::StatusOr<bool> finished = gpu::HasCompleted(trial.stop);
      if (finished.ok() && !*finished) {
        rest.push_back(trial);
        continue;
      }
      const absl::StatusOr<double> ms = gpu::ElapsedMs(trial.start, trial.stop);
      if (ms.ok()) {
        Trials().Add(shape, trial.way, kUsInMs * *ms);
      } else {
        Trials().Abandon(shape, trial.way);
      }
      (void)gpu::DestroyEvent(trial.start);
      (void)gpu::DestroyEvent(trial.stop);
    }
    if (rest.empty()) {
      queued_.erase(found);
    } else {
      found->second = rest;
    }
  }

 private:
  std::mutex mutex_;
  std::map<CallShape, std::vector<Trial>> queued_;
};

QueuedTrials& Queued() {
  static auto& queued = *new QueuedTrials;
  return queued;
}

absl::StatusOr<Trial> Start(const CallShape& shape, Way way, cudaStream_t stream) {
  Trial trial = {shape, way, stream, nullptr, nullptr};
  ASSIGN_OR_RETURN(trial.start, gpu::CreateEvent());
  ASSIGN_OR_RETURN(trial.stop, gpu::CreateEvent());
  RETURN_IF_ERROR(gpu::RecordEvent(trial.start, stream));
  return trial;
}

}  // namespace

Way BeginTrial(const CallShape& shape, Way predicted, cudaStream_t stream) {
  open_trial.reset();
  // Events of a capture have no times.
  const absl::StatusOr<uint64_t> capture = gpu::CaptureOf(stream);
  if (!capture.ok() || *capture != 0) return Trials().Known(shape, predicted);
  Queued().Collect(shape);
  const CallTrials::Turn turn = Trials().Next(shape, predicted);
  if (!turn.timed) return turn.way;
  const absl::StatusOr<Trial> trial = Start(shape, turn.way, stream);
  if (trial.ok()) {
    open_trial = *trial;
  } else {
    Trials().Abandon(shape, predicted == Way::kOurs ? Way::kCublas : Way::kOurs);
  }
  return turn.way;
}

void EndTrial(bool queued) {
  if (!open_trial.has_value()) return;
  const Trial trial = *open_trial;
  open_trial.reset();
  if (queued && gpu::RecordEvent(trial.stop, trial.stream).ok()) {
    Queued().Push(trial);
    return;
  }
  Trials().Abandon(trial.shape, trial.way);
  (void)gpu::DestroyEvent(trial.start);
  (void)gpu::DestroyEvent(trial.stop);
}

}  // namespace stridewise::drop_in
