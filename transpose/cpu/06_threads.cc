// cpu_simd on all cores: in the caches what they hold, past them what they do not.

#include <omp.h>

#include "transpose/cpu/batch.h"
#include "transpose/cpu/in_place.h"
#include "transpose/cpu/threads.h"

namespace stridewise {

LaunchStatus TransposeOnThreads(const TransposeArgs& args) {
  TransposeBatch(BatchOf(args), omp_get_max_threads());
  return LaunchStatus();
}

LaunchStatus TransposeInPlaceOnThreads(const TransposeArgs& args) {
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    const double bytes = 2.0 * static_cast<double>(args.batch) * static_cast<double>(args.rows) *
                         static_cast<double>(args.cols) * sizeof(T);
    TransposeInPlace(args.Out<T>(), args.batch, args.stride_out,
                     ThreadsForBytes(bytes, omp_get_max_threads()));
    return LaunchStatus();
  });
}

LaunchStatus TransposeCpuThreads(const TransposeArgs& args) { return TransposeOnThreads(args); }

LaunchStatus TransposeCpuInPlace(const TransposeArgs& args) {
  return TransposeInPlaceOnThreads(args);
}

}  // namespace stridewise
