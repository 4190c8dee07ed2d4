// How another memory changes what the choices of split products predict.

#ifndef STRIDEWISE_MATMUL_MEMORY_FACTOR_H_
#define STRIDEWISE_MATMUL_MEMORY_FACTOR_H_

#include <cmath>

#include "common/gpu/device_model.h"

namespace stridewise {

// Returns how many times as long as on an H200 it takes to read and write operands: the square root
// of the ratio of the rates, as measured on an H100. What lies before the memory does not change.
inline double MemoryFactor(const DeviceModel& device) {
  return std::sqrt(static_cast<double>(H200Model().memory_gbps) /
                   static_cast<double>(device.memory_gbps));
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_MEMORY_FACTOR_H_
