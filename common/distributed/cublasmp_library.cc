#include "common/distributed/cublasmp_library.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/shared_library.h"

namespace stridewise {
namespace {

constexpr char kVariable[] = "STRIDEWISE_CUBLASMP";

absl::StatusOr<CublasMpLibrary> Load() {
  const SharedLibrary library(kVariable, {"libcublasmp.so.0", "libcublasmp.so"});
  if (!library.is_loaded()) {
    return absl::UnavailableError(absl::StrCat("cuBLASMp: ", library.error()));
  }
  CublasMpLibrary made = {};
  const char* missing = nullptr;
  const auto find = [&](const char* name, auto* function) {
    library.Find(name, function, &missing);
  };
  find("cublasMpGetVersion", &made.GetVersion);
  find("cublasMpCreate", &made.Create);
  find("cublasMpDestroy", &made.Destroy);
  find("cublasMpGridCreate", &made.GridCreate);
  find("cublasMpGridDestroy", &made.GridDestroy);
  find("cublasMpMatrixDescriptorCreate", &made.MatrixDescriptorCreate);
  find("cublasMpMatrixDescriptorDestroy", &made.MatrixDescriptorDestroy);
  find("cublasMpGemm_bufferSize", &made.GemmBufferSize);
  find("cublasMpGemm", &made.Gemm);
  find("cublasMpGeadd_bufferSize", &made.GeaddBufferSize);
  find("cublasMpGeadd", &made.Geadd);
  if (missing == nullptr && made.GetVersion(&made.version) != kCublasMpSuccess) {
    missing = "a version";
  }
  made.NcclGetVersion = library.Find<decltype(made.NcclGetVersion)>("ncclGetVersion");
  made.CublasGetCudartVersion =
      library.Find<decltype(made.CublasGetCudartVersion)>("cublasGetCudartVersion");
  if (missing == nullptr) return made;
  return absl::UnavailableError(
      absl::StrCat("cuBLASMp: the library has not ", missing, "; set ", kVariable, " to another"));
}

}  // namespace

absl::StatusOr<const CublasMpLibrary*> LoadCublasMp() {
  static const auto& loaded = *new absl::StatusOr<CublasMpLibrary>(Load());
  if (!loaded.ok()) return loaded.status();
  return &*loaded;
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
