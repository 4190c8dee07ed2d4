// What the calls of matmul.h, context.h and on_host.h have in common.

#ifndef STRIDEWISE_MATMUL_LIBRARY_CALL_H_
#define STRIDEWISE_MATMUL_LIBRARY_CALL_H_

#include "absl/status/status.h"
#include "matmul/args.h"
#include "matmul/check_args.h"
#include "matmul/matmul.h"
#include "matmul/registry.h"

namespace stridewise {

// Returns the implementation that library calls run.
const MatMulImplementation& AutomaticMatMul();

// Returns what the caller with this problem calls the arguments of RowMajorArgs().
const MatMulArgumentNames& ArgumentNamesOf(const MatMulProblem& problem);

// Sets the arguments of AutomaticMatMul() for the problem, but for the device's. Returns what
// MatMul() does for arguments that it does not take; Unavailable without device code.
absl::Status PrepareMatMul(const MatMulProblem& problem, cudaStream_t stream, MatMulArgs* args);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_LIBRARY_CALL_H_
