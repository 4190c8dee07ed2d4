// cpu_simd on all cores: in the caches what they hold, past them what they do not.

#include <omp.h>

#include "transpose/cpu/batch.h"
#include "transpose/cpu/threads.h"

namespace stridewise {

LaunchStatus TransposeOnThreads(const TransposeArgs& args) {
  TransposeBatch(BatchOf(args), omp_get_max_threads());
  return LaunchStatus();
}

LaunchStatus TransposeInPlaceOnThreads(const TransposeArgs& args) {
  TransposeInPlace(BatchOf(args), omp_get_max_threads());
  return LaunchStatus();
}

LaunchStatus TransposeCpuThreads(const TransposeArgs& args) { return TransposeOnThreads(args); }

LaunchStatus TransposeCpuInPlace(const TransposeArgs& args) {
  return TransposeInPlaceOnThreads(args);
}

}  // namespace stridewise
