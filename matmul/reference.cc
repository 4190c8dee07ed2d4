#include "matmul/reference.h"

#include <cmath>

#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/device_ops.h"
#include "common/gpu/gpu_runtime.h"

namespace stridewise {
namespace {

// `out` has no gaps between its rows, here and on the device.
template <typename T>
void Widen(ConstMatrix<T> in, bool absolute, double* out) {
  for (int64_t r = 0; r < in.rows; ++r) {
    for (int64_t c = 0; c < in.cols; ++c) {
      const double value = in(r, c);
      out[r * in.cols + c] = absolute ? std::abs(value) : value;
    }
  }
}

size_t DoubleBytes(int64_t rows, int64_t cols) {
  return static_cast<size_t>(rows) * static_cast<size_t>(cols) * sizeof(double);
}

template <typename T>
double Factor(double factor, bool absolute) {
  const double rounded = static_cast<T>(factor);
  return absolute ? std::abs(rounded) : rounded;
}

// The arguments of the FP64 product of gapless copies.
template <typename T>
MatMulArgs DoubleArgs(const MatMulArgs& args, bool absolute, const double* a, const double* b,
                      double* c) {
  MatMulArgs result = args;
  result.type = ElementType::kDouble;
  result.a = a;
  result.lda = args.A<T>().cols;
  result.b = b;
  result.ldb = args.B<T>().cols;
  result.c = c;
  result.ldc = args.n;
  result.alpha = Factor<T>(args.alpha, absolute);
  result.beta = Factor<T>(args.beta, absolute);
  result.block = kNoBlock;
  return result;
}

template <typename T>
absl::Status ProductOnHost(const MatMulArgs& args, bool absolute, Matrix<double> out) {
  ASSIGN_OR_RETURN(const HostBuffer a,
                   HostBuffer::Allocate(DoubleBytes(args.m, args.k), HostMemory::kPageable));
  ASSIGN_OR_RETURN(const HostBuffer b,
                   HostBuffer::Allocate(DoubleBytes(args.k, args.n), HostMemory::kPageable));
  Widen(args.A<T>(), absolute, a.As<double>());
  Widen(args.B<T>(), absolute, b.As<double>());
  const MatMulArgs wide = DoubleArgs<T>(args, absolute, a.As<double>(), b.As<double>(), out.data);
  if (wide.beta != 0) Widen<T>(args.C<T>(), absolute, out.data);
  return RunMatMul(*FindMatMulImplementation("eigen"), wide);
}

// Brings a host matrix to the device as doubles.
template <typename T>
absl::Status WidenToDevice(ConstMatrix<T> host, bool absolute, const DeviceBuffer& wide) {
  const size_t bytes = static_cast<size_t>(SpanElements(host.rows, host.cols, host.ld)) * sizeof(T);
  ASSIGN_OR_RETURN(const DeviceBuffer narrow, DeviceBuffer::Allocate(bytes));
  RETURN_IF_ERROR(gpu::Copy(narrow.data(), host.data, bytes));
  const ConstMatrix<T> on_device{narrow.As<T>(), host.rows, host.cols, host.ld};
  RETURN_IF_ERROR(WidenOnDevice(on_device, absolute, wide.As<double>(), nullptr));
  return gpu::Synchronize(nullptr);
}

template <typename T>
absl::Status ProductOnDevice(const MatMulArgs& args, bool absolute, Matrix<double> out) {
  ASSIGN_OR_RETURN(const DeviceBuffer a, DeviceBuffer::Allocate(DoubleBytes(args.m, args.k)));
  ASSIGN_OR_RETURN(const DeviceBuffer b, DeviceBuffer::Allocate(DoubleBytes(args.k, args.n)));
  ASSIGN_OR_RETURN(const DeviceBuffer c, DeviceBuffer::Allocate(DoubleBytes(args.m, args.n)));
  MatMulArgs wide = DoubleArgs<T>(args, absolute, a.As<double>(), b.As<double>(), c.As<double>());
  wide.stream = nullptr;
  RETURN_IF_ERROR(WidenToDevice(args.A<T>(), absolute, a));
  RETURN_IF_ERROR(WidenToDevice(args.B<T>(), absolute, b));
  if (wide.beta != 0) RETURN_IF_ERROR(WidenToDevice<T>(args.C<T>(), absolute, c));
  RETURN_IF_ERROR(RunMatMul(*FindMatMulImplementation("cublas"), wide));
  RETURN_IF_ERROR(gpu::Synchronize(nullptr));
  return gpu::Copy(out.data, c.data(), DoubleBytes(args.m, args.n));
}

}  // namespace

absl::Status ReferenceProducts(const MatMulArgs& args, Matrix<double> r, Matrix<double> s) {
  return ForElementType(args, [&](auto element) -> absl::Status {
    using T = decltype(element);
    MatMulArgs first = args;
    first.batch = 1;
    if (Factor<T>(args.alpha, false) == 0) first.k = 0;  // There is nothing to widen, then.
    for (const bool absolute : {false, true}) {
      const Matrix<double>& out = absolute ? s : r;
      RETURN_IF_ERROR(args.cublas != nullptr ? ProductOnDevice<T>(first, absolute, out)
                                             : ProductOnHost<T>(first, absolute, out));
    }
    return absl::OkStatus();
  });
}

int64_t ReferenceTerms(const MatMulArgs& args) {
  return args.alpha == 1 && args.beta == 0 ? args.k : args.k + 2;
}

}  // namespace stridewise
