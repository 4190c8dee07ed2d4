// One point of an operation's axes as a problem: what it reads, writes and computes, how an
// implementation is bound to buffers, and how a result is judged. A problem holds no operands: see
// workload.h for buffers on the host.

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_PROBLEM_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_PROBLEM_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/base/sweep_args.h"
#include "common/gpu/cuda_handles.h"
#include "common/gpu/implementation.h"
#include "common/measure/result_row.h"

namespace stridewise {

// A point of an operation's axes.
struct Point {
  std::vector<int64_t> extents;   // In the order of Operation::extent_columns().
  std::string type;               // One of Operation::types().
  int64_t batch = 1;              // Problems of one run, one behind the other without gaps.
  std::vector<std::string> axes;  // A value for each of Operation::axes().

  friend bool operator==(const Point& a, const Point& b) {
    return a.extents == b.extents && a.type == b.type && a.batch == b.batch && a.axes == b.axes;
  }
};

// What any implementation must do and move.
struct Work {
  double flops = 0;  // A multiply-add counts as two.
  double bytes = 0;  // Read and written, each element once.
};

struct BufferSpec {
  const char* name;
  size_t bytes;
  int64_t element_bytes;
};

// Memory of one run, on the host, a device or the host executor. Borrowed.
struct Buffers {
  absl::Span<void* const> inputs;
  void* output = nullptr;
  void* workspace = nullptr;
  cudaStream_t stream = nullptr;
  cublasHandle_t cublas = nullptr;
};

// An implementation bound to a problem.
struct Binding {
  size_t workspace_bytes = 0;
  int output_starts_as = -1;  // The input that the output holds before each run; -1 for none.
  std::function<absl::Status(const Buffers& buffers)> run;  // Queues the work, or does it.
};

// A result on the host and what it was made from.
struct Result {
  absl::Span<void* const> inputs;
  const void* output = nullptr;
};

class Problem {
 public:
  virtual ~Problem() = default;

  virtual Work work() const = 0;
  virtual std::vector<BufferSpec> inputs() const = 0;
  virtual BufferSpec output() const = 0;

  // Fills a host copy of an input with random elements.
  virtual void Fill(size_t input, uint64_t seed, void* data) const = 0;

  // Copies the implementation. `block` is kNoBlock for its own.
  virtual Binding Bind(const Implementation& implementation, const Block& block) const = 0;

  // Judges a result; DataLoss if it is wrong. Sets the columns of accuracy where there are any.
  // `cublas` may compute references where it is not null. `mode` is not kOff.
  virtual absl::Status Verify(const Implementation& implementation, const Result& result,
                              VerifyMode mode, cublasHandle_t cublas, ResultRow* row) = 0;

  // Returns DataLoss if two results of implementations that passed Verify() differ by more than
  // both may be off. By default every bit must be the same.
  virtual absl::Status CheckAgreement(const void* output, const void* other) const;

  bool empty() const { return output().bytes == 0; }
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_PROBLEM_H_
