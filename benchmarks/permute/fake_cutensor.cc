// What cutensor_permutation.cc calls of cuTENSOR, on the host: a library that tests load instead.
// FAKE_CUTENSOR_VERSION in the environment is the version that it says it has.

#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "benchmarks/permute/cutensor_library.h"

namespace stridewise {

struct CutensorHandleState {};
struct CutensorComputeState {};

struct CutensorTensorState {
  std::vector<int64_t> extents;
  std::vector<int64_t> strides;
  CutensorType type;
};

struct CutensorOperationState {
  CutensorTensorState a, b;
  std::vector<int32_t> modes_a, modes_b;
};

struct CutensorPreferenceState {};

struct CutensorPlanState {
  CutensorOperationState operation;
};

namespace {

constexpr CutensorStatus kNotSupported = CutensorStatus{15};

CutensorHandleState handle_state;
CutensorComputeState float_state, double_state;

// What was made and not destroyed.
int objects = 0;

size_t BytesOf(CutensorType type) {
  switch (type) {
    case kCutensorHalf:
      return 2;
    case kCutensorFloat:
      return 4;
    case kCutensorComplexFloat:
      return 8;
    case kCutensorComplexDouble:
      return 16;
  }
  return 0;
}

template <typename T>
CutensorStatus Destroy(T* object) {
  delete object;
  --objects;
  return kCutensorSuccess;
}

}  // namespace

extern "C" {

CutensorCompute CUTENSOR_COMPUTE_DESC_32F = &float_state;
CutensorCompute CUTENSOR_COMPUTE_DESC_64F = &double_state;

int FakeCutensorObjects() { return objects; }

size_t cutensorGetVersion() {
  const char* const version = std::getenv("FAKE_CUTENSOR_VERSION");
  return version == nullptr ? 20000 : std::strtoull(version, nullptr, 10);
}

const char* cutensorGetErrorString(CutensorStatus status) {
  return status == kCutensorSuccess ? "no error" : "not supported";
}

CutensorStatus cutensorCreate(CutensorHandle* handle) {
  *handle = &handle_state;
  return kCutensorSuccess;
}

CutensorStatus cutensorCreateTensorDescriptor(CutensorHandle /*handle*/, CutensorTensor* tensor,
                                              uint32_t modes, const int64_t* extents,
                                              const int64_t* strides, CutensorType type,
                                              uint32_t /*alignment*/) {
  *tensor = new CutensorTensorState{{extents, extents + modes}, {strides, strides + modes}, type};
  ++objects;
  return kCutensorSuccess;
}

CutensorStatus cutensorDestroyTensorDescriptor(CutensorTensor tensor) { return Destroy(tensor); }

// Takes no dimensions of 13 elements: tests want an error.
CutensorStatus cutensorCreatePermutation(CutensorHandle /*handle*/, CutensorOperation* operation,
                                         CutensorTensor a, const int32_t* modes_a,
                                         CutensorOperator /*operator_a*/, CutensorTensor b,
                                         const int32_t* modes_b, CutensorCompute compute) {
  for (const int64_t extent : a->extents) {
    if (extent == 13) return kNotSupported;
  }
  if (a->type != b->type || (a->type == kCutensorComplexDouble) != (compute == &double_state)) {
    return kNotSupported;
  }
  const size_t modes = a->extents.size();
  *operation =
      new CutensorOperationState{*a, *b, {modes_a, modes_a + modes}, {modes_b, modes_b + modes}};
  ++objects;
  return kCutensorSuccess;
}

CutensorStatus cutensorDestroyOperationDescriptor(CutensorOperation operation) {
  return Destroy(operation);
}

CutensorStatus cutensorCreatePlanPreference(CutensorHandle /*handle*/,
                                            CutensorPreference* preference,
                                            CutensorAlgorithm algorithm, CutensorJit jit) {
  if (algorithm != kCutensorChooses || jit != kCutensorNoJit) return kNotSupported;
  *preference = new CutensorPreferenceState();
  ++objects;
  return kCutensorSuccess;
}

CutensorStatus cutensorDestroyPlanPreference(CutensorPreference preference) {
  return Destroy(preference);
}

CutensorStatus cutensorCreatePlan(CutensorHandle /*handle*/, CutensorPlan* plan,
                                  CutensorOperation operation, CutensorPreference preference,
                                  uint64_t /*workspace_bytes*/) {
  if (preference == nullptr) return kNotSupported;
  *plan = new CutensorPlanState{*operation};
  ++objects;
  return kCutensorSuccess;
}

CutensorStatus cutensorDestroyPlan(CutensorPlan plan) { return Destroy(plan); }

// Does nothing unless alpha is one, of the type of the operation.
CutensorStatus cutensorPermute(CutensorHandle handle, CutensorPlan plan, const void* alpha,
                               const void* a, void* b, cudaStream_t /*stream*/) {
  const CutensorOperationState& of = plan->operation;
  const bool wide = of.a.type == kCutensorComplexDouble;
  const double one = wide ? *static_cast<const double*>(alpha) : *static_cast<const float*>(alpha);
  if (handle != &handle_state || one != 1) return kNotSupported;
  const size_t modes = of.a.extents.size();
  const size_t bytes = BytesOf(of.a.type);
  std::vector<int64_t> strides_out(modes);  // In the order of a's modes.
  for (size_t i = 0; i < modes; ++i) {
    for (size_t j = 0; j < modes; ++j) {
      if (of.modes_b[j] == of.modes_a[i]) strides_out[i] = of.b.strides[j];
    }
  }
  std::vector<int64_t> index(modes, 0);
  while (true) {
    int64_t from = 0, to = 0;
    for (size_t i = 0; i < modes; ++i) {
      from += index[i] * of.a.strides[i];
      to += index[i] * strides_out[i];
    }
    std::memcpy(static_cast<char*>(b) + static_cast<size_t>(to) * bytes,
                static_cast<const char*>(a) + static_cast<size_t>(from) * bytes, bytes);
    size_t i = modes;
    while (i > 0 && ++index[i - 1] == of.a.extents[i - 1]) index[--i] = 0;
    if (i == 0) return kCutensorSuccess;
  }
}

}  // extern "C"
}  // namespace stridewise
