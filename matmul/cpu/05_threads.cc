// packed on all cores: each thread multiplies its part of C as if it were alone. Threads are
// OpenMP's: Eigen, a peer on the same cores, already needs this runtime, which keeps its threads
// between calls, and a program that uses OpenMP itself then has one set of threads, not two.

#include "common/base/host_threads.h"
#include "matmul/args.h"
#include "matmul/cpu/multiply.h"

namespace stridewise {

LaunchStatus MatMulCpuThreads(const MatMulArgs& args) {
  MultiplyOnHost(args, HostThreads());
  return LaunchStatus();
}

}  // namespace stridewise
