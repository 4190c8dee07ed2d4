// By what plans are found: the numbers of a call and of the device.

#ifndef STRIDEWISE_MATMUL_PLAN_KEY_H_
#define STRIDEWISE_MATMUL_PLAN_KEY_H_

#include <cstddef>
#include <cstdint>

#include "common/gpu/device_model.h"
#include "matmul/args.h"
#include "matmul/matmul.h"
#include "matmul/plan.h"

namespace stridewise {

MatMulPlanKey KeyOf(const MatMulArgs& args, const DeviceModel& device);

// Returns the key of plans that were saved without a memory rate, which serve any.
MatMulPlanKey ForAnyRate(MatMulPlanKey key);

// Sets what stands for pointers that are null, and no workspace.
MatMulProblem WithPointers(MatMulProblem problem);

struct HashOfPlanKey {
  size_t operator()(const MatMulPlanKey& key) const {
    uint64_t hash = 0;
    for (const int64_t number : key.numbers) {
      hash = (hash ^ static_cast<uint64_t>(number)) * 0x9e3779b97f4a7c15u;
      hash ^= hash >> 32;
    }
    return hash;
  }
};

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_PLAN_KEY_H_
