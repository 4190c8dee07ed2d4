#include "common/streaming/narrow_stream.h"

#include <cuda.h>

#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/gpu/driver_function.h"
#include "common/gpu/gpu_runtime.h"

namespace stridewise {
namespace {

absl::Status DriverStatus(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return absl::OkStatus();
  return absl::UnavailableError(absl::StrCat(what, " returns ", static_cast<int>(result)));
}

// Returns what the driver's function returns. `version` is CUDA's that brought its signature.
template <typename... Params, typename... Args>
absl::Status Call(const char* name, unsigned version, CUresult (*)(Params...), Args... args) {
  ASSIGN_OR_RETURN(CUresult(*const function)(Params...),
                   DriverFunction<CUresult(Params...)>(name, version));
  return DriverStatus(function(args...), name);
}
#define STRIDEWISE_CALL(name, version, ...) \
  Call(#name, version, static_cast<decltype(&name)>(nullptr), __VA_ARGS__)

class GreenStream : public NarrowStream {
 public:
  GreenStream() = default;
  GreenStream(const GreenStream&) = delete;
  GreenStream& operator=(const GreenStream&) = delete;
  ~GreenStream() override {
    if (stream_ != nullptr) gpu::DestroyStream(stream_).IgnoreError();
    if (context_ != nullptr) STRIDEWISE_CALL(cuGreenCtxDestroy, 12040, context_).IgnoreError();
  }

  absl::Status Open(int device, CUdevResource multiprocessors) {
    CUdevResourceDesc description = nullptr;
    RETURN_IF_ERROR(
        STRIDEWISE_CALL(cuDevResourceGenerateDesc, 12040, &description, &multiprocessors, 1));
    RETURN_IF_ERROR(STRIDEWISE_CALL(cuGreenCtxCreate, 12040, &context_, description, device,
                                    CU_GREEN_CTX_DEFAULT_STREAM));
    return STRIDEWISE_CALL(cuGreenCtxStreamCreate, 12050, &stream_, context_,
                           CU_STREAM_NON_BLOCKING, 0);
  }

  cudaStream_t stream() const override { return stream_; }

 private:
  CUgreenCtx context_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

}  // namespace

absl::StatusOr<std::array<std::unique_ptr<NarrowStream>, 2>> NarrowStream::Create(
    int multiprocessors) {
  ASSIGN_OR_RETURN(const int device, gpu::CurrentDevice());
  CUdevResource all = {};
  RETURN_IF_ERROR(
      STRIDEWISE_CALL(cuDeviceGetDevResource, 12040, device, &all, CU_DEV_RESOURCE_TYPE_SM));
  std::array<CUdevResource, 2> parts = {};
  unsigned groups = 1;
  RETURN_IF_ERROR(STRIDEWISE_CALL(cuDevSmResourceSplitByCount, 12040, &parts[0], &groups, &all,
                                  &parts[1], 0, static_cast<unsigned>(multiprocessors)));
  std::array<std::unique_ptr<NarrowStream>, 2> streams;
  for (int i = 0; i < 2; ++i) {
    auto stream = std::make_unique<GreenStream>();
    RETURN_IF_ERROR(stream->Open(device, parts[i]));
    streams[i] = std::move(stream);
  }
  return streams;
}

}  // namespace stridewise
