// For matrices of one row or one column. Where neither side has gaps their transpose is a copy, and
// is made as one: 16 bytes a thread, four vectors of a thread in flight. Through shared memory, as
// few_rows and few_columns would take them, it reaches 0.80 of memcpy on an H200.
//
// With gaps, or pointers that are not multiples of 16, and for all other matrices, a thread moves
// one element: correct, and not fast.

#include "common/gpu/launch.h"
#include "transpose/alignment.h"
#include "transpose/args.h"
#include "transpose/device/vectors.h"

namespace stridewise {
namespace {

constexpr int kThreads = 256;
constexpr int kInFlight = 4;  // Vectors that a thread moves.
constexpr int64_t kBytesOfBlock = kInFlight * kThreads * kVectorBytes;

template <typename T>
__global__ void __launch_bounds__(kThreads) CopyContiguous(const T* in, T* out, int64_t elements) {
  const int64_t vectors = elements / kVectorElements<T>;
  const auto* from = reinterpret_cast<const Vector*>(in);
  auto* to = reinterpret_cast<Vector*>(out);
  const int64_t first =
      static_cast<int64_t>(blockIdx.x) * (kInFlight * kThreads) + static_cast<int>(threadIdx.x);
  Vector loaded[kInFlight];
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    if (first + i * kThreads < vectors) loaded[i] = from[first + i * kThreads];
  }
#pragma unroll
  for (int i = 0; i < kInFlight; ++i) {
    if (first + i * kThreads < vectors) to[first + i * kThreads] = loaded[i];
  }
  // The elements after the last whole vector, fewer than 16.
  const int64_t rest = vectors * kVectorElements<T> + first;
  if (blockIdx.x == 0 && rest < elements) out[rest] = in[rest];
}

template <typename T>
__global__ void __launch_bounds__(kThreads) MoveElements(ConstMatrix<T> in, Matrix<T> out) {
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (i >= in.rows * in.cols) return;
  const int64_t row = i / in.cols;
  const int64_t col = i - row * in.cols;
  out(col, row) = in(row, col);
}

bool IsCopy(const TransposeArgs& args) {
  const bool row = args.rows == 1 && args.ld_out == 1;
  const bool column = args.cols == 1 && args.ld_in == 1;
  return (row || column) && IsAt(args.in, kVectorBytes) && IsAt(args.out, kVectorBytes);
}

}  // namespace

LaunchStatus TransposeOneRowOrColumn(const TransposeArgs& args) {
  return ForElementSize(args, [&](auto element) {
    using T = decltype(element);
    const int64_t elements = args.rows * args.cols;
    if (IsCopy(args)) {
      return Launch(CopyContiguous<T>, Grid{CeilDiv(elements * args.element_bytes, kBytesOfBlock)},
                    Block{kThreads}, 0, args.stream, static_cast<const T*>(args.in),
                    static_cast<T*>(args.out), elements);
    }
    return Launch(MoveElements<T>, Grid{CeilDiv(elements, kThreads)}, Block{kThreads}, 0,
                  args.stream, args.In<T>(), args.Out<T>());
  });
}

}  // namespace stridewise
