#include "benchmarks/contest/contest.h"

#include <cstddef>

#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"
#include "common/gpu/cublas_status.h"
#include "common/gpu/gpu_runtime.h"

namespace stridewise {

absl::StatusOr<std::unique_ptr<ContestQueue>> ContestQueue::Create() {
  std::unique_ptr<ContestQueue> queue(new ContestQueue);
  ASSIGN_OR_RETURN(queue->stream_, gpu::CreateStream());
  for (cudaEvent_t& mark : queue->marks_) {
    ASSIGN_OR_RETURN(mark, gpu::CreateEvent());
  }
  ASSIGN_OR_RETURN(queue->cublas_, CublasHandle::Create());
  RETURN_IF_ERROR(CUBLAS_STATUS(cublasSetStream(queue->cublas_.get(), queue->stream_)));
  return queue;
}

ContestQueue::~ContestQueue() {
  for (const cudaEvent_t mark : marks_) {
    if (mark != nullptr) gpu::DestroyEvent(mark).IgnoreError();
  }
  if (stream_ != nullptr) gpu::DestroyStream(stream_).IgnoreError();
}

SustainedQueue ContestQueue::Marks() const {
  return {[this](int mark) { return gpu::RecordEvent(marks_[mark], stream_); },
          [this](int mark) -> absl::Status {
            while (true) {
              ASSIGN_OR_RETURN(const bool done, gpu::HasCompleted(marks_[mark]));
              if (done) return absl::OkStatus();
            }
          }};
}

absl::StatusOr<std::unique_ptr<Contest>> Contest::Create(const SustainedSettings& settings,
                                                         const Point& point,
                                                         const ContestQueue& queue) {
  std::unique_ptr<Contest> contest(new Contest(settings, queue));
  ASSIGN_OR_RETURN(contest->workload_, Workload::Create(settings.operation->MakeProblem(point),
                                                        settings.seed, HostMemory::kPinned));
  const std::vector<BufferSpec> specs = contest->workload_->problem().inputs();
  for (size_t i = 0; i < specs.size(); ++i) {
    ASSIGN_OR_RETURN(DeviceBuffer input, DeviceBuffer::Allocate(specs[i].bytes));
    RETURN_IF_ERROR(gpu::Copy(input.data(), contest->workload_->inputs()[i], specs[i].bytes));
    contest->input_data_.push_back(input.data());
    contest->memory_.push_back(std::move(input));
  }
  for (const Implementation* implementation : settings.implementations) {
    RETURN_IF_ERROR(contest->Add(*implementation));
  }
  return contest;
}

std::vector<SustainedRun> Contest::Runs() const {
  std::vector<SustainedRun> runs;
  for (const Entry& entry : entries_) {
    runs.push_back([&entry] { return entry.binding.run(entry.buffers); });
  }
  return runs;
}

absl::Status Contest::Verify() {
  for (size_t i = 0; i < entries_.size(); ++i) {
    workload_->PoisonOutput();
    RETURN_IF_ERROR(gpu::Copy(workload_->output(), entries_[i].buffers.output,
                              workload_->problem().output().bytes));
    ResultRow unused;
    RETURN_IF_ERROR(workload_->Verify(*settings_.implementations[i], VerifyMode::kFast,
                                      queue_.cublas(), &unused));
  }
  return absl::OkStatus();
}

absl::Status Contest::Add(const Implementation& implementation) {
  const Problem& problem = workload_->problem();
  Entry entry;
  entry.binding = problem.Bind(implementation, kNoBlock);
  if (entry.binding.output_starts_as >= 0) {
    return RefuseValue("--implementations", implementation.name, "what does not work in place");
  }
  ASSIGN_OR_RETURN(DeviceBuffer output, DeviceBuffer::Allocate(problem.output().bytes));
  ASSIGN_OR_RETURN(DeviceBuffer workspace, DeviceBuffer::Allocate(entry.binding.workspace_bytes));
  RETURN_IF_ERROR(output.Poison());
  entry.buffers = {input_data_, output.data(), workspace.data(), queue_.stream(), queue_.cublas()};
  memory_.push_back(std::move(output));
  memory_.push_back(std::move(workspace));
  entries_.push_back(std::move(entry));
  return absl::OkStatus();
}

}  // namespace stridewise
