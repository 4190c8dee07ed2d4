#include "bindings/cublas/test/random_calls.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "bindings/cublas/offer.h"
#include "common/gpu/launch_geometry.h"
#include "matmul/matmul.h"

namespace stridewise::drop_in {
namespace {

int64_t LogUniform(std::mt19937_64& random, double least, double most) {
  std::uniform_real_distribution<double> exponent(std::log(least), std::log(most + 1));
  return std::clamp(static_cast<int64_t>(std::exp(exponent(random))), static_cast<int64_t>(least),
                    static_cast<int64_t>(most));
}

int Uniform(std::mt19937_64& random, int count) {
  return std::uniform_int_distribution<int>(0, count - 1)(random);
}

// Extents as programs have them: anything, multiples of 64, and those of models.
int64_t DrawExtent(std::mt19937_64& random) {
  constexpr int64_t kOfModels[] = {64,   128,  197,  256,  512,  768,
                                   1024, 2048, 3072, 4096, 8192, 50257};
  switch (Uniform(random, 4)) {
    case 0:
      return kOfModels[Uniform(random, std::size(kOfModels))];
    case 1:
      return 64 * LogUniform(random, 1, 128);
    default:
      return LogUniform(random, 1, 8192);
  }
}

int64_t DrawPlainExtent(std::mt19937_64& random) {
  constexpr int64_t kMultiple = 8;
  return kMultiple * CeilDiv(DrawExtent(random), kMultiple);
}

int64_t DrawLd(std::mt19937_64& random, int64_t rows) {
  const int kind = Uniform(random, 4);
  return rows + (kind == 0 ? Uniform(random, 9) : kind == 1 ? 4 * Uniform(random, 9) : 0);
}

// Makes a batch's matrices one in some calls, and puts gaps between and offsets before matrices.
void AddGapsAndOffsets(std::mt19937_64& random, RandomCall* call) {
  call->stride_a = Uniform(random, 5) == 0 ? 0 : call->stride_a + 4 * Uniform(random, 2);
  if (Uniform(random, 5) == 0) call->stride_b = 0;
  call->stride_c += Uniform(random, 2) * 3;
  if (Uniform(random, 4) != 0) return;
  call->offset_a = Uniform(random, 64);
  call->offset_b = Uniform(random, 64);
  call->offset_c = Uniform(random, 64);
}

bool IsBatch(Function function) {
  return function == Function::kBatch || function == Function::kBatch64 ||
         function == Function::kGemmBatchEx;
}

}  // namespace

int64_t Span(int64_t cols, int64_t ld, int64_t stride, int64_t batch) {
  return cols * ld + (batch - 1) * stride;
}

const char* FunctionName(Function function) {
  switch (function) {
    case Function::kSgemm:
      return "cublasSgemm_v2";
    case Function::kSgemm64:
      return "cublasSgemm_v2_64";
    case Function::kBatch:
      return "cublasSgemmStridedBatched";
    case Function::kBatch64:
      return "cublasSgemmStridedBatched_64";
    case Function::kGemmEx:
      return "cublasGemmEx";
    case Function::kGemmBatchEx:
      return "cublasGemmStridedBatchedEx";
    case Function::kGeam:
      return "cublasSgeam";
  }
  return "";
}

RandomCall DrawCall(std::mt19937_64& random, const CallKinds& kinds) {
  const bool plain = kinds.plain;
  const auto extent = [&] { return plain ? DrawPlainExtent(random) : DrawExtent(random); };
  const auto ld = [&](int64_t rows) { return plain ? rows : DrawLd(random, rows); };
  for (;;) {
    RandomCall call;
    call.function = static_cast<Function>(Uniform(random, plain ? kProducts : kFunctions));
    call.transpose_a = Uniform(random, 2) == 1;
    call.transpose_b = Uniform(random, 2) == 1;
    call.m = extent();
    call.n = extent();
    call.k = extent();
    if (IsBatch(call.function)) call.batch = LogUniform(random, 1, 1000);
    constexpr float kAlphas[] = {1, 1, 1, -0.5F, 0};
    constexpr float kBetas[] = {0, 0, 1, 0.7F};
    call.alpha = plain ? 1 : kAlphas[Uniform(random, std::size(kAlphas))];
    call.beta = kBetas[Uniform(random, plain ? 3 : std::size(kBetas))];
    if (call.function == Function::kGeam) {
      call.k = 1;
      if (Uniform(random, 2) == 0) {
        call.transpose_a = true;
        call.alpha = 1;
        call.beta = 0;
      }
    }
    const bool geam = call.function == Function::kGeam;
    const int64_t rows_a =
        geam ? (call.transpose_a ? call.n : call.m) : (call.transpose_a ? call.k : call.m);
    const int64_t cols_a =
        geam ? (call.transpose_a ? call.m : call.n) : (call.transpose_a ? call.m : call.k);
    const int64_t rows_b =
        geam ? (call.transpose_b ? call.n : call.m) : (call.transpose_b ? call.n : call.k);
    const int64_t cols_b =
        geam ? (call.transpose_b ? call.m : call.n) : (call.transpose_b ? call.k : call.n);
    call.lda = ld(rows_a);
    call.ldb = ld(rows_b);
    call.ldc = ld(call.m);
    call.stride_a = cols_a * call.lda;
    call.stride_b = cols_b * call.ldb;
    call.stride_c = call.n * call.ldc;
    if (!plain) AddGapsAndOffsets(random, &call);
    const double flops = 2.0 * static_cast<double>(call.m) * static_cast<double>(call.n) *
                         static_cast<double>(call.k) * static_cast<double>(call.batch);
    const int64_t most = kMostElements - 64;
    if (flops >= kinds.least_flops && flops <= kinds.most_flops &&
        Span(cols_a, call.lda, call.stride_a, call.batch) <= most &&
        Span(cols_b, call.ldb, call.stride_b, call.batch) <= most &&
        Span(call.n, call.ldc, call.stride_c, call.batch) <= most) {
      return call;
    }
  }
}

ProductPlan PlanOf(const RandomCall& call, const DeviceModel& device) {
  if (call.function == Function::kGeam) return {};
  constexpr uintptr_t kSomewhere = uintptr_t{1} << 20;
  const auto address = [](int64_t offset) {
    return reinterpret_cast<float*>(kSomewhere + static_cast<uintptr_t>(offset) * sizeof(float));
  };
  MatMulProblem problem;
  problem.precision = ProductPrecision(/*pedantic=*/false);
  problem.layout = MatrixLayout::kColumnMajor;
  problem.m = call.m;
  problem.n = call.n;
  problem.k = call.k;
  problem.batch = call.batch;
  problem.a = {address(call.offset_a), call.lda};
  problem.a.transposed = call.transpose_a;
  problem.b = {address(call.offset_b), call.ldb};
  problem.b.transposed = call.transpose_b;
  problem.c = {address(call.offset_c), call.ldc};
  if (call.batch > 1) {
    problem.a.stride = call.stride_a;
    problem.b.stride = call.stride_b;
    problem.c.stride = call.stride_c;
  }
  problem.alpha = static_cast<double>(call.alpha);
  problem.beta = static_cast<double>(call.beta);
  return PlanProduct(problem, device);
}

}  // namespace stridewise::drop_in
