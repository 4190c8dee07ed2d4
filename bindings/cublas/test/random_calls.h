// Random calls of cuBLAS's functions.

#ifndef STRIDEWISE_BINDINGS_CUBLAS_TEST_RANDOM_CALLS_H_
#define STRIDEWISE_BINDINGS_CUBLAS_TEST_RANDOM_CALLS_H_

#include <cstdint>
#include <random>

#include "bindings/cublas/offer.h"
#include "common/gpu/device_model.h"

namespace stridewise::drop_in {

enum class Function { kSgemm, kSgemm64, kBatch, kBatch64, kGemmEx, kGemmBatchEx, kGeam };
inline constexpr int kFunctions = 7;
inline constexpr int kProducts = 6;  // The first ones.

// Returns its name in cuBLAS.
const char* FunctionName(Function function);

struct RandomCall {
  Function function = Function::kSgemm;
  bool transpose_a = false, transpose_b = false;
  int64_t m = 1, n = 1, k = 1, batch = 1;
  int64_t lda = 1, ldb = 1, ldc = 1;
  int64_t stride_a = 0, stride_b = 0, stride_c = 0;
  int64_t offset_a = 0, offset_b = 0, offset_c = 0;  // Elements from a multiple of 256 bytes.
  float alpha = 1, beta = 0;
};

// Returns the elements that a column-major matrix, or a batch of them, spans.
int64_t Span(int64_t cols, int64_t ld, int64_t stride, int64_t batch);

// The most elements of an operand of a drawn call, its offset and the batch included.
inline constexpr int64_t kMostElements = int64_t{1} << 26;

// Which calls are drawn. There have to be many of `least_flops` to `most_flops`.
struct CallKinds {
  double most_flops = 0;
  double least_flops = 0;
  // Products as most programs make them: extents of multiples of 8, rows and matrices without gaps,
  // alpha of 1, beta of 0 or 1.
  bool plain = false;
};

RandomCall DrawCall(std::mt19937_64& random, const CallKinds& kinds);

// Returns how the drop-in would compute a call with these settings whose operands lie at multiples
// of 256 bytes but for the offsets; nothing of a transpose.
ProductPlan PlanOf(const RandomCall& call, const DeviceModel& device);

}  // namespace stridewise::drop_in

#endif  // STRIDEWISE_BINDINGS_CUBLAS_TEST_RANDOM_CALLS_H_
