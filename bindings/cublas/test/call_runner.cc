#include "bindings/cublas/test/call_runner.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "bindings/cublas/real_function.h"
#include "bindings/cublas/test/compare.h"
#include "common/base/status_macros.h"
#include "common/gpu/captured_graph.h"
#include "common/gpu/cublas_status.h"
#include "common/gpu/cuda_status.h"
#include "common/gpu/gpu_runtime.h"

namespace stridewise::drop_in {
namespace {

constexpr int64_t kFlushBytes = int64_t{200} << 20;

// The addresses of one call.
struct Operands {
  const float *a, *b;
  float* c;
  float alpha, beta;
};

// Calls cuBLAS's function, the program's or the real one.
template <typename Fn, typename... Args>
cublasStatus_t CallFunction(bool real, void* real_address, Fn* ours, Args... args) {
  return (real ? reinterpret_cast<Fn*>(real_address) : ours)(args...);
}

using GemmEx = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                              const void*, const void*, cudaDataType, int, const void*,
                              cudaDataType, int, const void*, void*, cudaDataType, int,
                              cublasComputeType_t, cublasGemmAlgo_t);
using GemmBatchEx = cublasStatus_t(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                   int, const void*, const void*, cudaDataType, int, long long int,
                                   const void*, cudaDataType, int, long long int, const void*,
                                   void*, cudaDataType, int, long long int, int,
                                   cublasComputeType_t, cublasGemmAlgo_t);

class Runner : public CallRunner {
 public:
  absl::Status Init(uint32_t seed) {
    RETURN_IF_CUDA_ERROR(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    RETURN_IF_ERROR(CUBLAS_STATUS(cublasCreate(&ours_)));
    RETURN_IF_ERROR(CUBLAS_STATUS(cublasCreate(&real_)));
    RETURN_IF_ERROR(CUBLAS_STATUS(cublasSetStream(ours_, stream_)));
    RETURN_IF_ERROR(CUBLAS_STATUS(cublasSetStream(real_, stream_)));
    for (float** buffer : {&a_, &a_magnitudes_, &b_, &b_magnitudes_, &c_, &c_magnitudes_, &c_ours_,
                           &c_real_, &c_bound_}) {
      RETURN_IF_CUDA_ERROR(
          cudaMalloc(reinterpret_cast<void**>(buffer), kMostElements * sizeof(float)));
    }
    RETURN_IF_CUDA_ERROR(cudaMalloc(reinterpret_cast<void**>(&flush_), kFlushBytes));
    RETURN_IF_CUDA_ERROR(cudaMalloc(reinterpret_cast<void**>(&worst_), sizeof(float)));
    for (cudaEvent_t& event : events_) RETURN_IF_CUDA_ERROR(cudaEventCreate(&event));
    RETURN_IF_ERROR(FillRandom(a_, a_magnitudes_, kMostElements, seed, stream_));
    RETURN_IF_ERROR(FillRandom(b_, b_magnitudes_, kMostElements, seed + 1, stream_));
    return FillRandom(c_, c_magnitudes_, kMostElements, seed + 2, stream_);
  }

  ~Runner() override {
    (void)cudaStreamSynchronize(stream_);
    (void)cublasDestroy(ours_);
    (void)cublasDestroy(real_);
    for (float* buffer : {a_, a_magnitudes_, b_, b_magnitudes_, c_, c_magnitudes_, c_ours_, c_real_,
                          c_bound_, worst_, flush_}) {
      (void)cudaFree(buffer);
    }
    for (cudaEvent_t event : events_) (void)cudaEventDestroy(event);
    (void)cudaStreamDestroy(stream_);
  }

  absl::StatusOr<CallResult> Run(const RandomCall& call, int samples, int settle) override {
    for (int i = 0; i < settle; ++i) RETURN_IF_ERROR(Make(call, false));
    RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream_));
    RETURN_IF_ERROR(Prepare(call));
    RETURN_IF_ERROR(Make(call, false));
    RETURN_IF_ERROR(Make(call, true));
    CallResult result;
    ASSIGN_OR_RETURN(result.error_over_bound, Compare(call));
    std::vector<double> ours;
    std::vector<double> real;
    for (int i = 0; i < samples; ++i) {
      ASSIGN_OR_RETURN(const double ours_us, Time(call, false));
      ASSIGN_OR_RETURN(const double real_us, Time(call, true));
      ours.push_back(ours_us);
      real.push_back(real_us);
    }
    if (samples > 0) {
      result.ours_us = Median(ours);
      result.real_us = Median(real);
    }
    return result;
  }

  absl::StatusOr<CallResult> RunCaptured(const RandomCall& call) override {
    RETURN_IF_ERROR(Prepare(call));
    ASSIGN_OR_RETURN(CapturedGraph graph,
                     CapturedGraph::Capture(stream_, cudaStreamCaptureModeThreadLocal,
                                            [&] { return Make(call, false); }));
    // Twice, so that a graph that depends on what its capture left behind is found.
    for (int i = 0; i < 2; ++i) {
      RETURN_IF_ERROR(CopyC(call, c_ours_, c_));
      RETURN_IF_ERROR(graph.Launch(stream_));
    }
    RETURN_IF_ERROR(Make(call, true));
    CallResult result;
    ASSIGN_OR_RETURN(result.error_over_bound, Compare(call));
    return result;
  }

 private:
  static double Median(std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  }

  // The elements that a comparison looks at: all of C, and what lies between its columns.
  static int64_t CountC(const RandomCall& call) {
    return Span(call.n, call.ldc, call.batch > 1 ? call.stride_c : 0, call.batch);
  }

  absl::Status CopyC(const RandomCall& call, float* to, const float* from) {
    return CUDA_STATUS(cudaMemcpyAsync(to + call.offset_c, from + call.offset_c,
                                       static_cast<size_t>(CountC(call)) * sizeof(float),
                                       cudaMemcpyDeviceToDevice, stream_));
  }

  // Sets the three results to what C is before the call.
  absl::Status Prepare(const RandomCall& call) {
    RETURN_IF_ERROR(CopyC(call, c_ours_, c_));
    RETURN_IF_ERROR(CopyC(call, c_real_, c_));
    RETURN_IF_ERROR(CopyC(call, c_bound_, c_magnitudes_));
    return Call(call, real_, true,
                {a_magnitudes_ + call.offset_a, b_magnitudes_ + call.offset_b,
                 c_bound_ + call.offset_c, std::abs(call.alpha), std::abs(call.beta)});
  }

  absl::Status Make(const RandomCall& call, bool real) {
    return Call(call, real ? real_ : ours_, real,
                {a_ + call.offset_a, b_ + call.offset_b, (real ? c_real_ : c_ours_) + call.offset_c,
                 call.alpha, call.beta});
  }

  absl::StatusOr<double> Compare(const RandomCall& call) {
    RETURN_IF_CUDA_ERROR(cudaMemsetAsync(worst_, 0, sizeof(float), stream_));
    // Each of the two is within gamma of k + 2 roundings of the exact result, and so is the bound.
    constexpr float kRoundoff = 0x1p-24F;
    const float factor = 2.01F * static_cast<float>(call.k + 2) * kRoundoff;
    RETURN_IF_ERROR(FindWorst(c_ours_ + call.offset_c, c_real_ + call.offset_c,
                              c_bound_ + call.offset_c, CountC(call), call.m, call.n, call.ldc,
                              call.stride_c, call.batch, factor, worst_, stream_));
    float worst = 0;
    RETURN_IF_CUDA_ERROR(
        cudaMemcpyAsync(&worst, worst_, sizeof(worst), cudaMemcpyDeviceToHost, stream_));
    RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream_));
    return worst;
  }

  absl::StatusOr<double> Time(const RandomCall& call, bool real) {
    RETURN_IF_CUDA_ERROR(cudaMemsetAsync(flush_, 0, kFlushBytes, stream_));
    RETURN_IF_CUDA_ERROR(cudaEventRecord(events_[0], stream_));
    RETURN_IF_ERROR(Make(call, real));
    RETURN_IF_CUDA_ERROR(cudaEventRecord(events_[1], stream_));
    RETURN_IF_CUDA_ERROR(cudaStreamSynchronize(stream_));
    float ms = 0;
    RETURN_IF_CUDA_ERROR(cudaEventElapsedTime(&ms, events_[0], events_[1]));
    return 1000.0 * static_cast<double>(ms);
  }

  static absl::Status Call(const RandomCall& call, cublasHandle_t handle, bool real,
                           const Operands& x) {
    const cublasOperation_t op_a = call.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    const cublasOperation_t op_b = call.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    const auto m = static_cast<int>(call.m);
    const auto n = static_cast<int>(call.n);
    const auto k = static_cast<int>(call.k);
    const auto lda = static_cast<int>(call.lda);
    const auto ldb = static_cast<int>(call.ldb);
    const auto ldc = static_cast<int>(call.ldc);
    const auto batch = static_cast<int>(call.batch);
    void* const address = RealAddress(call.function);
    if (real && address == nullptr) return absl::UnavailableError("no cuBLAS");
    switch (call.function) {
      case Function::kSgemm:
        return CUBLAS_STATUS(CallFunction(real, address, &cublasSgemm_v2, handle, op_a, op_b, m, n,
                                          k, &x.alpha, x.a, lda, x.b, ldb, &x.beta, x.c, ldc));
      case Function::kSgemm64:
        return CUBLAS_STATUS(CallFunction(real, address, &cublasSgemm_v2_64, handle, op_a, op_b,
                                          call.m, call.n, call.k, &x.alpha, x.a, call.lda, x.b,
                                          call.ldb, &x.beta, x.c, call.ldc));
      case Function::kBatch:
        return CUBLAS_STATUS(CallFunction(
            real, address, &cublasSgemmStridedBatched, handle, op_a, op_b, m, n, k, &x.alpha, x.a,
            lda, call.stride_a, x.b, ldb, call.stride_b, &x.beta, x.c, ldc, call.stride_c, batch));
      case Function::kBatch64:
        return CUBLAS_STATUS(CallFunction(real, address, &cublasSgemmStridedBatched_64, handle,
                                          op_a, op_b, call.m, call.n, call.k, &x.alpha, x.a,
                                          call.lda, call.stride_a, x.b, call.ldb, call.stride_b,
                                          &x.beta, x.c, call.ldc, call.stride_c, call.batch));
      case Function::kGemmEx:
        return CUBLAS_STATUS(CallFunction(real, address, static_cast<GemmEx*>(&cublasGemmEx),
                                          handle, op_a, op_b, m, n, k, &x.alpha, x.a, CUDA_R_32F,
                                          lda, x.b, CUDA_R_32F, ldb, &x.beta, x.c, CUDA_R_32F, ldc,
                                          CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
      case Function::kGemmBatchEx:
        return CUBLAS_STATUS(
            CallFunction(real, address, static_cast<GemmBatchEx*>(&cublasGemmStridedBatchedEx),
                         handle, op_a, op_b, m, n, k, &x.alpha, x.a, CUDA_R_32F, lda, call.stride_a,
                         x.b, CUDA_R_32F, ldb, call.stride_b, &x.beta, x.c, CUDA_R_32F, ldc,
                         call.stride_c, batch, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
      case Function::kGeam:
        return CUBLAS_STATUS(CallFunction(real, address, &cublasSgeam, handle, op_a, op_b, m, n,
                                          &x.alpha, x.a, lda, &x.beta, x.b, ldb, x.c, ldc));
    }
    return absl::InternalError("no such function");
  }

  static void* RealAddress(Function function) {
    static const auto& addresses = *[] {
      auto* made = new std::vector<void*>;
      for (int i = 0; i < kFunctions; ++i) {
        made->push_back(FindRealFunction(FunctionName(static_cast<Function>(i)), Library::kCublas));
      }
      return made;
    }();
    return addresses[static_cast<size_t>(function)];
  }

  cudaStream_t stream_ = nullptr;
  cublasHandle_t ours_ = nullptr, real_ = nullptr;
  cudaEvent_t events_[2] = {};
  float *a_ = nullptr, *a_magnitudes_ = nullptr, *b_ = nullptr, *b_magnitudes_ = nullptr;
  float *c_ = nullptr, *c_magnitudes_ = nullptr;
  float *c_ours_ = nullptr, *c_real_ = nullptr, *c_bound_ = nullptr;
  float *worst_ = nullptr, *flush_ = nullptr;
};

}  // namespace

absl::StatusOr<std::unique_ptr<CallRunner>> CallRunner::Create(uint32_t seed) {
  RETURN_IF_ERROR(gpu::DeviceCount().status());
  auto runner = std::make_unique<Runner>();
  RETURN_IF_ERROR(runner->Init(seed));
  return std::unique_ptr<CallRunner>(std::move(runner));
}

}  // namespace stridewise::drop_in
