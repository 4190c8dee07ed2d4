// OpenBLAS's transpose with a factor, somatcopy and domatcopy, where the library is installed.

#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "common/base/shared_library.h"
#include "transpose/registry.h"

namespace stridewise {
namespace {

template <typename T>
LaunchStatus Omatcopy(const TransposeArgs& args, const char* name) {
  using Function = void (*)(int order, int transpose, int rows, int cols, T alpha, const T* a,
                            int lda, T* b, int ldb);
  const auto omatcopy = OpenBlas().Find<Function>(name);
  if (omatcopy == nullptr) return absl::UnavailableError(OpenBlas().error());
  constexpr int64_t kMax = std::numeric_limits<int>::max();
  if (args.rows > kMax || args.cols > kMax || args.ld_in > kMax || args.ld_out > kMax) {
    return absl::InvalidArgumentError("an extent is more than OpenBLAS's 2147483647");
  }
  if (args.rows == 0 || args.cols == 0) return LaunchStatus();
  omatcopy(/*row-major*/ 101, /*transposed*/ 112, static_cast<int>(args.rows),
           static_cast<int>(args.cols), T{1}, static_cast<const T*>(args.in),
           static_cast<int>(args.ld_in), static_cast<T*>(args.out), static_cast<int>(args.ld_out));
  return LaunchStatus();
}

}  // namespace

LaunchStatus TransposeOpenBlas(const TransposeArgs& args) {
  return args.element_bytes == 4 ? Omatcopy<float>(args, "cblas_somatcopy")
                                 : Omatcopy<double>(args, "cblas_domatcopy");
}

}  // namespace stridewise
