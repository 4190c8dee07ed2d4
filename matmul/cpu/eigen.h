// Eigen, compiled once for each instruction set; which one runs is decided on the machine that
// runs.

#ifndef STRIDEWISE_MATMUL_CPU_EIGEN_H_
#define STRIDEWISE_MATMUL_CPU_EIGEN_H_

namespace stridewise {

// "avx512", "avx2" or "baseline" (what every machine of the architecture has: SSE2, NEON): the best
// that this processor and this build have.
const char* EigenInstructionSet();

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_CPU_EIGEN_H_
