#include "common/distributed/cublasmp_library.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/shared_library.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

absl::StatusOr<CublasMpLibrary> Load() {
  RequiredLibrary library("cuBLASMp", "STRIDEWISE_CUBLASMP",
                          {"libcublasmp.so.0", "libcublasmp.so"});
  CublasMpLibrary made = {};
  library.Find("cublasMpGetVersion", &made.GetVersion);
  library.Find("cublasMpCreate", &made.Create);
  library.Find("cublasMpDestroy", &made.Destroy);
  library.Find("cublasMpGridCreate", &made.GridCreate);
  library.Find("cublasMpGridDestroy", &made.GridDestroy);
  library.Find("cublasMpMatrixDescriptorCreate", &made.MatrixDescriptorCreate);
  library.Find("cublasMpMatrixDescriptorDestroy", &made.MatrixDescriptorDestroy);
  library.Find("cublasMpGemm_bufferSize", &made.GemmBufferSize);
  library.Find("cublasMpGemm", &made.Gemm);
  library.Find("cublasMpGeadd_bufferSize", &made.GeaddBufferSize);
  library.Find("cublasMpGeadd", &made.Geadd);
  RETURN_IF_ERROR(library.status());
  if (made.GetVersion(&made.version) != kCublasMpSuccess) return library.Lacks("a version");
  const SharedLibrary& all = library.library();
  made.NcclGetVersion = all.Find<decltype(made.NcclGetVersion)>("ncclGetVersion");
  made.CublasGetCudartVersion =
      all.Find<decltype(made.CublasGetCudartVersion)>("cublasGetCudartVersion");
  return made;
}

}  // namespace

absl::StatusOr<const CublasMpLibrary*> LoadCublasMp() {
  return LoadedOnce<CublasMpLibrary, Load>();
}

absl::StatusOr<const CublasMpLibrary*> ForRanks(const CublasMpLibrary* library, int ranks,
                                                const NcclLibrary& nccl) {
  if (library->NcclGetVersion != nullptr && library->NcclGetVersion != nccl.GetVersion) {
    int theirs = 0, ours = 0;
    library->NcclGetVersion(&theirs);
    nccl.GetVersion(&ours);
    return absl::UnavailableError(absl::StrCat("cuBLASMp: it links another NCCL, of version ",
                                               theirs,
                                               ", than the one that was loaded, of version ", ours,
                                               "; set STRIDEWISE_NCCL to the one it links"));
  }
  if (ranks == 1) return library;
  if (library->version < kCublasMpOfSeveralGpus) {
    return absl::UnavailableError(absl::StrCat("cuBLASMp: version ", library->version,
                                               " serves one GPU of a process; ",
                                               kCublasMpOfSeveralGpus, " and later serve several"));
  }
  const size_t cuda = library->CublasGetCudartVersion == nullptr
                          ? kCudaOfSeveralGpus
                          : library->CublasGetCudartVersion();
  if (cuda >= kCudaOfSeveralGpus) return library;
  return absl::UnavailableError(absl::StrCat("cuBLASMp: built for CUDA ", cuda,
                                             " it serves one GPU of a process; for ",
                                             kCudaOfSeveralGpus, " and later, several"));
}

}  // namespace stridewise
