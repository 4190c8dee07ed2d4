// cpu_simd on all cores, with streaming stores where the result does not stay in the caches.

#include <omp.h>

#include <algorithm>

#include "transpose/cpu/in_place.h"
#include "transpose/cpu/threads.h"
#include "transpose/cpu/tiles.h"

namespace stridewise {
namespace {

// A thread is woken for no less: 5 us of a core that moves 12 GB/s.
constexpr double kMinBytesOfThread = 65536;

// Input and output that are larger leave the last-level caches that a core may count on.
constexpr double kMinStreamedBytes = 16 << 20;

double BytesOf(const TransposeArgs& args) {
  return 2.0 * static_cast<double>(args.batch) * static_cast<double>(args.rows) *
         static_cast<double>(args.cols) * static_cast<double>(args.element_bytes);
}

int ThreadsFor(double bytes) {
  const double most = std::max(bytes / kMinBytesOfThread, 1.0);
  return static_cast<int>(std::min<double>(omp_get_max_threads(), most));
}

template <typename T>
Matrix<T> Advance(const Matrix<T>& matrix, int64_t elements) {
  return {matrix.data + elements, matrix.rows, matrix.cols, matrix.ld};
}

}  // namespace

LaunchStatus TransposeOnThreads(const TransposeArgs& args) {
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    const double bytes = BytesOf(args);
    const bool streams = bytes >= kMinStreamedBytes;
    const int threads = ThreadsFor(bytes);
    const ConstMatrix<T> in = args.In<T>();
    const Matrix<T> out = args.Out<T>();
    const auto transpose = [&](int64_t index, int threads_of_one) {
      const ConstMatrix<T> one = {in.data + index * args.stride_in, in.rows, in.cols, in.ld};
      TransposeByTiles(one, Advance(out, index * args.stride_out), streams, threads_of_one);
    };
    if (args.batch >= threads) {
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
      for (int64_t i = 0; i < args.batch; ++i) transpose(i, 1);
    } else {
      for (int64_t i = 0; i < args.batch; ++i) transpose(i, threads);
    }
    return LaunchStatus();
  });
}

LaunchStatus TransposeInPlaceOnThreads(const TransposeArgs& args) {
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    const int threads = ThreadsFor(BytesOf(args));
    TransposeInPlace(args.Out<T>(), args.batch, args.stride_out, threads);
    return LaunchStatus();
  });
}

LaunchStatus TransposeCpuThreads(const TransposeArgs& args) { return TransposeOnThreads(args); }

LaunchStatus TransposeCpuInPlace(const TransposeArgs& args) {
  return TransposeInPlaceOnThreads(args);
}

}  // namespace stridewise
