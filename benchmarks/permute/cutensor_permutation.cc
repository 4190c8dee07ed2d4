#include "benchmarks/permute/cutensor_permutation.h"

#include <array>
#include <memory>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "benchmarks/permute/cutensor_library.h"
#include "common/base/status_macros.h"

namespace stridewise {
namespace {

// What it is told that pointers are multiples of, as it advises.
constexpr uint32_t kAlignment = 128;

absl::Status StatusOf(const CutensorLibrary& cutensor, CutensorStatus status, const char* call) {
  if (status == kCutensorSuccess) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(call, ": ", cutensor.GetErrorString(status)));
}

// Returns the type of this size; nothing for a size that it has no type of.
std::optional<CutensorType> TypeOf(int64_t element_bytes) {
  switch (element_bytes) {
    case 2:
      return kCutensorHalf;
    case 4:
      return kCutensorFloat;
    case 8:
      return kCutensorComplexFloat;
    case 16:
      return kCutensorComplexDouble;
    default:
      return std::nullopt;
  }
}

// Returns the handle of the process, made at the first call.
absl::StatusOr<CutensorHandle> Handle(const CutensorLibrary& cutensor) {
  static const auto& handle = *new absl::StatusOr<CutensorHandle>([&]() {
    CutensorHandle made = nullptr;
    const absl::Status status = StatusOf(cutensor, cutensor.Create(&made), "cutensorCreate");
    return status.ok() ? absl::StatusOr<CutensorHandle>(made) : status;
  }());
  return handle;
}

// A plan and what it was made from, which is freed with it.
class Permutation {
 public:
  explicit Permutation(const PermuteProblem& problem) : problem_(problem) {}
  Permutation(const Permutation&) = delete;
  Permutation& operator=(const Permutation&) = delete;
  ~Permutation() {
    if (plan_ != nullptr) cutensor_->DestroyPlan(plan_);
    if (preference_ != nullptr) cutensor_->DestroyPreference(preference_);
    if (operation_ != nullptr) cutensor_->DestroyOperation(operation_);
    for (CutensorTensor tensor : {in_, out_}) {
      if (tensor != nullptr) cutensor_->DestroyTensor(tensor);
    }
  }

  absl::Status Run(const void* in, void* out, cudaStream_t stream) {
    if (!planned_.has_value()) planned_ = Plan();
    RETURN_IF_ERROR(*planned_);
    for (const void* pointer : {in, static_cast<const void*>(out)}) {
      if (reinterpret_cast<uintptr_t>(pointer) % kAlignment == 0) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("a pointer is no multiple of ", kAlignment, " bytes"));
    }
    // Scalars have the operation's type: complex where the elements are.
    constexpr std::array<float, 2> kOne = {1, 0};
    constexpr std::array<double, 2> kDoubleOne = {1, 0};
    const void* const one =
        problem_.element_bytes == 16 ? static_cast<const void*>(&kDoubleOne) : &kOne;
    return StatusOf(*cutensor_, cutensor_->Permute(handle_, plan_, one, in, out, stream),
                    "cutensorPermute");
  }

 private:
  absl::Status Plan() {
    RETURN_IF_ERROR(CheckCutensor(problem_.element_bytes));
    ASSIGN_OR_RETURN(cutensor_, LoadCutensor());
    ASSIGN_OR_RETURN(handle_, Handle(*cutensor_));
    const CutensorType type = *TypeOf(problem_.element_bytes);
    std::array<int32_t, kMaxPermuteRank> modes_in;
    std::array<int32_t, kMaxPermuteRank> modes_out;
    std::array<int64_t, kMaxPermuteRank> extents_out;
    for (int i = 0; i < problem_.rank; ++i) {
      modes_in[i] = i;
      modes_out[i] = static_cast<int32_t>(problem_.order[i]);
      extents_out[i] = problem_.extents[problem_.order[i]];
    }
    const auto rank = static_cast<uint32_t>(problem_.rank);
    RETURN_IF_ERROR(StatusOf(*cutensor_,
                             cutensor_->CreateTensor(handle_, &in_, rank, problem_.extents.data(),
                                                     problem_.strides_in.data(), type, kAlignment),
                             "cutensorCreateTensorDescriptor"));
    RETURN_IF_ERROR(StatusOf(*cutensor_,
                             cutensor_->CreateTensor(handle_, &out_, rank, extents_out.data(),
                                                     problem_.strides_out.data(), type, kAlignment),
                             "cutensorCreateTensorDescriptor"));
    const CutensorCompute compute =
        problem_.element_bytes == 16 ? *cutensor_->double_arithmetic : *cutensor_->float_arithmetic;
    RETURN_IF_ERROR(
        StatusOf(*cutensor_,
                 cutensor_->CreatePermutation(handle_, &operation_, in_, modes_in.data(),
                                              kCutensorIdentity, out_, modes_out.data(), compute),
                 "cutensorCreatePermutation"));
    RETURN_IF_ERROR(StatusOf(
        *cutensor_,
        cutensor_->CreatePreference(handle_, &preference_, kCutensorChooses, kCutensorNoJit),
        "cutensorCreatePlanPreference"));
    return StatusOf(*cutensor_,
                    cutensor_->CreatePlan(handle_, &plan_, operation_, preference_,
                                          /*workspace_bytes=*/0),
                    "cutensorCreatePlan");
  }

  PermuteProblem problem_;
  std::optional<absl::Status> planned_;
  const CutensorLibrary* cutensor_ = nullptr;
  CutensorHandle handle_ = nullptr;
  CutensorTensor in_ = nullptr;
  CutensorTensor out_ = nullptr;
  CutensorOperation operation_ = nullptr;
  CutensorPreference preference_ = nullptr;
  CutensorPlan plan_ = nullptr;
};

}  // namespace

absl::Status CheckCutensor(int64_t element_bytes) {
  RETURN_IF_ERROR(LoadCutensor().status());
  if (TypeOf(element_bytes).has_value()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("cuTENSOR has no permutations of elements of ",
                                                 element_bytes, " bytes; allowed is 2, 4, 8, 16"));
}

std::function<absl::Status(const PermuteProblem& problem, cudaStream_t stream)> PlanCutensor(
    const PermuteProblem& problem) {
  return [planned = std::make_shared<Permutation>(problem)](const PermuteProblem& one,
                                                            cudaStream_t stream) {
    return planned->Run(one.in, one.out, stream);
  };
}

}  // namespace stridewise
