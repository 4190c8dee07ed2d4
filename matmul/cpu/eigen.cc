#include "matmul/cpu/eigen.h"

#include "matmul/args.h"
#include "matmul/cpu/eigen_product.h"

namespace stridewise {
namespace {

struct Target {
  const char* name;
  void (*product)(const MatMulArgs& args, int threads);
};

Target BestTarget() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("fma")) {
    return {"avx512", EigenProductAvx512};
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return {"avx2", EigenProductAvx2};
  }
#endif
  return {"baseline", EigenProductBaseline};
}

}  // namespace

const char* EigenInstructionSet() { return BestTarget().name; }

absl::Status MatMulEigen(const MatMulArgs& args) {
  BestTarget().product(args, /*threads=*/0);
  return absl::OkStatus();
}

absl::Status MatMulEigenOneCore(const MatMulArgs& args) {
  BestTarget().product(args, /*threads=*/1);
  return absl::OkStatus();
}

}  // namespace stridewise
