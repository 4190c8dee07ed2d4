#include "matmul/matmul.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/gpu/gpu_runtime.h"
#include "matmul/check_args.h"
#include "matmul/registry.h"
#include "matmul/row_major.h"

namespace stridewise {
namespace {

// What a column-major caller calls the arguments of RowMajorArgs().
constexpr MatMulArgumentNames kColumnMajorNames = {"n",        "m", "b",   "ldb",
                                                   "stride_b", "a", "lda", "stride_a"};

const MatMulImplementation& Automatic() {
  static const MatMulImplementation& automatic = *FindMatMulImplementation("auto");
  return automatic;
}

// Makes a device the calling thread's, until it is destroyed.
class DeviceScope {
 public:
  DeviceScope() = default;
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  ~DeviceScope() {
    if (before_ != kCurrentDevice) (void)gpu::SetCurrentDevice(before_);
  }

  absl::Status Enter(int device) {
    if (device == kCurrentDevice) return absl::OkStatus();
    ASSIGN_OR_RETURN(const int count, gpu::DeviceCount());
    if (device < 0 || device >= count) {
      return absl::InvalidArgumentError(absl::StrCat("device is ", device, "; allowed is 0 to ",
                                                     count - 1, ", or ", kCurrentDevice,
                                                     " for the current device"));
    }
    ASSIGN_OR_RETURN(const int current, gpu::CurrentDevice());
    if (device == current) return absl::OkStatus();
    RETURN_IF_ERROR(gpu::SetCurrentDevice(device));
    before_ = current;
    return absl::OkStatus();
  }

 private:
  int before_ = kCurrentDevice;
};

}  // namespace

absl::Status MatMul(const MatMulProblem& problem, cudaStream_t stream) {
  MatMulArgs args = RowMajorArgs(problem);
  args.stream = stream;
  args.block = Automatic().default_block;
  // Not RunMatMul(), whose messages name an implementation that the caller did not ask for.
  RETURN_IF_ERROR(CheckMatMulArgs(
      Automatic(), args,
      problem.layout == MatrixLayout::kColumnMajor ? kColumnMajorNames : MatMulArgumentNames()));
  if (Automatic().run == nullptr) return absl::UnavailableError("built without a CUDA toolkit");
  DeviceScope scope;
  RETURN_IF_ERROR(scope.Enter(problem.device));
  return Automatic().run(args);
}

int64_t MatMulWorkspaceBytes(const MatMulProblem& problem) {
  MatMulArgs args = RowMajorArgs(problem);
  args.a.data = args.b.data = args.c.data = nullptr;  // As if they were aligned.
  DeviceScope scope;
  if (!scope.Enter(problem.device).ok()) return 0;
  return MatMulWorkspaceBytes(Automatic(), args);
}

}  // namespace stridewise
