// OpenBLAS, BLIS and oneDNN as implementations: the libraries to beat, on one core and on all.

#include <cstdint>
#include <limits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/element_type.h"
#include "common/base/half_types.h"
#include "common/base/host_threads.h"
#include "common/base/shared_library.h"
#include "matmul/args.h"
#include "matmul/cpu/scale.h"

namespace stridewise {
namespace {

constexpr int kRowMajor = 101;
constexpr int kNoTranspose = 111;
constexpr int kTranspose = 112;

template <typename T>
using CblasGemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k,
                           T alpha, const T* a, int lda, const T* b, int ldb, T beta, T* c,
                           int ldc);

// Returns InvalidArgument for extents beyond the 32 bits of these interfaces.
absl::Status CheckFits(const MatMulArgs& args) {
  for (const int64_t extent : {args.m, args.n, args.k, args.a.ld, args.b.ld, args.c.ld}) {
    if (extent <= std::numeric_limits<int>::max()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("an extent is ", extent, "; allowed is at most 2147483647"));
  }
  return absl::OkStatus();
}

absl::Status Missing(const SharedLibrary& library, const char* function) {
  return absl::UnavailableError(library.is_loaded() ? absl::StrCat("the library has no ", function)
                                                    : library.error());
}

template <typename T>
absl::Status RunCblas(const SharedLibrary& library, const MatMulArgs& args) {
  const char* const name = sizeof(T) == sizeof(float) ? "cblas_sgemm" : "cblas_dgemm";
  const auto gemm = library.Find<CblasGemm<T>>(name);
  if (gemm == nullptr) return Missing(library, name);
  for (int64_t i = 0; i < args.batch; ++i) {
    const MatMulArgs one = OneOfBatch(args, i);
    gemm(kRowMajor, one.a.transposed ? kTranspose : kNoTranspose,
         one.b.transposed ? kTranspose : kNoTranspose, static_cast<int>(one.m),
         static_cast<int>(one.n), static_cast<int>(one.k), static_cast<T>(one.alpha),
         one.A<T>().data, static_cast<int>(one.a.ld), one.B<T>().data, static_cast<int>(one.b.ld),
         static_cast<T>(one.beta), one.C<T>().data, static_cast<int>(one.c.ld));
  }
  return absl::OkStatus();
}

LaunchStatus RunBlas(const SharedLibrary& library, const MatMulArgs& args) {
  const absl::Status fits = CheckFits(args);
  if (!fits.ok()) return fits;
  // Not every BLAS knows that nothing is to be done, or that C is only scaled.
  if (args.m == 0 || args.n == 0 || args.batch == 0) return LaunchStatus();
  if (args.k == 0 || args.alpha == 0) {
    return ForEachProduct(
        args, [](auto element, const MatMulArgs& one) { ScaleByBeta<decltype(element)>(one); });
  }
  return ForElementType(args, [&](auto element) -> LaunchStatus {
    return RunCblas<decltype(element)>(library, args);
  });
}

LaunchStatus RunOpenBlas(const MatMulArgs& args, int threads) {
  const SharedLibrary& library = OpenBlas();
  const auto set_threads = library.Find<void (*)(int)>("openblas_set_num_threads");
  if (set_threads == nullptr) return Missing(library, "openblas_set_num_threads");
  set_threads(threads);
  return RunBlas(library, args);
}

LaunchStatus RunBlis(const MatMulArgs& args, int threads) {
  const SharedLibrary& library = Blis();
  const auto set_threads = library.Find<void (*)(int64_t)>("bli_thread_set_num_threads");
  if (set_threads == nullptr) return Missing(library, "bli_thread_set_num_threads");
  set_threads(threads);
  return RunBlas(library, args);
}

template <typename T>
using DnnlGemm = int (*)(char transpose_a, char transpose_b, int64_t m, int64_t n, int64_t k,
                         float alpha, const T* a, int64_t lda, const T* b, int64_t ldb, float beta,
                         float* c, int64_t ldc);

template <typename T>
LaunchStatus RunDnnlGemm(const MatMulArgs& args, const char* name) {
  const SharedLibrary& library = OneDnn();
  const auto gemm = library.Find<DnnlGemm<T>>(name);
  if (gemm == nullptr) return Missing(library, name);
  if (args.m == 0 || args.n == 0) return LaunchStatus();
  for (int64_t i = 0; i < args.batch; ++i) {
    const MatMulArgs one = OneOfBatch(args, i);
    if (one.k == 0 || one.alpha == 0) {
      ScaleByBeta<float>(one);
      continue;
    }
    const int status =
        gemm(one.a.transposed ? 'T' : 'N', one.b.transposed ? 'T' : 'N', one.m, one.n, one.k,
             static_cast<float>(one.alpha), one.A<T>().data, one.a.ld, one.B<T>().data, one.b.ld,
             static_cast<float>(one.beta), one.C<float>().data, one.c.ld);
    if (status != 0) {
      return absl::InternalError(absl::StrCat(name, " returned the status ", status));
    }
  }
  return LaunchStatus();
}

LaunchStatus RunOneDnn(const MatMulArgs& args, int threads) {
  // That of the OpenMP library which oneDNN itself is linked with.
  const auto set_threads = OneDnn().Find<void (*)(int)>("omp_set_num_threads");
  if (set_threads == nullptr) return Missing(OneDnn(), "omp_set_num_threads");
  set_threads(threads);
  // The one of bfloat16 is exported, but in no header: oneDNN's own tests call it.
  if (args.a.type == ElementType::kBf16) {
    return RunDnnlGemm<Bf16>(args, "dnnl_gemm_bf16bf16f32");
  }
  return RunDnnlGemm<float>(args, "dnnl_sgemm");
}

}  // namespace

LaunchStatus MatMulOpenBlas(const MatMulArgs& args) { return RunOpenBlas(args, HostThreads()); }
LaunchStatus MatMulOpenBlasOneCore(const MatMulArgs& args) { return RunOpenBlas(args, 1); }
LaunchStatus MatMulBlis(const MatMulArgs& args) { return RunBlis(args, HostThreads()); }
LaunchStatus MatMulBlisOneCore(const MatMulArgs& args) { return RunBlis(args, 1); }
LaunchStatus MatMulOneDnn(const MatMulArgs& args) { return RunOneDnn(args, HostThreads()); }
LaunchStatus MatMulOneDnnOneCore(const MatMulArgs& args) { return RunOneDnn(args, 1); }

}  // namespace stridewise
