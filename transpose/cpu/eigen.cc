// Eigen's transpose, on one core: its assignments are not run in parallel.

#include <Eigen/Core>
#include <complex>
#include <type_traits>

#include "transpose/registry.h"

namespace stridewise {

LaunchStatus TransposeEigen(const TransposeArgs& args) {
  return ForElementSize(args, [&](auto element) {
    using Bits = decltype(element);
    // Eigen takes arithmetic types; it copies the 16 bytes of a complex double as they are.
    using T = std::conditional_t<std::is_same_v<Bits, Bits128>, std::complex<double>, Bits>;
    using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    using Stride = Eigen::OuterStride<>;
    const Eigen::Map<const RowMajor, Eigen::Unaligned, Stride> in(
        static_cast<const T*>(args.in), args.rows, args.cols, Stride(args.ld_in));
    Eigen::Map<RowMajor, Eigen::Unaligned, Stride> out(static_cast<T*>(args.out), args.cols,
                                                       args.rows, Stride(args.ld_out));
    out = in.transpose();
    return LaunchStatus();
  });
}

}  // namespace stridewise
