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

LaunchStatus MatMulEigen(const MatMulArgs& args) {
  BestTarget().product(args, /*threads=*/0);
  return LaunchStatus();
}

LaunchStatus MatMulEigenOneCore(const MatMulArgs& args) {
  BestTarget().product(args, /*threads=*/1);
  return LaunchStatus();
}

}  // namespace stridewise
