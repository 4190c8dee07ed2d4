// Kernels of compute capability 9.0, correct ones and ones with one defect each, as in
// correct_kernels.h and planted_bugs.h.

#ifndef STRIDEWISE_COMMON_EXECUTOR_TESTDATA_HOPPER_KERNELS_H_
#define STRIDEWISE_COMMON_EXECUTOR_TESTDATA_HOPPER_KERNELS_H_

#include <vector>

#include "common/executor/testdata/correct_kernels.h"
#include "common/executor/testdata/planted_bugs.h"

namespace stridewise::executor {

std::vector<CorrectKernel> WgmmaKernels();
std::vector<PlantedBug> WgmmaBugs();
std::vector<CorrectKernel> BulkKernels();
std::vector<PlantedBug> BulkBugs();

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_TESTDATA_HOPPER_KERNELS_H_
