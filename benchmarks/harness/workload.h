// A problem with its operands on the host: random inputs, room for a result, and the results of
// earlier implementations to compare with.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_WORKLOAD_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_WORKLOAD_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "benchmarks/harness/problem.h"
#include "common/base/sweep_args.h"
#include "common/gpu/buffer.h"

namespace stridewise {

class Workload {
 public:
  // Fills the inputs. ResourceExhausted where the host has too little memory.
  static absl::StatusOr<Workload> Create(std::unique_ptr<Problem> problem, uint64_t seed,
                                         HostMemory host_memory);

  const Problem& problem() const { return *problem_; }
  const std::vector<void*>& inputs() const { return inputs_; }
  void* output() const { return output_.data(); }

  // Runs on the host with these buffers.
  absl::Status Run(const Binding& binding) const;

  // Copies the input that the output starts as, where there is one.
  void PrepareOutput(const Binding& binding);
  void PoisonOutput() { output_.Poison(); }

  // Judges the output unless `mode` is kOff; see Problem::Verify().
  absl::Status Verify(const Implementation& implementation, VerifyMode mode, cublasHandle_t cublas,
                      ResultRow* row);

  // Compares the output with those that earlier calls kept under other names, then keeps it.
  // DataLoss, naming the other, if two disagree.
  absl::Status CrossCheck(const std::string& name);

 private:
  std::unique_ptr<Problem> problem_;
  std::vector<HostBuffer> buffers_;
  std::vector<void*> inputs_;
  HostBuffer output_;
  std::vector<std::pair<std::string, std::vector<char>>> kept_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_WORKLOAD_H_
