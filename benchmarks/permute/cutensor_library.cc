#include "benchmarks/permute/cutensor_library.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "common/base/shared_library.h"

namespace stridewise {
namespace {

constexpr char kVariable[] = "STRIDEWISE_CUTENSOR";
constexpr size_t kOldest = 20000;

absl::StatusOr<CutensorLibrary> Load() {
  const SharedLibrary library(kVariable,
                              {"libcutensor.so.2", "/usr/local/cuda/lib64/libcutensor.so.2"});
  if (!library.is_loaded()) {
    return absl::UnavailableError(absl::StrCat("cuTENSOR: ", library.error()));
  }
  CutensorLibrary made = {};
  const char* missing = nullptr;
  const auto find = [&](const char* name, auto* function) {
    library.Find(name, function, &missing);
  };
  find("cutensorGetVersion", &made.GetVersion);
  find("cutensorGetErrorString", &made.GetErrorString);
  find("cutensorCreate", &made.Create);
  find("cutensorCreateTensorDescriptor", &made.CreateTensor);
  find("cutensorDestroyTensorDescriptor", &made.DestroyTensor);
  find("cutensorCreatePermutation", &made.CreatePermutation);
  find("cutensorDestroyOperationDescriptor", &made.DestroyOperation);
  find("cutensorCreatePlan", &made.CreatePlan);
  find("cutensorDestroyPlan", &made.DestroyPlan);
  find("cutensorPermute", &made.Permute);
  find("CUTENSOR_COMPUTE_DESC_32F", &made.float_arithmetic);
  find("CUTENSOR_COMPUTE_DESC_64F", &made.double_arithmetic);
  if (missing == nullptr && made.GetVersion() < kOldest) missing = "what cuTENSOR 2.0 brought";
  if (missing == nullptr) return made;
  return absl::UnavailableError(
      absl::StrCat("cuTENSOR: the library has not ", missing, "; set ", kVariable, " to another"));
}

}  // namespace

absl::StatusOr<const CutensorLibrary*> LoadCutensor() {
  static const auto& loaded = *new absl::StatusOr<CutensorLibrary>(Load());
  if (!loaded.ok()) return loaded.status();
  return &*loaded;
}

}  // namespace stridewise
