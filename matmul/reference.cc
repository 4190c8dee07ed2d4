#include "matmul/reference.h"

#include <cmath>

#include "common/buffer.h"
#include "common/device_ops.h"
#include "common/gpu_runtime.h"
#include "common/status_macros.h"

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

// The arguments of the FP64 product of gapless copies.
MatMulArgs DoubleArgs(const MatMulArgs& args, const double* a, const double* b, double* c) {
  MatMulArgs result = args;
  result.type = ElementType::kDouble;
  result.a = a;
  result.lda = args.k;
  result.b = b;
  result.ldb = args.n;
  result.c = c;
  result.ldc = args.n;
  result.block = {0, 0, 0};
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
  return RunMatMul(*FindMatMulImplementation("eigen"),
                   DoubleArgs(args, a.As<double>(), b.As<double>(), out.data));
}

// Brings a host matrix to the device as doubles.
template <typename T>
absl::StatusOr<DeviceBuffer> WidenedOnDevice(ConstMatrix<T> host, bool absolute) {
  const size_t bytes = static_cast<size_t>(SpanElements(host.rows, host.cols, host.ld)) * sizeof(T);
  ASSIGN_OR_RETURN(const DeviceBuffer narrow, DeviceBuffer::Allocate(bytes));
  ASSIGN_OR_RETURN(DeviceBuffer wide, DeviceBuffer::Allocate(DoubleBytes(host.rows, host.cols)));
  RETURN_IF_ERROR(gpu::Copy(narrow.data(), host.data, bytes));
  const ConstMatrix<T> on_device{narrow.As<T>(), host.rows, host.cols, host.ld};
  RETURN_IF_ERROR(WidenOnDevice(on_device, absolute, wide.As<double>(), nullptr));
  RETURN_IF_ERROR(gpu::Synchronize(nullptr));
  return wide;
}

template <typename T>
absl::Status ProductOnDevice(const MatMulArgs& args, bool absolute, Matrix<double> out) {
  ASSIGN_OR_RETURN(const DeviceBuffer a, WidenedOnDevice(args.A<T>(), absolute));
  ASSIGN_OR_RETURN(const DeviceBuffer b, WidenedOnDevice(args.B<T>(), absolute));
  ASSIGN_OR_RETURN(const DeviceBuffer c, DeviceBuffer::Allocate(DoubleBytes(args.m, args.n)));
  MatMulArgs device = DoubleArgs(args, a.As<double>(), b.As<double>(), c.As<double>());
  device.stream = nullptr;
  RETURN_IF_ERROR(RunMatMul(*FindMatMulImplementation("cublas"), device));
  RETURN_IF_ERROR(gpu::Synchronize(nullptr));
  return gpu::Copy(out.data, c.data(), DoubleBytes(args.m, args.n));
}

}  // namespace

absl::Status ReferenceProducts(const MatMulArgs& args, Matrix<double> r, Matrix<double> s) {
  for (const bool absolute : {false, true}) {
    const Matrix<double>& out = absolute ? s : r;
    RETURN_IF_ERROR(ForElementType(args, [&](auto element) {
      using T = decltype(element);
      return args.cublas != nullptr ? ProductOnDevice<T>(args, absolute, out)
                                    : ProductOnHost<T>(args, absolute, out);
    }));
  }
  return absl::OkStatus();
}

}  // namespace stridewise
