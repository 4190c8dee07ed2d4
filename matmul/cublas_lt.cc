// cuBLASLt on row-major matrices, as in cublas.cc. Its heuristics name up to eight algorithms for a
// problem; the first call of a problem measures them, each with a cold L2 and into memory of its
// own, and later ones take the fastest. So this is the vendor's best, where cublas is its first
// guess.

#include <cublasLt.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/cublas_status.h"
#include "common/gpu/cuda_status.h"
#include "matmul/args.h"

namespace stridewise {
namespace {

constexpr int kMostAlgorithms = 8;
constexpr int kSamples = 3;  // Of each algorithm, after a first run.
constexpr int64_t kWorkspaceBytes = int64_t{32} << 20;
constexpr size_t kBytesOfL2 = size_t{128} << 20;  // More than any L2 has.

template <typename T, cublasStatus_t (*kDestroy)(T)>
struct Destroyer {
  using pointer = T;
  void operator()(T object) const { (void)kDestroy(object); }
};
using Description =
    std::unique_ptr<void, Destroyer<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>>;
using Layout =
    std::unique_ptr<void, Destroyer<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>>;
using Preference =
    std::unique_ptr<void, Destroyer<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>>;

cudaDataType DataType(ElementType type) {
  switch (type) {
    case ElementType::kBf16:
      return CUDA_R_16BF;
    case ElementType::kFp16:
      return CUDA_R_16F;
    case ElementType::kDouble:
      return CUDA_R_64F;
    case ElementType::kS8:
      return CUDA_R_8I;
    case ElementType::kInt:
      return CUDA_R_32I;
    case ElementType::kE4m3:
      return CUDA_R_8F_E4M3;
    case ElementType::kE5m2:
      return CUDA_R_8F_E5M2;
    default:
      return CUDA_R_32F;
  }
}

// How operands of a type are multiplied.
cublasComputeType_t ComputeType(const MatMulArgs& args) {
  if (args.a.type == ElementType::kDouble) return CUBLAS_COMPUTE_64F;
  if (args.a.type == ElementType::kS8) return CUBLAS_COMPUTE_32I;
  return args.precision == MatMulPrecision::kTf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                                  : CUBLAS_COMPUTE_32F;
}

cublasLtEpilogue_t EpilogueOf(const MatMulEpilogue& epilogue) {
  const bool bias = epilogue.bias != nullptr;
  switch (epilogue.activation) {
    case Activation::kRelu:
      return bias ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_RELU;
    case Activation::kGelu:
      return bias ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
    case Activation::kNone:
      break;
  }
  return bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

absl::StatusOr<Layout> MakeLayout(ElementType type, int64_t rows, int64_t cols, int64_t ld,
                                  int64_t batch, int64_t stride) {
  cublasLtMatrixLayout_t layout;
  // A leading dimension of an operand without elements may be 0 with us, but not there.
  RETURN_IF_ERROR(CUBLAS_STATUS(
      cublasLtMatrixLayoutCreate(&layout, DataType(type), static_cast<uint64_t>(cols),
                                 static_cast<uint64_t>(rows), std::max<int64_t>(ld, 1))));
  Layout owned(layout);
  const auto count = static_cast<int32_t>(batch);
  RETURN_IF_ERROR(CUBLAS_STATUS(cublasLtMatrixLayoutSetAttribute(
      layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof(count))));
  RETURN_IF_ERROR(CUBLAS_STATUS(cublasLtMatrixLayoutSetAttribute(
      layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof(stride))));
  return owned;
}

// A call as cuBLASLt takes it: its A is our B, and its B our A.
class LtCall {
 public:
  static absl::StatusOr<LtCall> Create(const MatMulArgs& args) {
    LtCall call;
    const int64_t k = args.alpha == 0 ? 0 : args.k;  // Operands that do not count are not read.
    cublasLtMatmulDesc_t description;
    const bool is_own_scale =
        args.c.type == ElementType::kDouble || args.c.type == ElementType::kInt;
    const cudaDataType scale = is_own_scale ? DataType(args.c.type) : CUDA_R_32F;
    RETURN_IF_ERROR(
        CUBLAS_STATUS(cublasLtMatmulDescCreate(&description, ComputeType(args), scale)));
    call.description_.reset(description);
    const auto set = [&](cublasLtMatmulDescAttributes_t attribute, auto value) {
      return CUBLAS_STATUS(
          cublasLtMatmulDescSetAttribute(description, attribute, &value, sizeof(value)));
    };
    RETURN_IF_ERROR(
        set(CUBLASLT_MATMUL_DESC_TRANSA, args.b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N));
    RETURN_IF_ERROR(
        set(CUBLASLT_MATMUL_DESC_TRANSB, args.a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N));
    const cublasLtEpilogue_t epilogue = EpilogueOf(args.epilogue);
    RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue));
    if (args.epilogue.bias != nullptr) {
      RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, args.epilogue.bias));
      RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, DataType(args.c.type)));
    }
    // Of 8-bit floating-point operands; where they are null they are 1.
    if (args.scales.b != nullptr) {
      RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, args.scales.b));
    }
    if (args.scales.a != nullptr) {
      RETURN_IF_ERROR(set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, args.scales.a));
    }
    const auto layout = [&](const MatMulInput& input, int64_t rows, int64_t cols) {
      return MakeLayout(input.type, input.transposed ? cols : rows, input.transposed ? rows : cols,
                        input.ld, args.batch, input.stride);
    };
    ASSIGN_OR_RETURN(call.a_, layout(args.b, k, args.n));
    ASSIGN_OR_RETURN(call.b_, layout(args.a, args.m, k));
    ASSIGN_OR_RETURN(call.c_,
                     MakeLayout(args.c.type, args.m, args.n, args.c.ld, args.batch, args.c.stride));
    return call;
  }

  // Returns the algorithms that the heuristics name, the best guess first.
  absl::StatusOr<std::vector<cublasLtMatmulAlgo_t>> Algorithms(const MatMulArgs& args) const {
    cublasLtMatmulPreference_t preference;
    RETURN_IF_ERROR(CUBLAS_STATUS(cublasLtMatmulPreferenceCreate(&preference)));
    const Preference owned(preference);
    const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
      return CUBLAS_STATUS(
          cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof(value)));
    };
    RETURN_IF_ERROR(
        set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<uint64_t>(args.workspace_bytes)));
    // Partial sums are added in the type of the sums, not in that of C.
    RETURN_IF_ERROR(set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                        static_cast<uint32_t>(CUBLASLT_REDUCTION_SCHEME_MASK &
                                              ~CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE)));
    RETURN_IF_ERROR(set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, Alignment(args.b.data)));
    RETURN_IF_ERROR(set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, Alignment(args.a.data)));
    RETURN_IF_ERROR(set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, Alignment(args.c.data)));
    RETURN_IF_ERROR(set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, Alignment(args.c.data)));
    std::array<cublasLtMatmulHeuristicResult_t, kMostAlgorithms> results;
    int count = 0;
    RETURN_IF_ERROR(CUBLAS_STATUS(cublasLtMatmulAlgoGetHeuristic(
        Handle(args), description_.get(), a_.get(), b_.get(), c_.get(), c_.get(), preference,
        kMostAlgorithms, results.data(), &count)));
    std::vector<cublasLtMatmulAlgo_t> algorithms;
    for (int i = 0; i < count; ++i) {
      if (results[i].state == CUBLAS_STATUS_SUCCESS) algorithms.push_back(results[i].algo);
    }
    if (algorithms.empty()) return absl::UnimplementedError("cuBLASLt has no algorithm for it");
    return algorithms;
  }

  // Queues the call with C at `c`.
  absl::Status Run(const MatMulArgs& args, const cublasLtMatmulAlgo_t& algorithm, void* c) const {
    const double alpha = args.alpha;
    const double beta = args.beta;
    const auto alpha_float = static_cast<float>(alpha);
    const auto beta_float = static_cast<float>(beta);
    const auto alpha_int = static_cast<int32_t>(alpha);
    const auto beta_int = static_cast<int32_t>(beta);
    const bool is_double = args.c.type == ElementType::kDouble;
    const bool is_int = args.c.type == ElementType::kInt;
    const void* const of_alpha = is_double ? static_cast<const void*>(&alpha)
                                 : is_int  ? static_cast<const void*>(&alpha_int)
                                           : &alpha_float;
    const void* const of_beta = is_double ? static_cast<const void*>(&beta)
                                : is_int  ? static_cast<const void*>(&beta_int)
                                          : &beta_float;
    return CUBLAS_STATUS(cublasLtMatmul(Handle(args), description_.get(), of_alpha, args.b.data,
                                        a_.get(), args.a.data, b_.get(), of_beta, c, c_.get(), c,
                                        c_.get(), &algorithm, args.workspace,
                                        static_cast<size_t>(args.workspace_bytes), args.stream));
  }

 private:
  // A handle of cuBLAS is one of cuBLASLt.
  static cublasLtHandle_t Handle(const MatMulArgs& args) {
    return reinterpret_cast<cublasLtHandle_t>(args.cublas);
  }
  static uint32_t Alignment(const void* data) {
    const uintptr_t address = reinterpret_cast<uintptr_t>(data) | 256;
    return static_cast<uint32_t>(address & (~address + 1));
  }

  Description description_;
  Layout a_, b_, c_;
};

// Returns the fastest of the algorithms.
absl::StatusOr<cublasLtMatmulAlgo_t> Fastest(const MatMulArgs& args, const LtCall& call,
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
using ProblemKey = std::array<int64_t, 21>;

ProblemKey KeyOf(const MatMulArgs& args) {
  int device = 0;
  (void)cudaGetDevice(&device);
  const auto alignment = [](const void* data) {
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(data) % 256);
  };
  return {args.m,
          args.n,
          args.k,
          args.batch,
          args.a.ld,
          args.b.ld,
          args.c.ld,
          args.a.stride,
          args.b.stride,
          args.c.stride,
          args.a.transposed * 2 + args.b.transposed,
          static_cast<int64_t>(args.a.type),
          static_cast<int64_t>(args.b.type),
          static_cast<int64_t>(args.c.type),
          (args.alpha == 0) * 2 + (args.beta == 0) + 4 * static_cast<int64_t>(args.precision),
          static_cast<int64_t>(EpilogueOf(args.epilogue)),
          args.workspace_bytes,
          alignment(args.a.data),
          alignment(args.b.data),
          alignment(args.c.data),
          device};
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
  ASSIGN_OR_RETURN(const LtCall call, LtCall::Create(args));
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
