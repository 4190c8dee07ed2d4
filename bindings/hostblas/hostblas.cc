// sgemm and dgemm as the Fortran and the C interface of BLAS name them, and OpenBLAS's
// somatcopy and domatcopy, on this library's CPU code. To be preloaded under a program that calls
// BLAS:
//
//   LD_PRELOAD=libstridewise_hostblas.so python3 program.py
//
// Everything else of BLAS comes from the library that the program is linked with. Wrong arguments
// go to its xerbla_, with the number of the argument, as in the reference.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

#include "common/base/host_threads.h"
#include "matmul/cpu/multiply.h"
#include "transpose/cpu/batch.h"
#include "transpose/cpu/block.h"

#define STRIDEWISE_EXPORT extern "C" __attribute__((visibility("default")))

// The program's own, or that of its BLAS.
extern "C" __attribute__((weak)) void xerbla_(const char* routine, const int* argument,
                                              size_t routine_length);

namespace stridewise {
namespace {

constexpr int kCblasRowMajor = 101;
constexpr int kCblasColMajor = 102;
constexpr int kCblasNoTrans = 111;
constexpr int kCblasConjNoTrans = 114;

void Report(const char* routine, int argument) {
  if (xerbla_ != nullptr) {
    xerbla_(routine, &argument, std::strlen(routine));
    return;
  }
  std::fprintf(stderr, "** On entry to %s parameter number %d had an illegal value\n", routine,
               argument);
}

// A call of gemm with column-major operands.
template <typename T>
struct Gemm {
  bool transpose_a, transpose_b;
  int64_t m, n, k;
  T alpha;
  const T* a;
  int64_t lda;
  const T* b;
  int64_t ldb;
  T beta;
  T* c;
  int64_t ldc;
};

// Returns the number of the first wrong argument of the Fortran routine, 0 if there is none.
template <typename T>
int WrongArgument(const Gemm<T>& gemm) {
  const int64_t a_rows = gemm.transpose_a ? gemm.k : gemm.m;
  const int64_t b_rows = gemm.transpose_b ? gemm.n : gemm.k;
  if (gemm.m < 0) return 3;
  if (gemm.n < 0) return 4;
  if (gemm.k < 0) return 5;
  if (gemm.lda < (a_rows > 1 ? a_rows : 1)) return 8;
  if (gemm.ldb < (b_rows > 1 ? b_rows : 1)) return 10;
  if (gemm.ldc < (gemm.m > 1 ? gemm.m : 1)) return 13;
  return 0;
}

// A column-major matrix is the transpose of the row-major one in the same memory, and
// C^T = op(B)^T op(A)^T.
template <typename T>
void Run(const Gemm<T>& gemm) {
  MatMulArgs args;
  args.m = gemm.n;
  args.n = gemm.m;
  args.k = gemm.k;
  args.a = {gemm.b, gemm.ldb};
  args.a.transposed = gemm.transpose_b;
  args.b = {gemm.a, gemm.lda};
  args.b.transposed = gemm.transpose_a;
  args.c = {gemm.c, gemm.ldc};
  args.alpha = gemm.alpha;
  args.beta = gemm.beta;
  MultiplyOnHost(args, HostThreads());
}

// Sets *transposed for a letter of BLAS. Returns false for other letters.
bool ReadLetter(char letter, bool* transposed) {
  switch (letter) {
    case 'N':
    case 'n':
      *transposed = false;
      return true;
    case 'T':
    case 't':
    case 'C':
    case 'c':
      *transposed = true;
      return true;
    default:
      return false;
  }
}

template <typename T>
void FortranGemm(const char* routine, char transpose_a, char transpose_b, Gemm<T> gemm) {
  if (!ReadLetter(transpose_a, &gemm.transpose_a)) return Report(routine, 1);
  if (!ReadLetter(transpose_b, &gemm.transpose_b)) return Report(routine, 2);
  const int wrong = WrongArgument(gemm);
  if (wrong != 0) return Report(routine, wrong);
  Run(gemm);
}

// Arguments are counted as in the C interface: one more, for the order.
template <typename T>
void CblasGemm(const char* routine, int order, int transpose_a, int transpose_b, Gemm<T> gemm) {
  if (order != kCblasRowMajor && order != kCblasColMajor) return Report(routine, 1);
  if (transpose_a < kCblasNoTrans || transpose_a > kCblasConjNoTrans) return Report(routine, 2);
  if (transpose_b < kCblasNoTrans || transpose_b > kCblasConjNoTrans) return Report(routine, 3);
  const auto is_transposed = [](int value) {
    return value != kCblasNoTrans && value != kCblasConjNoTrans;
  };
  gemm.transpose_a = is_transposed(transpose_a);
  gemm.transpose_b = is_transposed(transpose_b);
  if (order == kCblasRowMajor) {
    std::swap(gemm.m, gemm.n);
    std::swap(gemm.a, gemm.b);
    std::swap(gemm.lda, gemm.ldb);
    std::swap(gemm.transpose_a, gemm.transpose_b);
  }
  const int wrong = WrongArgument(gemm);
  if (wrong != 0) {
    // What was exchanged is counted where the caller has it.
    int caller = wrong;
    if (order == kCblasRowMajor) {
      if (wrong == 3 || wrong == 4) caller = 7 - wrong;
      if (wrong == 8 || wrong == 10) caller = 18 - wrong;
    }
    return Report(routine, caller + 1);
  }
  Run(gemm);
}

// Stores alpha times a block of A, 0 where alpha is 0 whatever A is.
template <typename T>
void ScaleBlock(T alpha, const T* a, int64_t lda, int64_t rows, int64_t cols, T* to, int64_t ld) {
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t col = 0; col < cols; ++col) {
      to[row * ld + col] = alpha == 0 ? 0 : alpha * a[row * lda + col];
    }
  }
}

// B = alpha * op(A), A being rows x cols and row-major.
template <typename T>
void Omatcopy(bool transposed, int64_t rows, int64_t cols, T alpha, const T* a, int64_t lda, T* b,
              int64_t ldb) {
  if (rows <= 0 || cols <= 0) return;
  constexpr int64_t kBytes = sizeof(T);
  const auto transpose = [&](const T* from, int64_t ld, T* to, int64_t m, int64_t n) {
    return BlockTranspose{reinterpret_cast<const uint8_t*>(from),
                          ld * kBytes,
                          reinterpret_cast<uint8_t*>(to),
                          ldb * kBytes,
                          m,
                          n,
                          kBytes};
  };
  if (transposed && alpha == 1) {
    return TransposeBatch({transpose(a, lda, b, rows, cols)}, HostThreads());
  }
  // By tiles, which are scaled in the L1 cache and transposed from there.
  constexpr int64_t kSide = 64;
  const int64_t across = (cols + kSide - 1) / kSide;
  const int64_t tiles = across * ((rows + kSide - 1) / kSide);
  const double bytes = 2.0 * kBytes * static_cast<double>(rows) * static_cast<double>(cols);
  const int threads = ThreadsForBytes(bytes, HostThreads());
#pragma omp parallel for num_threads(threads) schedule(static) if (threads > 1)
  for (int64_t tile = 0; tile < tiles; ++tile) {
    const int64_t row = tile / across * kSide;
    const int64_t col = tile % across * kSide;
    const int64_t m = std::min(kSide, rows - row);
    const int64_t n = std::min(kSide, cols - col);
    const T* const from = a + row * lda + col;
    if (!transposed) {
      ScaleBlock(alpha, from, lda, m, n, b + row * ldb + col, ldb);
      continue;
    }
    alignas(64) T scaled[kSide * kSide];
    ScaleBlock(alpha, from, lda, m, n, scaled, kSide);
    TransposeBlocks(transpose(scaled, kSide, b + col * ldb + row, m, n));
  }
}

// Arguments are counted as OpenBLAS does: 1 order, 2 transposition, 3 rows, 4 columns, 7 lda, 9
// ldb.
template <typename T>
void CheckedOmatcopy(const char* routine, bool row_major, bool transposed, int64_t rows,
                     int64_t cols, T alpha, const T* a, int64_t lda, T* b, int64_t ldb) {
  if (rows < 0) return Report(routine, 3);
  if (cols < 0) return Report(routine, 4);
  if (!row_major) std::swap(rows, cols);
  if (lda < (cols > 1 ? cols : 1)) return Report(routine, 7);
  const int64_t out_cols = transposed ? rows : cols;
  if (ldb < (out_cols > 1 ? out_cols : 1)) return Report(routine, 9);
  Omatcopy(transposed, rows, cols, alpha, a, lda, b, ldb);
}

template <typename T>
void FortranOmatcopy(const char* routine, char order, char transpose, int64_t rows, int64_t cols,
                     T alpha, const T* a, int64_t lda, T* b, int64_t ldb) {
  const bool row_major = order == 'R' || order == 'r';
  if (!row_major && order != 'C' && order != 'c') return Report(routine, 1);
  // Without imaginary parts the conjugate without a transposition, R, is a plain copy.
  bool transposed = false;
  const bool plain = transpose == 'R' || transpose == 'r';
  if (!plain && !ReadLetter(transpose, &transposed)) return Report(routine, 2);
  CheckedOmatcopy(routine, row_major, transposed, rows, cols, alpha, a, lda, b, ldb);
}

template <typename T>
void CblasOmatcopy(const char* routine, int order, int transpose, int64_t rows, int64_t cols,
                   T alpha, const T* a, int64_t lda, T* b, int64_t ldb) {
  if (order != kCblasRowMajor && order != kCblasColMajor) return Report(routine, 1);
  if (transpose < kCblasNoTrans || transpose > kCblasConjNoTrans) return Report(routine, 2);
  const bool transposed = transpose != kCblasNoTrans && transpose != kCblasConjNoTrans;
  CheckedOmatcopy(routine, order == kCblasRowMajor, transposed, rows, cols, alpha, a, lda, b, ldb);
}

}  // namespace
}  // namespace stridewise

// The names of T's routines: s for float, d for double.
#define STRIDEWISE_BLAS(letter, LETTER, T)                                                         \
  STRIDEWISE_EXPORT void letter##gemm_(const char* transpose_a, const char* transpose_b,           \
                                       const int* m, const int* n, const int* k, const T* alpha,   \
                                       const T* a, const int* lda, const T* b, const int* ldb,     \
                                       const T* beta, T* c, const int* ldc) {                      \
    stridewise::FortranGemm<T>(                                                                    \
        LETTER "GEMM ", *transpose_a, *transpose_b,                                                \
        {false, false, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc});                     \
  }                                                                                                \
  STRIDEWISE_EXPORT void cblas_##letter##gemm(int order, int transpose_a, int transpose_b, int m,  \
                                              int n, int k, T alpha, const T* a, int lda,          \
                                              const T* b, int ldb, T beta, T* c, int ldc) {        \
    stridewise::CblasGemm<T>("cblas_" #letter "gemm", order, transpose_a, transpose_b,             \
                             {false, false, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc});        \
  }                                                                                                \
  STRIDEWISE_EXPORT void letter##omatcopy_(const char* order, const char* transpose,               \
                                           const int* rows, const int* cols, const T* alpha,       \
                                           const T* a, const int* lda, T* b, const int* ldb) {     \
    stridewise::FortranOmatcopy<T>(LETTER "OMATCOPY", *order, *transpose, *rows, *cols, *alpha, a, \
                                   *lda, b, *ldb);                                                 \
  }                                                                                                \
  STRIDEWISE_EXPORT void cblas_##letter##omatcopy(int order, int transpose, int rows, int cols,    \
                                                  T alpha, const T* a, int lda, T* b, int ldb) {   \
    stridewise::CblasOmatcopy<T>(LETTER "OMATCOPY", order, transpose, rows, cols, alpha, a, lda,   \
                                 b, ldb);                                                          \
  }

STRIDEWISE_BLAS(s, "S", float)
STRIDEWISE_BLAS(d, "D", double)
