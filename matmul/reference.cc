#include "matmul/reference.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/base/parallel_rows.h"
#include "common/base/status_macros.h"
#include "common/gpu/buffer.h"
#include "common/gpu/device_ops.h"
#include "common/gpu/gpu_runtime.h"

namespace stridewise {
namespace {

// A host matrix as it is stored, of a type that is known when it runs.
struct Stored {
  ConstMatrix<char> view;
  ElementType type;
};

Stored StoredA(const MatMulArgs& args) { return {args.A<char>(), args.a.type}; }
Stored StoredB(const MatMulArgs& args) { return {args.B<char>(), args.b.type}; }
Stored StoredC(const MatMulArgs& args) { return {args.C<char>(), args.c.type}; }

// Calls fn with the matrix in its own type.
template <typename Fn>
auto ForTyped(const Stored& stored, Fn fn) {
  return ForElementType<float, double, Bf16, Fp16, int8_t, int32_t, E4m3,
                        E5m2>(stored.type, [&](auto element) {
    using T = decltype(element);
    const ConstMatrix<char>& view = stored.view;
    return fn(ConstMatrix<T>{reinterpret_cast<const T*>(view.data), view.rows, view.cols, view.ld});
  });
}

// Writes the matrix without gaps between its rows.
void Widen(const Stored& stored, bool absolute, double* out) {
  ForTyped(stored, [&](const auto& in) {
    for (int64_t r = 0; r < in.rows; ++r) {
      for (int64_t c = 0; c < in.cols; ++c) {
        const auto value = static_cast<double>(in(r, c));
        out[r * in.cols + c] = absolute ? std::abs(value) : value;
      }
    }
  });
}

// Copies a host matrix to the device as doubles without gaps between the rows.
absl::Status WidenToDevice(const Stored& stored, bool absolute, const DeviceBuffer& wide) {
  return ForTyped(stored, [&](auto in) -> absl::Status {
    const size_t bytes = static_cast<size_t>(SpanElements(in.rows, in.cols, in.ld)) *
                         static_cast<size_t>(ElementBytes(stored.type));
    ASSIGN_OR_RETURN(const DeviceBuffer narrow, DeviceBuffer::Allocate(bytes));
    RETURN_IF_ERROR(gpu::Copy(narrow.data(), in.data, bytes));
    in.data = static_cast<decltype(in.data)>(narrow.data());
    RETURN_IF_ERROR(WidenOnDevice(in, absolute, wide.As<double>(), nullptr));
    return gpu::Synchronize(nullptr);
  });
}

size_t DoubleBytes(int64_t rows, int64_t cols) {
  return static_cast<size_t>(rows) * static_cast<size_t>(cols) * sizeof(double);
}

double Factor(const MatMulArgs& args, double factor, bool absolute) {
  const double rounded =
      ScaleType(args) == ElementType::kFloat ? double{static_cast<float>(factor)} : factor;
  return absolute ? std::abs(rounded) : rounded;
}

// Returns the arguments of the FP64 product of gapless copies.
MatMulArgs DoubleArgs(const MatMulArgs& args, bool absolute, const double* a, const double* b,
                      double* c) {
  MatMulArgs result = args;
  result.a = {a, args.A<char>().cols};
  result.a.transposed = args.a.transposed;
  result.b = {b, args.B<char>().cols};
  result.b.transposed = args.b.transposed;
  result.c = {c, args.n};
  result.alpha = Factor(args, args.alpha, absolute);
  result.beta = Factor(args, args.beta, absolute);
  result.block = kNoBlock;
  result.precision = MatMulPrecision::kFp32;
  result.epilogue = MatMulEpilogue();
  return result;
}

absl::Status ProductOnHost(const MatMulArgs& args, bool absolute, Matrix<double> out) {
  ASSIGN_OR_RETURN(const HostBuffer a,
                   HostBuffer::Allocate(DoubleBytes(args.m, args.k), HostMemory::kPageable));
  ASSIGN_OR_RETURN(const HostBuffer b,
                   HostBuffer::Allocate(DoubleBytes(args.k, args.n), HostMemory::kPageable));
  Widen(StoredA(args), absolute, a.As<double>());
  Widen(StoredB(args), absolute, b.As<double>());
  const MatMulArgs wide = DoubleArgs(args, absolute, a.As<double>(), b.As<double>(), out.data);
  if (wide.beta != 0) Widen(StoredC(args), absolute, out.data);
  return RunMatMul(*FindMatMulImplementation("eigen"), wide);
}

absl::Status ProductOnDevice(const MatMulArgs& args, bool absolute, Matrix<double> out) {
  ASSIGN_OR_RETURN(const DeviceBuffer a, DeviceBuffer::Allocate(DoubleBytes(args.m, args.k)));
  ASSIGN_OR_RETURN(const DeviceBuffer b, DeviceBuffer::Allocate(DoubleBytes(args.k, args.n)));
  ASSIGN_OR_RETURN(const DeviceBuffer c, DeviceBuffer::Allocate(DoubleBytes(args.m, args.n)));
  MatMulArgs wide = DoubleArgs(args, absolute, a.As<double>(), b.As<double>(), c.As<double>());
  wide.stream = nullptr;
  RETURN_IF_ERROR(WidenToDevice(StoredA(args), absolute, a));
  RETURN_IF_ERROR(WidenToDevice(StoredB(args), absolute, b));
  if (wide.beta != 0) RETURN_IF_ERROR(WidenToDevice(StoredC(args), absolute, c));
  RETURN_IF_ERROR(RunMatMul(*FindMatMulImplementation("cublas"), wide));
  RETURN_IF_ERROR(gpu::Synchronize(nullptr));
  return gpu::Copy(out.data, c.data(), DoubleBytes(args.m, args.n));
}

double Activated(Activation activation, double x) {
  switch (activation) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return x < 0 ? 0 : x;
    case Activation::kGelu:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::kGeluErf:
      return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
  }
  return x;
}

// Returns the greatest factor by which the activation may enlarge an error.
double GreatestSlope(Activation activation) {
  const bool gelu = activation == Activation::kGelu || activation == Activation::kGeluErf;
  return gelu ? 1.13 : 1;
}

// Applies the epilogue to the products and to the sums of magnitudes.
void ApplyTo(const MatMulArgs& args, const Matrix<double>& r, const Matrix<double>& s) {
  const Activation activation = args.epilogue.activation;
  std::vector<double> bias(static_cast<size_t>(args.n));
  if (args.epilogue.bias != nullptr) {
    const auto* data = static_cast<const char*>(args.epilogue.bias);
    Widen({{data, 1, args.n, args.n}, args.c.type}, false, bias.data());
  }
  constexpr int64_t kOperations = 32;  // Of an error function, in multiply-adds.
  ForRowsInParallel(args.m, args.n * kOperations, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      for (int64_t col = 0; col < args.n; ++col) {
        r(row, col) += bias[static_cast<size_t>(col)];
        s(row, col) += std::abs(bias[static_cast<size_t>(col)]);
        if (activation == Activation::kNone) continue;
        r(row, col) = Activated(activation, r(row, col));
        s(row, col) *= GreatestSlope(activation);
      }
    }
  });
}

}  // namespace

absl::Status ReferenceProducts(const MatMulArgs& args, Matrix<double> r, Matrix<double> s) {
  MatMulArgs first = args;
  first.batch = 1;
  if (Factor(args, args.alpha, false) == 0) first.k = 0;  // Then there is nothing to widen.
  for (const bool absolute : {false, true}) {
    const Matrix<double>& out = absolute ? s : r;
    RETURN_IF_ERROR(args.cublas != nullptr ? ProductOnDevice(first, absolute, out)
                                           : ProductOnHost(first, absolute, out));
  }
  if (HasEpilogue(args)) ApplyTo(args, r, s);
  return absl::OkStatus();
}

namespace {

// Sums of FP8 products have 13 fractional bits, on an H200.
constexpr double kUnitOfFp8Sums = 0x1p-13;

bool IsFp8(ElementType type) { return type == ElementType::kE4m3 || type == ElementType::kE5m2; }

}  // namespace

ProductAccuracy AccuracyOf(const MatMulTypes& of_sums_in_fp32, MatMulPrecision precision) {
  constexpr double kUnitOfTf32 = 0x1p-11;
  constexpr double kUnitOfMedium = 0x3p-16;  // docs/fp32_split.md.
  MatMulTypes types = of_sums_in_fp32;
  if (precision == MatMulPrecision::kFp16Sums) types.accumulator = ElementType::kFp16;
  ProductAccuracy accuracy = AccuracyOf(types.a, types.accumulator, types.c);
  if (precision == MatMulPrecision::kTf32) {
    accuracy.operand_unit = kUnitOfTf32;
    accuracy.toward_zero = true;
  }
  if (precision == MatMulPrecision::kBf16 || precision == MatMulPrecision::kFp16) {
    const bool bf16 = precision == MatMulPrecision::kBf16;
    accuracy.operand_unit = UnitRoundoff(bf16 ? ElementType::kBf16 : ElementType::kFp16);
    accuracy.toward_zero = true;
  }
  if (precision == MatMulPrecision::kFp32Medium) accuracy.operand_unit = kUnitOfMedium;
  if (IsFp8(types.a)) accuracy.unit = kUnitOfFp8Sums;
  // Exact sums, which become floats and are then scaled and added to.
  if (types.accumulator == ElementType::kInt && types.c == ElementType::kFloat) {
    accuracy.unit = UnitRoundoff(types.c);
  }
  return accuracy;
}

ProductAccuracy AccuracyOf(const MatMulImplementation& implementation, const MatMulArgs& args) {
  constexpr double kPromoted = 128;
  const MatMulTypes& types = *FindTypes(implementation, args);
  ProductAccuracy accuracy = AccuracyOf(types, args.precision);
  const bool promotes =
      implementation.math != "tensor_fast" && args.precision != MatMulPrecision::kFastSums;
  if (IsFp8(types.a) && promotes && args.k > kPromoted) {
    accuracy.unit =
        UnitRoundoff(types.accumulator) + kUnitOfFp8Sums * kPromoted / static_cast<double>(args.k);
  }
  if (IsFp8(types.a) && HasEpilogue(args)) {
    const auto terms = static_cast<double>(std::max<int64_t>(1, ReferenceTerms(args)));
    accuracy.unit += accuracy.output_unit / terms;
  }
  return accuracy;
}

int64_t ReferenceTerms(const MatMulArgs& args) {
  const int64_t bias = args.epilogue.bias == nullptr ? 0 : 1;
  return bias + (args.alpha == 1 && args.beta == 0 ? args.k : args.k + 2);
}

}  // namespace stridewise
