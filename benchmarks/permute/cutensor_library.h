// NVIDIA's cuTENSOR, found when it is first asked for: neither the build nor other runs need it.
//
// The declarations are those of cuTENSOR 2, of what a permutation calls.

#ifndef STRIDEWISE_BENCHMARKS_PERMUTE_CUTENSOR_LIBRARY_H_
#define STRIDEWISE_BENCHMARKS_PERMUTE_CUTENSOR_LIBRARY_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "common/gpu/cuda_handles.h"

namespace stridewise {

enum CutensorStatus : int { kCutensorSuccess = 0 };

// cutensorDataType_t: types of floating-point numbers, the only ones that it permutes.
enum CutensorType : int {
  kCutensorFloat = 0,
  kCutensorHalf = 2,
  kCutensorComplexFloat = 4,
  kCutensorComplexDouble = 5,
};

enum CutensorOperator : int { kCutensorIdentity = 1 };

enum CutensorAlgorithm : int { kCutensorChooses = -1 };  // CUTENSOR_ALGO_DEFAULT

enum CutensorJit : int { kCutensorNoJit = 0 };  // CUTENSOR_JIT_MODE_NONE

// cutensorHandle_t and the other opaque types.
using CutensorHandle = struct CutensorHandleState*;
using CutensorTensor = struct CutensorTensorState*;
using CutensorOperation = struct CutensorOperationState*;
using CutensorPlan = struct CutensorPlanState*;
using CutensorPreference = struct CutensorPreferenceState*;
using CutensorCompute = struct CutensorComputeState*;

struct CutensorLibrary {
  size_t (*GetVersion)();
  const char* (*GetErrorString)(CutensorStatus status);
  CutensorStatus (*Create)(CutensorHandle* handle);
  CutensorStatus (*CreateTensor)(CutensorHandle handle, CutensorTensor* tensor, uint32_t modes,
                                 const int64_t* extents, const int64_t* strides, CutensorType type,
                                 uint32_t alignment);
  CutensorStatus (*DestroyTensor)(CutensorTensor tensor);
  CutensorStatus (*CreatePermutation)(CutensorHandle handle, CutensorOperation* operation,
                                      CutensorTensor a, const int32_t* modes_a,
                                      CutensorOperator operator_a, CutensorTensor b,
                                      const int32_t* modes_b, CutensorCompute compute);
  CutensorStatus (*DestroyOperation)(CutensorOperation operation);
  CutensorStatus (*CreatePreference)(CutensorHandle handle, CutensorPreference* preference,
                                     CutensorAlgorithm algorithm, CutensorJit jit);
  CutensorStatus (*DestroyPreference)(CutensorPreference preference);
  // Version 2.0 refuses to plan without a preference; later ones do not.
  CutensorStatus (*CreatePlan)(CutensorHandle handle, CutensorPlan* plan,
                               CutensorOperation operation, CutensorPreference preference,
                               uint64_t workspace_bytes);
  CutensorStatus (*DestroyPlan)(CutensorPlan plan);
  CutensorStatus (*Permute)(CutensorHandle handle, CutensorPlan plan, const void* alpha,
                            const void* a, void* b, cudaStream_t stream);
  const CutensorCompute* float_arithmetic;   // CUTENSOR_COMPUTE_DESC_32F
  const CutensorCompute* double_arithmetic;  // CUTENSOR_COMPUTE_DESC_64F
};

// Returns the library, loaded at the first call: the file that STRIDEWISE_CUTENSOR names (that of
// NVIDIA's wheel cutensor-cu13, for example), else the system's libcutensor.so.2. Unavailable, in
// one line that names STRIDEWISE_CUTENSOR, where there is none or it is older than 2.0.
absl::StatusOr<const CutensorLibrary*> LoadCutensor();

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_PERMUTE_CUTENSOR_LIBRARY_H_
