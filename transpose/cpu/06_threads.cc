// cpu_simd on all cores: in the caches what they hold, past them what they do not.

#include <omp.h>

#include "transpose/cpu/batch.h"
#include "transpose/cpu/in_place.h"
#include "transpose/cpu/threads.h"

namespace stridewise {

LaunchStatus TransposeOnThreads(const TransposeArgs& args) {
  const int64_t bytes = args.element_bytes;
  const BlockTranspose first = {static_cast<const uint8_t*>(args.in),
                                args.ld_in * bytes,
                                static_cast<uint8_t*>(args.out),
                                args.ld_out * bytes,
                                args.rows,
                                args.cols,
                                bytes};
  TransposeBatch({first, args.batch, args.stride_in * bytes, args.stride_out * bytes},
                 omp_get_max_threads());
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
