#include "benchmarks/permute/cutensor_library.h"

#include "common/base/shared_library.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

constexpr size_t kOldest = 20000;

absl::StatusOr<CutensorLibrary> Load() {
  RequiredLibrary library("cuTENSOR", "STRIDEWISE_CUTENSOR",
                          {"libcutensor.so.2", "/usr/local/cuda/lib64/libcutensor.so.2"});
  CutensorLibrary made = {};
  library.Find("cutensorGetVersion", &made.GetVersion);
  library.Find("cutensorGetErrorString", &made.GetErrorString);
  library.Find("cutensorCreate", &made.Create);
  library.Find("cutensorCreateTensorDescriptor", &made.CreateTensor);
  library.Find("cutensorDestroyTensorDescriptor", &made.DestroyTensor);
  library.Find("cutensorCreatePermutation", &made.CreatePermutation);
  library.Find("cutensorDestroyOperationDescriptor", &made.DestroyOperation);
  library.Find("cutensorCreatePlanPreference", &made.CreatePreference);
  library.Find("cutensorDestroyPlanPreference", &made.DestroyPreference);
  library.Find("cutensorCreatePlan", &made.CreatePlan);
  library.Find("cutensorDestroyPlan", &made.DestroyPlan);
  library.Find("cutensorPermute", &made.Permute);
  library.Find("CUTENSOR_COMPUTE_DESC_32F", &made.float_arithmetic);
  library.Find("CUTENSOR_COMPUTE_DESC_64F", &made.double_arithmetic);
  RETURN_IF_ERROR(library.status());
  if (made.GetVersion() < kOldest) return library.Lacks("what cuTENSOR 2.0 brought");
  return made;
}

}  // namespace

absl::StatusOr<const CutensorLibrary*> LoadCutensor() {
  return LoadedOnce<CutensorLibrary, Load>();
}

}  // namespace stridewise
