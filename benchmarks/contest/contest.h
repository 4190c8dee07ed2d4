// Implementations that run for seconds on end, in turn, on operands of one shape.

#ifndef STRIDEWISE_BENCHMARKS_CONTEST_CONTEST_H_
#define STRIDEWISE_BENCHMARKS_CONTEST_CONTEST_H_

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmarks/contest/settings.h"
#include "benchmarks/harness/operation.h"
#include "benchmarks/harness/workload.h"
#include "common/gpu/buffer.h"
#include "common/gpu/cublas_handle.h"
#include "common/measure/sustained.h"

namespace stridewise {

// What runs are queued in.
class ContestQueue {
 public:
  static absl::StatusOr<std::unique_ptr<ContestQueue>> Create();
  ~ContestQueue();
  ContestQueue(const ContestQueue&) = delete;
  ContestQueue& operator=(const ContestQueue&) = delete;

  cudaStream_t stream() const { return stream_; }
  cublasHandle_t cublas() const { return cublas_.get(); }

  // Borrows this.
  SustainedQueue Marks() const;

 private:
  ContestQueue() = default;

  cudaStream_t stream_ = nullptr;
  cudaEvent_t marks_[2] = {};
  CublasHandle cublas_;
};

// A shape's operands on the device, with an output and a workspace for each implementation.
class Contest {
 public:
  // Borrows both.
  static absl::StatusOr<std::unique_ptr<Contest>> Create(const SustainedSettings& settings,
                                                         const Point& point,
                                                         const ContestQueue& queue);

  // Borrow this.
  std::vector<SustainedRun> Runs() const;

  Work work() const { return workload_->problem().work(); }

  // Judges what the last run of each has left.
  absl::Status Verify();

 private:
  struct Entry {
    Binding binding;
    Buffers buffers;
  };

  Contest(const SustainedSettings& settings, const ContestQueue& queue)
      : settings_(settings), queue_(queue) {}

  absl::Status Add(const Implementation& implementation);

  const SustainedSettings& settings_;
  const ContestQueue& queue_;
  std::optional<Workload> workload_;
  std::vector<DeviceBuffer> memory_;
  std::vector<void*> input_data_;
  std::vector<Entry> entries_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_CONTEST_CONTEST_H_
