#include "benchmarks/harness/workload.h"

#include <cstring>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"

namespace stridewise {

absl::StatusOr<Workload> Workload::Create(std::unique_ptr<Problem> problem, uint64_t seed,
                                          HostMemory host_memory) {
  Workload workload;
  const std::vector<BufferSpec> specs = problem->inputs();
  for (size_t i = 0; i < specs.size(); ++i) {
    ASSIGN_OR_RETURN(HostBuffer buffer, HostBuffer::Allocate(specs[i].bytes, host_memory));
    workload.inputs_.push_back(buffer.data());
    workload.buffers_.push_back(std::move(buffer));
  }
  ASSIGN_OR_RETURN(workload.output_, HostBuffer::Allocate(problem->output().bytes, host_memory));
  // After all of it is there: filling takes time that a workload which does not fit is not worth.
  for (size_t i = 0; i < specs.size(); ++i) problem->Fill(i, seed, workload.inputs_[i]);
  workload.problem_ = std::move(problem);
  return workload;
}

absl::Status Workload::Run(const Binding& binding) const {
  Buffers buffers;
  buffers.inputs = inputs_;
  buffers.output = output_.data();
  return binding.run(buffers);
}

void Workload::PrepareOutput(const Binding& binding) {
  if (binding.output_starts_as < 0 || output_.bytes() == 0) return;
  std::memcpy(output_.data(), inputs_[static_cast<size_t>(binding.output_starts_as)],
              output_.bytes());
}

absl::Status Workload::Verify(const Implementation& implementation, VerifyMode mode,
                              cublasHandle_t cublas, ResultRow* row) {
  if (mode == VerifyMode::kOff) return absl::OkStatus();
  return problem_->Verify(implementation, {inputs_, output_.data()}, mode, cublas, row);
}

absl::Status Workload::CrossCheck(const std::string& name) {
  for (const auto& [other, result] : kept_) {
    const absl::Status agreement = problem_->CheckAgreement(output_.data(), result.data());
    if (agreement.ok()) continue;
    return absl::Status(agreement.code(),
                        absl::StrCat("differs from ", other, ": ", agreement.message()));
  }
  const char* data = output_.As<char>();
  kept_.emplace_back(name, std::vector<char>(data, data + output_.bytes()));
  return absl::OkStatus();
}

}  // namespace stridewise
