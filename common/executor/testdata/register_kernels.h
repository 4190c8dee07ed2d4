// Kernels with setmaxnreg, correct ones and ones with one defect each, as in correct_kernels.h and
// planted_bugs.h.

#ifndef STRIDEWISE_COMMON_EXECUTOR_TESTDATA_REGISTER_KERNELS_H_
#define STRIDEWISE_COMMON_EXECUTOR_TESTDATA_REGISTER_KERNELS_H_

#include <vector>

#include "common/executor/testdata/correct_kernels.h"
#include "common/executor/testdata/planted_bugs.h"

namespace stridewise::executor {

std::vector<CorrectKernel> RegisterKernels();
std::vector<PlantedBug> RegisterBugs();

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_TESTDATA_REGISTER_KERNELS_H_
