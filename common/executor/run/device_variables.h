// The __device__ and __constant__ variables of the running program.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_DEVICE_VARIABLES_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_DEVICE_VARIABLES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace stridewise::executor {

struct DeviceVariable {
  std::string name;
  uintptr_t address = 0;
  size_t bytes = 0;
  bool constant = false;
};

// Returns the variables in the sections that the rewriter names, from the symbol table of the
// program's own file. Empty for a program without them, or without symbols.
std::vector<DeviceVariable> DeviceVariablesOfProgram();

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_DEVICE_VARIABLES_H_
