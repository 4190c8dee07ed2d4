// cuBLASLt on row-major matrices, as in cublas.cc. Its heuristics name up to eight algorithms for a
// problem; the first call of a problem measures them, each with a cold L2 and into memory of its
// own, and later ones take the fastest. So this is the vendor's best, where cublas is its first
// guess.

#include <cublasLt.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/cuda_status.h"
#include "matmul/args.h"
#include "matmul/choice_key.h"
#include "matmul/cublas_lt_call.h"
#include "matmul/registry.h"

namespace stridewise {
namespace {

constexpr int kSamples = 3;  // Of each algorithm, after a first run.
constexpr int64_t kWorkspaceBytes = int64_t{32} << 20;
constexpr size_t kBytesOfL2 = size_t{128} << 20;  // More than any L2 has.

// Returns the fastest of the algorithms.
absl::StatusOr<cublasLtMatmulAlgo_t> Fastest(const MatMulArgs& args, const CublasLtCall& call,
                                             const std::vector<cublasLtMatmulAlgo_t>& algorithms) {
  const int64_t elements = (args.batch - 1) * args.c.stride + (args.m - 1) * args.c.ld + args.n;
  ASSIGN_OR_RETURN(
      const DeviceBuffer c,
      DeviceBuffer::Allocate(static_cast<size_t>(elements * ElementBytes(args.c.type))));
  ASSIGN_OR_RETURN(const DeviceBuffer l2, DeviceBuffer::Allocate(kBytesOfL2));
  cudaEvent_t begin, end;
  RETURN_IF_ERROR(CUDA_STATUS(cudaEventCreate(&begin)));
  RETURN_IF_ERROR(CUDA_STATUS(cudaEventCreate(&end)));
  const auto measure = [&](const cublasLtMatmulAlgo_t& algorithm) -> absl::StatusOr<float> {
    float least = 0;
    for (int i = 0; i <= kSamples; ++i) {
      RETURN_IF_ERROR(CUDA_STATUS(cudaMemsetAsync(l2.As<void>(), 0, kBytesOfL2, args.stream)));
      RETURN_IF_ERROR(CUDA_STATUS(cudaEventRecord(begin, args.stream)));
      RETURN_IF_ERROR(call.Run(args, algorithm, c.As<void>()));
      RETURN_IF_ERROR(CUDA_STATUS(cudaEventRecord(end, args.stream)));
      RETURN_IF_ERROR(CUDA_STATUS(cudaEventSynchronize(end)));
      float ms = 0;
      RETURN_IF_ERROR(CUDA_STATUS(cudaEventElapsedTime(&ms, begin, end)));
      if (i == 1 || (i > 1 && ms < least)) least = ms;
    }
    return least;
  };
  size_t best = 0;
  float best_ms = 0;
  absl::Status status;
  for (size_t i = 0; i < algorithms.size() && status.ok(); ++i) {
    const absl::StatusOr<float> ms = measure(algorithms[i]);
    status = ms.status();
    if (ms.ok() && (i == 0 || *ms < best_ms)) {
      best = i;
      best_ms = *ms;
    }
  }
  (void)cudaEventDestroy(begin);
  (void)cudaEventDestroy(end);
  RETURN_IF_ERROR(status);
  return algorithms[best];
}

// What an algorithm was chosen for.
using ProblemKey = std::array<int64_t, 17>;

ProblemKey KeyOf(const MatMulArgs& args) {
  constexpr uintptr_t kAlignment = 256;  // The most that the heuristics are told of an address.
  int device = 0;
  (void)cudaGetDevice(&device);
  const std::array<int64_t, 2> more = {static_cast<int64_t>(CublasLtEpilogueOf(args.epilogue)),
                                       device};
  return Joined(NumbersOf(args), OffsetsOf(args, kAlignment), more);
}

// The algorithms that were chosen, for the life of the program.
class Choices {
 public:
  static Choices& Get() {
    static Choices& choices = *new Choices;
    return choices;
  }
  // Returns null where there is none.
  std::shared_ptr<const cublasLtMatmulAlgo_t> Find(const ProblemKey& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = chosen_.find(key);
    return found == chosen_.end() ? nullptr : found->second;
  }
  void Add(const ProblemKey& key, const cublasLtMatmulAlgo_t& algorithm) {
    const std::lock_guard<std::mutex> lock(mutex_);
    chosen_.emplace(key, std::make_shared<const cublasLtMatmulAlgo_t>(algorithm));
  }

 private:
  std::mutex mutex_;
  std::map<ProblemKey, std::shared_ptr<const cublasLtMatmulAlgo_t>> chosen_;
};

absl::Status CheckLayouts(const MatMulArgs& args) {
  if (CublasLtTakesLayouts(args)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(args.a.transposed ? "transpose_a is true; allowed is false"
                                     : "transpose_b is false; allowed is true",
                   " beside elements of type ", ElementTypeName(args.a.type)));
}

}  // namespace

int64_t MatMulCublasLtWorkspaceBytes(const MatMulArgs& args) {
  (void)args;
  return kWorkspaceBytes;
}

LaunchStatus MatMulCublasLt(const MatMulArgs& args) {
  if (args.cublas == nullptr) {
    return absl::InvalidArgumentError("cublas is null; allowed is a handle of cublas_handle.h");
  }
  if (args.m == 0 || args.n == 0 || args.batch == 0) return absl::OkStatus();
  if (args.scales.per_128) {
    return absl::InvalidArgumentError("scales.per_128 is true; allowed is false, one factor each");
  }
  RETURN_IF_ERROR(CheckLayouts(args));
  ASSIGN_OR_RETURN(const CublasLtCall call, CublasLtCall::Create(args));
  const ProblemKey key = KeyOf(args);
  std::shared_ptr<const cublasLtMatmulAlgo_t> chosen = Choices::Get().Find(key);
  if (chosen != nullptr) return call.Run(args, *chosen, args.c.data);
  ASSIGN_OR_RETURN(const std::vector<cublasLtMatmulAlgo_t> algorithms, call.Algorithms(args));
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  RETURN_IF_ERROR(CUDA_STATUS(cudaStreamIsCapturing(args.stream, &capture)));
  // A stream that is captured cannot be waited for.
  if (capture != cudaStreamCaptureStatusNone) return call.Run(args, algorithms[0], args.c.data);
  ASSIGN_OR_RETURN(const cublasLtMatmulAlgo_t fastest, Fastest(args, call, algorithms));
  Choices::Get().Add(key, fastest);
  return call.Run(args, fastest, args.c.data);
}

}  // namespace stridewise
