// FP64 products by INT8 tensor cores: `int8_moduli`. Rows of A and columns of B become whole
// numbers of some 51 bits, these become residues modulo 15 numbers of a byte (moduli.h), and the
// product of the residues is 15 products of INT8 with sums in INT32, from which C is found.
//
// 15 products of INT8 at 1500 TOP/s are 100 TFLOP/s of FP64, where DGEMM has 63. The error is
// relative to the largest elements: |C - AB| is at most 2^-bits * (a |B| + |A| b) + 2^-52 |AB| in
// each element, where a and b are a row's and a column's largest and `bits` is BitsForModuli(k).
// That is DGEMM's for rows of about even size, and more for others: this is for callers who know
// their numbers. Rows and columns with NaN or infinite elements are computed in FP64.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "common/base/status_macros.h"
#include "common/gpu/launch.h"
#include "matmul/device/gemm_args.h"
#include "matmul/device/moduli.h"
#include "matmul/device/registry_entry.h"

namespace stridewise {
namespace {

constexpr int kThreads = 256;
constexpr int kTile = 32;  // Of residues: 32 x 32, four by a thread.
constexpr int kNoShift = std::numeric_limits<int>::max();  // A row with NaN or infinite elements.

// A and B in FP64, and C; row-major.
struct Fp64Product {
  const double* a;
  const double* b;
  double* c;
  int64_t lda, ldb, ldc;
  int m, n, k;
};

// Returns the power of two that takes a row's largest element to 2^(bits - 1) and more.
__device__ inline int ShiftFor(double most, int bits) {
  constexpr double kLargest = 0x1.fffffffffffffp1023;
  if (!(most <= kLargest)) return kNoShift;
  if (most == 0) return 0;
  return bits - 1 - ilogb(most);
}

// Writes the shifts of the rows of A, a warp each, and of the columns of B, 32 by a block.
__global__ void __launch_bounds__(kThreads)
    ModuliShifts(Fp64Product of, int bits, int row_blocks, int* shifts) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const auto larger = [](double x, double most) {  // NaN is the largest.
    return most != most || fabs(x) <= most ? most : fabs(x);
  };
  if (blockIdx.x < row_blocks) {
    const int row = static_cast<int>(blockIdx.x) * (kThreads / 32) + warp;
    if (row >= of.m) return;
    double most = 0;
#pragma unroll 4
    for (int k = lane; k < of.k; k += 32) most = larger(of.a[row * of.lda + k], most);
#pragma unroll
    for (int step = 16; step > 0; step /= 2) {
      most = larger(__shfl_xor_sync(~0u, most, step), most);
    }
    if (lane == 0) shifts[row] = ShiftFor(most, bits);
    return;
  }
  __shared__ double of_warps[kThreads / 32][32];
  const int col = (static_cast<int>(blockIdx.x) - row_blocks) * 32 + lane;
  double most = 0;
  if (col < of.n) {
#pragma unroll 8
    for (int k = warp; k < of.k; k += kThreads / 32) most = larger(of.b[k * of.ldb + col], most);
  }
  of_warps[warp][lane] = most;
  __syncthreads();
  if (warp > 0 || col >= of.n) return;
  for (int i = 1; i < kThreads / 32; ++i) most = larger(of_warps[i][lane], most);
  shifts[of.m + col] = ShiftFor(most, bits);
}

// Writes the residues of four neighbours along k, which begin at `to` in the first plane.
__device__ inline void StoreResidues(const double (&x)[4], int shift, int8_t* to,
                                     int64_t plane_bytes) {
  double whole[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) whole[i] = shift == kNoShift ? 0 : rint(ldexp(x[i], shift));
  ForEachModulus([&](auto modulus) {
    constexpr int kP = decltype(modulus)::kP;
    *reinterpret_cast<char4*>(to + decltype(modulus)::kIndex * plane_bytes) =
        make_char4(ResidueOf<kP>(whole[0]), ResidueOf<kP>(whole[1]), ResidueOf<kP>(whole[2]),
                   ResidueOf<kP>(whole[3]));
  });
}

// Writes planes of residues, kModuli x m x ld of A and of the transpose of B kModuli x n x ld, with
// zeros from k to ld. A block has 32 rows or columns and 32 of k.
template <bool kTurned>
__global__ void __launch_bounds__(kThreads)
    ModuliResidues(const double* matrix, int64_t matrix_ld, int mn, int k, const int* shifts,
                   int64_t ld, int8_t* residues) {
  __shared__ double tile[kTurned ? kTile : 1][kTile + 1];
  const int first_k = static_cast<int>(blockIdx.x) * kTile;
  const int64_t first = static_cast<int64_t>(blockIdx.y) * kTile;
  const int thread = static_cast<int>(threadIdx.x);
  if constexpr (kTurned) {
    const int64_t col = first + thread % kTile;
#pragma unroll
    for (int i = thread / kTile; i < kTile; i += kThreads / kTile) {
      const bool inside = col < mn && first_k + i < k;
      tile[i][thread % kTile] = inside ? matrix[(first_k + i) * matrix_ld + col] : 0;
    }
    __syncthreads();
  }
  const int line = thread / 8;
  const int four = thread % 8 * 4;
  if (first + line >= mn || first_k + four >= ld) return;
  double x[4];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if constexpr (kTurned) {
      x[i] = tile[four + i][line];
    } else {
      const int at = first_k + four + i;
      x[i] = at < k ? matrix[(first + line) * matrix_ld + at] : 0;
    }
  }
  StoreResidues(x, shifts[first + line], residues + (first + line) * ld + first_k + four, mn * ld);
}

// Computes one element as DGEMM does.
__device__ inline double DotInFp64(const Fp64Product& of, int64_t row, int64_t col) {
  double sum = 0;
  for (int64_t k = 0; k < of.k; ++k) sum = fma(of.a[row * of.lda + k], of.b[k * of.ldb + col], sum);
  return sum;
}

__global__ void __launch_bounds__(kThreads) ProductInFp64(Fp64Product of) {
  const int64_t col = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t row = blockIdx.y;
  if (col < of.n) of.c[row * of.ldc + col] = DotInFp64(of, row, col);
}

// Finds rows of C, from first_row on, from planes of `rows` x ld sums.
__global__ void __launch_bounds__(kThreads)
    FindFromModuli(Fp64Product of, const int* shifts, const int32_t* planes, int64_t first_row,
                   int rows, int64_t ld) {
  const int64_t col = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  const int64_t row = first_row + blockIdx.y;
  if (col >= of.n) return;
  const int shift_a = shifts[row];
  const int shift_b = shifts[of.m + col];
  double& out = of.c[row * of.ldc + col];
  if (shift_a == kNoShift || shift_b == kNoShift) {
    out = DotInFp64(of, row, col);
    return;
  }
  FromResidues found;
  ForEachModulus([&](auto modulus) {
    const int64_t row_of_planes = int64_t{decltype(modulus)::kIndex} * rows + blockIdx.y;
    found.Add(modulus, planes[row_of_planes * ld + col]);
  });
  out = ldexp(found.Value(), -shift_a - shift_b);
}

// Where everything lies in the workspace.
struct ModuliLayout {
  int64_t ld, ldc;  // Of residues and sums: rows begin at multiples of 16 bytes.
  int rows;         // Of C that are computed at a time.
  int64_t shifts, a, b, planes, inner, bytes;
};

// The product of the residues of some rows, a batch of kModuli.
MatMulArgs InnerArgs(const MatMulArgs& args, const ModuliLayout& layout, int64_t first_row,
                     int64_t rows) {
  auto* const workspace = static_cast<char*>(args.workspace);
  const auto at = [&](int64_t byte) { return workspace == nullptr ? nullptr : workspace + byte; };
  MatMulArgs inner;
  inner.m = rows;
  inner.n = args.n;
  inner.k = args.k;
  inner.batch = kModuli;
  inner.a = {at(layout.a + first_row * layout.ld), layout.ld, ElementType::kS8};
  inner.a.stride = args.m * layout.ld;
  inner.b = {at(layout.b), layout.ld, ElementType::kS8};
  inner.b.stride = args.n * layout.ld;
  inner.b.transposed = true;
  inner.c = {at(layout.planes), layout.ldc, ElementType::kInt};
  inner.c.stride = rows * layout.ldc;
  inner.device_model = args.device_model;
  inner.stream = args.stream;
  return inner;
}

const MatMulFunctions& Int8() {
  static const MatMulFunctions functions = FunctionsOf("tensor_int8");
  return functions;
}

ModuliLayout LayoutOf(const MatMulArgs& args) {
  constexpr int64_t kRowsAtATime = 1024;
  const auto aligned = [](int64_t bytes) { return CeilDiv(bytes, 256) * 256; };
  ModuliLayout layout = {};
  layout.ld = CeilDiv(args.k, 16) * 16;
  layout.ldc = CeilDiv(args.n, 4) * 4;
  layout.rows = static_cast<int>(std::min(args.m, kRowsAtATime));
  layout.a = aligned((args.m + args.n) * 4);
  layout.b = layout.a + aligned(kModuli * args.m * layout.ld);
  layout.planes = layout.b + aligned(kModuli * args.n * layout.ld);
  layout.inner = layout.planes + aligned(kModuli * layout.rows * layout.ldc * 4);
  MatMulArgs inner = InnerArgs(args, layout, 0, layout.rows);
  layout.bytes = layout.inner + aligned(Int8().workspace_bytes(inner));
  return layout;
}

// From k = 128 on numbers have all bits that the moduli hold, and to 2^16 no sum leaves INT32.
bool TakesModuli(const MatMulArgs& args) {
  constexpr int64_t kMost = 65535 * kTile;  // A grid's blocks in y.
  return DeviceOf(args).compute_capability == 90 && args.k >= 128 && args.k <= 65536 &&
         args.m > 0 && args.n > 0 && std::max(args.m, args.n) <= kMost;
}

}  // namespace

int64_t MatMulInt8ModuliWorkspaceBytes(const MatMulArgs& args) {
  return TakesModuli(args) ? LayoutOf(args).bytes : 0;
}

LaunchStatus MatMulInt8Moduli(const MatMulArgs& args) {
  if (args.m == 0 || args.n == 0) return LaunchStatus();
  const ConstMatrix<double> a = args.A<double>();
  const ConstMatrix<double> b = args.B<double>();
  const Matrix<double> c = args.C<double>();
  const Fp64Product of = {a.data,
                          b.data,
                          c.data,
                          a.ld,
                          b.ld,
                          c.ld,
                          static_cast<int>(args.m),
                          static_cast<int>(args.n),
                          static_cast<int>(args.k)};
  if (!TakesModuli(args) || LayoutOf(args).bytes > args.workspace_bytes) {
    return Launch(ProductInFp64, Grid{CeilDiv(args.n, kThreads), args.m}, Block{kThreads}, 0,
                  args.stream, of);
  }
  const ModuliLayout layout = LayoutOf(args);
  auto* const workspace = static_cast<char*>(args.workspace);
  int* const shifts = reinterpret_cast<int*>(workspace + layout.shifts);
  const int64_t row_blocks = CeilDiv(args.m, kThreads / 32);
  RETURN_IF_ERROR(Launch(ModuliShifts, Grid{row_blocks + CeilDiv(args.n, 32)}, Block{kThreads}, 0,
                         args.stream, of, BitsForModuli(args.k), static_cast<int>(row_blocks),
                         shifts));
  const auto residues = [&](auto kernel, const double* matrix, int64_t ld, int mn, const int* of_mn,
                            int64_t to) {
    return Launch(kernel, Grid{CeilDiv(layout.ld, kTile), CeilDiv(mn, kTile)}, Block{kThreads}, 0,
                  args.stream, matrix, ld, mn, of.k, of_mn, layout.ld,
                  reinterpret_cast<int8_t*>(workspace + to));
  };
  RETURN_IF_ERROR(residues(ModuliResidues<false>, of.a, of.lda, of.m, shifts, layout.a));
  RETURN_IF_ERROR(residues(ModuliResidues<true>, of.b, of.ldb, of.n, shifts + of.m, layout.b));
  for (int64_t row = 0; row < args.m; row += layout.rows) {
    const int64_t rows = std::min<int64_t>(layout.rows, args.m - row);
    MatMulArgs inner = InnerArgs(args, layout, row, rows);
    inner.workspace = workspace + layout.inner;
    inner.workspace_bytes = layout.bytes - layout.inner;
    RETURN_IF_ERROR(Int8().run(inner));
    RETURN_IF_ERROR(Launch(FindFromModuli, Grid{CeilDiv(args.n, kThreads), rows}, Block{kThreads},
                           0, args.stream, of, static_cast<const int*>(shifts),
                           static_cast<const int32_t*>(inner.c.data), row, static_cast<int>(rows),
                           layout.ldc));
  }
  return LaunchStatus();
}

}  // namespace stridewise
