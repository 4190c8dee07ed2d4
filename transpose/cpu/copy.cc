// A copy on as many cores as a transpose of the same bytes has: what bounds transposes on the host.

#include <omp.h>

#include <cstring>

#include "transpose/cpu/batch.h"
#include "transpose/cpu/schedules.h"
#include "transpose/cpu/square.h"
#include "transpose/registry.h"

namespace stridewise {

LaunchStatus CopyCpuThreads(const TransposeArgs& args) {
  const int64_t element = args.element_bytes;
  const auto* from = static_cast<const uint8_t*>(args.in);
  auto* to = static_cast<uint8_t*>(args.out);
  const int64_t row_bytes = args.cols * element;
  const double bytes = 2.0 * static_cast<double>(args.rows) * static_cast<double>(row_bytes);
  const bool streams = LeavesCaches(bytes);
  const int threads = ThreadsForBytes(bytes, omp_get_max_threads());
  if (args.ld_in == args.cols && args.ld_out == args.cols) {
    // On OpenMP's threads, which copy as fast as a crew, or faster.
    const int64_t parts = PartsOfCopy(args.rows * row_bytes, streams, threads);
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
    for (int64_t i = 0; i < parts; ++i) {
      CopyPart(from, to, args.rows * row_bytes, streams, parts, i);
    }
    return LaunchStatus();
  }
#pragma omp parallel num_threads(threads) if (threads > 1)
  {
#pragma omp for schedule(static) nowait
    for (int64_t row = 0; row < args.rows; ++row) {
      const uint8_t* const in = from + row * args.ld_in * element;
      uint8_t* const out = to + row * args.ld_out * element;
      if (streams) {
        StreamCopy(in, out, row_bytes);
      } else {
        std::memcpy(out, in, static_cast<size_t>(row_bytes));
      }
    }
    EndStreaming();
  }
  return LaunchStatus();
}

}  // namespace stridewise
