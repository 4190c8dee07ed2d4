// Plans: what a multiplication will run, chosen once and used for many calls of the same shape, as
// users of FFTW and of cuBLASLt know them.
//
//   MatMulPlanOptions options;
//   options.planning = MatMulPlanning::kMeasure;  // Or kEstimate, as MatMul() does.
//   ASSIGN_OR_RETURN(const MatMulPlan plan, PlanMatMul(problem, options));
//   problem.workspace = ...;                      // plan.workspace_bytes() of it.
//   RETURN_IF_ERROR(MatMul(plan, problem, stream));
//
// A plan is of a shape, of a form, and of the alignment of the operands, not of pointers: it may be
// used with other matrices. MatMulPlans keeps the plans of many shapes, and saves and loads them.
//
// A plan changes which kernel runs, and so the order in which products are summed: results with a
// measured plan may differ in the last bits from those of MatMul(), and are the same for the same
// plan and the same workspace.

#ifndef STRIDEWISE_MATMUL_PLAN_H_
#define STRIDEWISE_MATMUL_PLAN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "common/gpu/cuda_handles.h"
#include "matmul/matmul.h"

namespace stridewise {

struct DeviceModel;
struct MatMulDispatch;
struct MatMulImplementation;

enum class MatMulPlanning {
  kEstimate,  // The kernel that is predicted to be the fastest; takes some microseconds.
  kMeasure,  // The fastest of those that are predicted to be among the fastest; takes milliseconds.
};

struct MatMulPlanOptions {
  MatMulPlanning planning = MatMulPlanning::kEstimate;

  // The most workspace that calls will have. A plan asks for less where that is as fast.
  int64_t max_workspace_bytes = std::numeric_limits<int64_t>::max();

  // The GPU that is planned for, which need not be there; null: the problem's device. Not with
  // kMeasure.
  const DeviceModel* device_model = nullptr;

  // Of measurements. They use matrices and a workspace of their own, allocated for as long as they
  // take, with caches that hold what the run before left there; the problem's matrices are neither
  // read nor written.
  int candidates = 5;  // Kernels that are measured: those predicted to be the fastest, 1 or more.
  int samples = 5;     // Of each, in turn; the medians are compared. 1 or more.
  cudaStream_t stream = nullptr;  // Of the problem's device. Must not be being captured.
};

// What a plan depends on: the numbers of a line of MatMulPlans::ToText(), in that order.
struct MatMulPlanKey {
  // GPU: compute capability, multiprocessors and the memory's rate in GB/s, by which an H100
  // differs from an H200; 0: any rate. Of the row-major product (what is column-major has m and n
  // exchanged): m, n, k, batch, leading dimensions of A, B and C. Form: a sum of 1 and 2 where A
  // and B are transposed, 4, 8 and 16 where A, B and C with all that is in them begin at multiples
  // of 16 bytes, 32 and 64 where A and B have a stride of 0 in a batch, 128 where alpha is 0, 256
  // where beta is; and, where it is not FP32, 512 times the number of A's type and 8192 times that
  // of C's, 131072 times 8 and the number of B's where it differs from A's, and 4194304 where sums
  // may be less exact; or of floats 131072 times the number of the precision.
  static constexpr size_t kNumbers = 11;
  static constexpr size_t kMemoryRate = 2;  // The place of the memory's rate.
  std::array<int64_t, kNumbers> numbers = {};

  friend bool operator==(const MatMulPlanKey& x, const MatMulPlanKey& y) {
    return x.numbers == y.numbers;
  }
};

class MatMulPlan {
 public:
  // Returns the name of the kernel in the registry.
  const std::string& kernel() const;

  // Returns the bytes of workspace that calls should have. With less they are right, and slower.
  int64_t workspace_bytes() const { return workspace_bytes_; }

  // Returns the microseconds that a call takes: as predicted or, of kMeasure, as measured.
  double us() const { return us_; }
  bool is_measured() const { return is_measured_; }

  const MatMulPlanKey& key() const { return key_; }

  // Returns the kernel's entry, for callers inside the house.
  const MatMulImplementation& implementation() const;

 private:
  friend class MatMulPlans;
  friend absl::StatusOr<MatMulPlan> PlanMatMul(const MatMulProblem& problem,
                                               const MatMulPlanOptions& options);
  friend absl::Status MatMul(const MatMulPlan& plan, const MatMulProblem& problem,
                             cudaStream_t stream);

  MatMulPlanKey key_;
  const MatMulDispatch* row_ = nullptr;
  int64_t workspace_bytes_ = 0;
  double us_ = 0;
  bool is_measured_ = false;
};

// Makes a plan for such problems: their pointers count by their alignment alone, and may be null,
// which is a multiple of 16. Returns what MatMul() returns for problems that it does not take, and
// InvalidArgument for options that make no sense; where it measures, ResourceExhausted if there is
// no memory for that, and the first error of a launch.
absl::StatusOr<MatMulPlan> PlanMatMul(const MatMulProblem& problem,
                                      const MatMulPlanOptions& options = {});

// Queues the multiplication as MatMul() of matmul.h does, by the plan's kernel. Chooses nothing.
// Returns InvalidArgument, too, where the plan is of another shape, form, alignment or device.
absl::Status MatMul(const MatMulPlan& plan, const MatMulProblem& problem, cudaStream_t stream);

// The plans of a program. Safe to use from any threads at once.
class MatMulPlans {
 public:
  MatMulPlans();
  ~MatMulPlans();
  MatMulPlans(const MatMulPlans&) = delete;
  MatMulPlans& operator=(const MatMulPlans&) = delete;

  // Returns the plan of such problems, if it is kept: in some hundred nanoseconds. One for the
  // memory's rate goes before one for any rate.
  std::optional<MatMulPlan> Find(const MatMulProblem& problem,
                                 const MatMulPlanOptions& options = {}) const;

  // Keeps a plan, instead of that for the same key.
  void Add(const MatMulPlan& plan);

  // Returns the plan of such problems that is kept, or makes it with PlanMatMul() and keeps it. A
  // kept plan that was estimated does where the options ask for a measured one: Clear() forgets.
  absl::StatusOr<MatMulPlan> Get(const MatMulProblem& problem,
                                 const MatMulPlanOptions& options = {});

  size_t size() const;
  void Clear();

  // Returns a text with a line for each plan, in the order in which they were made.
  std::string ToText() const;

  // Adds the plans of such a text, instead of those with the same keys: those of other devices,
  // too, which Find() does not return here. Texts of before plans named the memory's rate begin
  // with "stridewise_plans 1": their plans are of any rate. Returns InvalidArgument, naming the
  // line, and adds nothing where one of them is none. Plans for kernels that this program does not
  // have are left out: PlanMatMul() will make them anew.
  absl::Status AddText(absl::string_view text);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_PLAN_H_
