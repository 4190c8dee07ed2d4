#include "bindings/cublas/offer.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>

#include "bindings/cublas/settings.h"
#include "bindings/cublas/trial_timer.h"
#include "common/base/status_macros.h"
#include "common/gpu/device_model.h"
#include "common/gpu/gpu_runtime.h"
#include "common/gpu/stream_workspace.h"
#include "matmul/dispatch.h"
#include "matmul/fused_choice.h"
#include "matmul/row_major.h"
#include "matmul/split_choice.h"
#include "matmul/tensor_choice.h"
#include "transpose/transpose.h"

namespace stridewise::drop_in {
namespace {

// The GPUs that CublasOverOurs() knows.
constexpr int kMeasuredComputeCapability = 90;

// The most that is allocated for a stream of a handle. A product that would be faster with more
// takes what the program gave cuBLAS. Split operands of 16384x16384 take 2 GiB and some KB.
constexpr int64_t kMostWorkspaceBytes = int64_t{2} << 30;
constexpr int64_t kMostSplitBytes = int64_t{4} << 30;

// Memory that is freed without naming a stream, which the program may have destroyed before. A
// workspace is freed while products that use it still run, when it grows: so cudaMalloc(), whose
// memory cudaFree() frees when the device has finished; what is from cudaMallocAsync() is gone at
// once.
const WorkspaceMemory& Memory() {
  static const WorkspaceMemory memory = [] {
    WorkspaceMemory made = DeviceWorkspaceMemory();
    made.allocate_on_stream = [](size_t bytes, cudaStream_t /*stream*/) {
      return gpu::AllocateAnytime(bytes);
    };
    made.free_on_stream = [](void* device, cudaStream_t /*stream*/) {
      return gpu::FreeAnytime(device);
    };
    return made;
  }();
  return memory;
}

// The workspaces, by the handle that calls came with, their device and their stream: the null
// stream is another one on each device.
class Workspaces {
 public:
  // Returns the stream's, made at the first call.
  StreamWorkspace& Find(const void* owner, int device, cudaStream_t stream) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::unique_ptr<StreamWorkspace>& found = made_[{owner, device, stream}];
    if (found == nullptr) found = std::make_unique<StreamWorkspace>(stream, Memory());
    return *found;
  }
  void Forget(const void* owner) {
    const std::lock_guard<std::mutex> lock(mutex_);
    constexpr int kFirst = std::numeric_limits<int>::min();
    made_.erase(made_.lower_bound({owner, kFirst, nullptr}),
                made_.lower_bound({static_cast<const char*>(owner) + 1, kFirst, nullptr}));
  }

 private:
  std::mutex mutex_;
  std::map<std::tuple<const void*, int, cudaStream_t>, std::unique_ptr<StreamWorkspace>> made_;
};

Workspaces& AllWorkspaces() {
  static auto& workspaces = *new Workspaces;
  return workspaces;
}

// Queues the product with the program's workspace, or ours if that is faster.
absl::Status Queue(MatMulProblem problem, const ProductPlan& plan, const void* owner,
                   cudaStream_t stream) {
  problem.precision = plan.precision;
  const int64_t wanted_bytes = plan.workspace_bytes;
  const int64_t most =
      plan.precision == MatMulPrecision::kFp32 ? kMostWorkspaceBytes : kMostSplitBytes;
  if (wanted_bytes <= problem.workspace_bytes || wanted_bytes > most) {
    return MatMul(problem, stream);
  }
  ASSIGN_OR_RETURN(const int device, gpu::CurrentDevice());
  return AllWorkspaces().Find(owner, device, stream).Use(wanted_bytes, [&](void* workspace) {
    problem.workspace = workspace;
    problem.workspace_bytes = wanted_bytes;
    return MatMul(problem, stream);
  });
}

// Keeps why a call is passed on.
bool PassOn(Outcome outcome, Record* record) {
  record->outcome = outcome;
  return false;
}

bool Refused(const absl::Status& status, Record* record) {
  record->message = std::string(status.message());
  return PassOn(Outcome::kRefused, record);
}

// Returns the current device's model if it is one that predictions are for.
const DeviceModel* MeasuredDevice() {
  const absl::StatusOr<const DeviceModel*> device = gpu::CurrentModel();
  if (!device.ok() || (*device)->compute_capability != kMeasuredComputeCapability) return nullptr;
  return *device;
}

// Returns all that the time of a call depends on, the current device included.
CallShape ShapeOf(const MatMulProblem& problem, const ProductPlan& plan) {
  // Loads and stores of 16 bytes depend on the addresses.
  constexpr uintptr_t kVectorBytes = 16;
  const auto offset = [](const void* data) {
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(data) % kVectorBytes);
  };
  const int64_t flags = (problem.a.transposed ? 1 : 0) + (problem.b.transposed ? 2 : 0) +
                        (problem.beta != 0 ? 4 : 0) + (problem.epilogue.bias != nullptr ? 8 : 0) +
                        16 * static_cast<int64_t>(plan.precision);
  const absl::StatusOr<int> device = gpu::CurrentDevice();
  return {problem.m,
          problem.n,
          problem.k,
          problem.batch,
          problem.a.ld,
          problem.b.ld,
          problem.c.ld,
          problem.a.stride,
          problem.b.stride,
          problem.c.stride,
          offset(problem.a.data),
          offset(problem.b.data),
          offset(problem.c.data),
          problem.workspace_bytes,
          flags,
          static_cast<int64_t>(problem.epilogue.activation),
          device.ok() ? *device : -1};
}

// Returns the time of an epilogue, which reads and writes C once more; that of cuBLAS is part of
// its product.
double EpilogueUs(const MatMulProblem& problem) {
  if (problem.epilogue == MatMulEpilogue()) return 0;
  constexpr double kLaunchUs = 2.5;
  constexpr double kBytesInUs = 4e6;
  return kLaunchUs + 2.0 * sizeof(float) * static_cast<double>(problem.m) *
                         static_cast<double>(problem.n) * static_cast<double>(problem.batch) /
                         kBytesInUs;
}

}  // namespace

MatMulPrecision ProductPrecision(bool pedantic) {
  return pedantic ? MatMulPrecision::kFp32 : CurrentSettings().sgemm;
}

ProductPlan PlanProduct(MatMulProblem problem, const DeviceModel& device) {
  const MatMulPrecision allowed = problem.precision;
  problem.precision = MatMulPrecision::kFp32;
  ProductPlan plan;
  plan.workspace_bytes = MatMulWorkspaceBytes(problem);
  MatMulArgs args = RowMajorArgs(problem);
  args.device_model = &device;
  args.workspace_bytes = std::max(plan.workspace_bytes, problem.workspace_bytes);
  const MatMulPrediction prediction = PredictMatMul(args, device);
  plan.kernel = prediction.row->implementation;
  plan.us = prediction.us + EpilogueUs(problem);
  plan.cublas_us = prediction.us * CublasOverOurs(args, prediction.us);
  if (allowed == MatMulPrecision::kFp32) return plan;

  // As the call chooses: the fastest of what is allowed, where that is faster than FP32.
  const auto take = [&](const char* kernel, double us, int64_t workspace_bytes) {
    if (us + EpilogueUs(problem) >= plan.us) return;
    plan.precision = allowed;
    plan.workspace_bytes = workspace_bytes;
    plan.kernel = kernel;
    plan.us = us + EpilogueUs(problem);
  };
  problem.precision = allowed;
  args.precision = allowed;
  if (allowed != MatMulPrecision::kFp32Split) {
    args.workspace_bytes = kMostSplitBytes;
    const RoundedChoice choice = ChooseRounded(args, device);
    if (choice.kernel != nullptr) take(choice.kernel, choice.us, choice.workspace_bytes);
    return plan;
  }
  if (CanFuse(args, device)) take("split_fused", ChooseFused(args, device).us, 0);
  args.workspace_bytes = SplitWorkspaceBytes(args);
  if (args.workspace_bytes <= kMostSplitBytes && CanSplit(args, device)) {
    take("split_fp16", ChooseSplit(args, device).us, args.workspace_bytes);
  }
  return plan;
}

bool TakeProduct(MatMulProblem problem, const void* owner, cudaStream_t stream, Record* record) {
  // Where alpha is 0 cuBLAS scales C, and we compute as if it were not.
  if (problem.m <= 0 || problem.n <= 0 || problem.k <= 0 || problem.batch <= 0 ||
      problem.alpha == 0) {
    return PassOn(Outcome::kNothingToDo, record);
  }
  const DeviceModel* const device = MeasuredDevice();
  if (device == nullptr) return PassOn(Outcome::kDevice, record);
  const ProductPlan plan = PlanProduct(problem, *device);
  record->kernel = plan.kernel;
  record->us = plan.us;
  record->cublas_us = plan.cublas_us;
  const Way predicted = plan.Faster();
  if (CurrentSettings().measures) {
    if (BeginTrial(ShapeOf(problem, plan), predicted, stream) == Way::kCublas) {
      return PassOn(Outcome::kMeasured, record);
    }
  } else if (predicted == Way::kCublas && !CurrentSettings().always) {
    return PassOn(Outcome::kCublasIsFaster, record);
  }
  const absl::Status status = Queue(problem, plan, owner, stream);
  EndTrial(status.ok());
  if (!status.ok()) return Refused(status, record);
  record->outcome = Outcome::kTaken;
  return true;
}

bool TakeTranspose(int64_t m, int64_t n, const float* a, int64_t lda, float* c, int64_t ldc,
                   cudaStream_t stream, Record* record) {
  if (m <= 0 || n <= 0) return PassOn(Outcome::kNothingToDo, record);
  if (MeasuredDevice() == nullptr) return PassOn(Outcome::kDevice, record);
  // What is column-major is row-major with rows and columns exchanged.
  const MatrixView in = {a, m, n, lda, sizeof(float)};
  const MutableMatrixView out = {c, n, m, ldc, sizeof(float)};
  const absl::Status status = Transpose(in, out, stream);
  if (!status.ok()) return Refused(status, record);
  record->outcome = Outcome::kTaken;
  record->kernel = "transpose";
  return true;
}

void ForgetOwner(const void* owner) { AllWorkspaces().Forget(owner); }

}  // namespace stridewise::drop_in
