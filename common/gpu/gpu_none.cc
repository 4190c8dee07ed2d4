// gpu_runtime.h and device_ops.h in a build without a CUDA toolkit: no device, and every call says
// so.

#include "common/gpu/device_ops.h"
#include "common/gpu/gpu_runtime.h"

namespace stridewise {
namespace {

absl::Status NoCuda() { return absl::UnavailableError("built without a CUDA toolkit"); }

}  // namespace

namespace gpu {

bool BuiltWithCuda() { return false; }
absl::StatusOr<int> DeviceCount() { return NoCuda(); }
absl::StatusOr<DeviceInfo> QueryDevice(int) { return NoCuda(); }
absl::StatusOr<int> CurrentDevice() { return NoCuda(); }
absl::Status SetCurrentDevice(int) { return NoCuda(); }
absl::StatusOr<const DeviceModel*> CurrentModel() { return NoCuda(); }
absl::Status UseDevice(int) { return NoCuda(); }
absl::StatusOr<void*> Allocate(size_t) { return NoCuda(); }
absl::Status Free(void*) { return NoCuda(); }
absl::StatusOr<void*> AllocateOnStream(size_t, cudaStream_t) { return NoCuda(); }
absl::Status FreeOnStream(void*, cudaStream_t) { return NoCuda(); }
absl::StatusOr<void*> AllocateAnytime(size_t) { return NoCuda(); }
absl::Status FreeAnytime(void*) { return NoCuda(); }
absl::StatusOr<uint64_t> CaptureOf(cudaStream_t) { return NoCuda(); }
absl::StatusOr<void*> AllocatePinned(size_t) { return NoCuda(); }
absl::Status FreePinned(void*, size_t) { return NoCuda(); }
absl::Status Copy(void*, const void*, size_t) { return NoCuda(); }
absl::Status CopyOnDevice(void*, const void*, size_t, cudaStream_t) { return NoCuda(); }
absl::Status FillBytes(void*, uint8_t, size_t, cudaStream_t) { return NoCuda(); }
absl::Status Synchronize(cudaStream_t) { return NoCuda(); }
absl::StatusOr<cudaStream_t> CreateStream(StreamPriority) { return NoCuda(); }
absl::Status DestroyStream(cudaStream_t) { return NoCuda(); }
absl::StatusOr<cudaEvent_t> CreateEvent() { return NoCuda(); }
absl::Status DestroyEvent(cudaEvent_t) { return NoCuda(); }
absl::Status RecordEvent(cudaEvent_t, cudaStream_t) { return NoCuda(); }
absl::StatusOr<bool> HasCompleted(cudaEvent_t) { return NoCuda(); }
absl::StatusOr<double> ElapsedMs(cudaEvent_t, cudaEvent_t) { return NoCuda(); }
absl::Status StartProfiler() { return NoCuda(); }
absl::Status StopProfiler() { return NoCuda(); }

}  // namespace gpu

absl::Status FillUniformOnDevice(Matrix<float>, uint64_t, cudaStream_t) { return NoCuda(); }
absl::Status FillUniformOnDevice(Matrix<double>, uint64_t, cudaStream_t) { return NoCuda(); }
template <typename T>
absl::Status WidenOnDevice(ConstMatrix<T>, bool, double*, cudaStream_t) {
  return NoCuda();
}
template absl::Status WidenOnDevice(ConstMatrix<float>, bool, double*, cudaStream_t);
template absl::Status WidenOnDevice(ConstMatrix<double>, bool, double*, cudaStream_t);
template absl::Status WidenOnDevice(ConstMatrix<Bf16>, bool, double*, cudaStream_t);
template absl::Status WidenOnDevice(ConstMatrix<Fp16>, bool, double*, cudaStream_t);
template absl::Status WidenOnDevice(ConstMatrix<int8_t>, bool, double*, cudaStream_t);
template absl::Status WidenOnDevice(ConstMatrix<int32_t>, bool, double*, cudaStream_t);
template absl::Status WidenOnDevice(ConstMatrix<E4m3>, bool, double*, cudaStream_t);
template absl::Status WidenOnDevice(ConstMatrix<E5m2>, bool, double*, cudaStream_t);
absl::Status CopyVectorised(void*, const void*, size_t, cudaStream_t) { return NoCuda(); }
absl::Status ReadThroughL2(const void*, size_t, cudaStream_t) { return NoCuda(); }
absl::Status HoldStream(HoldFlags*, uint64_t, uint64_t, cudaStream_t) { return NoCuda(); }
absl::Status LaunchEmptyKernel(cudaStream_t) { return NoCuda(); }

}  // namespace stridewise
