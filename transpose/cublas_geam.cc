// cuBLAS's out-of-place transpose, C = 1 * A^T + 0 * B. A row-major matrix of rows x cols is a
// column-major one of cols x rows to cuBLAS.

#include <cublas_v2.h>

#include "common/base/status_macros.h"
#include "common/gpu/cublas_status.h"
#include "transpose/registry.h"

namespace stridewise {
namespace {

template <typename T, typename Geam>
absl::Status Transpose(const TransposeArgs& args, Geam geam, T one, T zero) {
  // B is not read where its factor is 0; the documentation then wants C in its place.
  T* out = static_cast<T*>(args.out);
  return CUBLAS_STATUS(geam(args.cublas, CUBLAS_OP_T, CUBLAS_OP_N, args.rows, args.cols, &one,
                            static_cast<const T*>(args.in), args.ld_in, &zero, out, args.ld_out,
                            out, args.ld_out));
}

}  // namespace

LaunchStatus TransposeCublasGeam(const TransposeArgs& args) {
  if (args.cublas == nullptr) {
    return absl::InvalidArgumentError("cublas is null; allowed is a handle of cublas_handle.h");
  }
  if (args.rows == 0 || args.cols == 0) return absl::OkStatus();
  RETURN_IF_ERROR(CUBLAS_STATUS(cublasSetStream(args.cublas, args.stream)));
  switch (args.element_bytes) {
    case 4:
      return Transpose<float>(args, cublasSgeam_64, 1, 0);
    case 8:
      return Transpose<double>(args, cublasDgeam_64, 1, 0);
    default:
      return Transpose<cuDoubleComplex>(args, cublasZgeam_64, {1, 0}, {0, 0});
  }
}

}  // namespace stridewise
