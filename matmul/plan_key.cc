#include "matmul/plan_key.h"

#include <cstdint>

#include "common/base/element_type.h"

namespace stridewise {
namespace {

constexpr int64_t kAnyRate = 0;
constexpr int64_t kAlignment = 16;

// Stands for a pointer that is not given yet.
constexpr uintptr_t kAligned = 256;

// What is at multiples of 16 bytes: the first element and, from it, each row and each matrix.
template <typename Operand>
bool IsAligned(const Operand& operand, int64_t batch) {
  const int64_t strides = operand.ld | (batch == 1 ? 0 : operand.stride);
  return reinterpret_cast<uintptr_t>(operand.data) % kAlignment == 0 &&
         strides * ElementBytes(operand.type) % kAlignment == 0;
}

// 0 for FP32.
int TypesOf(const MatMulArgs& args) {
  constexpr int kUnit = 512;
  static_assert(kNumElementTypes <= 16, "a type is 4 bits");
  if (args.a.type == ElementType::kFloat) return kUnit * 256 * static_cast<int>(args.precision);
  const int of_b = args.b.type == args.a.type ? 0 : 8 + static_cast<int>(args.b.type);
  const int of_sums = args.precision == MatMulPrecision::kFp32 ? 0 : 1;
  return kUnit * (static_cast<int>(args.a.type) + 16 * static_cast<int>(args.c.type) + 256 * of_b +
                  256 * 32 * of_sums);
}

}  // namespace

MatMulPlanKey KeyOf(const MatMulArgs& args, const DeviceModel& device) {
  const int form =
      (args.a.transposed ? 1 : 0) + (args.b.transposed ? 2 : 0) +
      (IsAligned(args.a, args.batch) ? 4 : 0) + (IsAligned(args.b, args.batch) ? 8 : 0) +
      (IsAligned(args.c, args.batch) ? 16 : 0) + (args.batch > 1 && args.a.stride == 0 ? 32 : 0) +
      (args.batch > 1 && args.b.stride == 0 ? 64 : 0) + (args.alpha == 0 ? 128 : 0) +
      (args.beta == 0 ? 256 : 0) + TypesOf(args);
  return {{device.compute_capability, device.multiprocessors, device.memory_gbps, args.m, args.n,
           args.k, args.batch, args.a.ld, args.b.ld, args.c.ld, form}};
}

MatMulPlanKey ForAnyRate(MatMulPlanKey key) {
  key.numbers[MatMulPlanKey::kMemoryRate] = kAnyRate;
  return key;
}

MatMulProblem WithPointers(MatMulProblem problem) {
  void* const some = reinterpret_cast<void*>(kAligned);  // NOLINT(performance-no-int-to-ptr)
  if (problem.a.data == nullptr) problem.a.data = some;
  if (problem.b.data == nullptr) problem.b.data = some;
  if (problem.c.data == nullptr) problem.c.data = some;
  problem.workspace = nullptr;
  problem.workspace_bytes = 0;
  return problem;
}

}  // namespace stridewise
