// How a kernel runs another one, as part of its work or in its place.

#ifndef STRIDEWISE_MATMUL_DEVICE_REGISTRY_ENTRY_H_
#define STRIDEWISE_MATMUL_DEVICE_REGISTRY_ENTRY_H_

#include "common/base/return_if_error.h"
#include "common/gpu/launch_status.h"
#include "matmul/args.h"

namespace stridewise {

// Returns the functions of the entry of that name, for the target that the caller is compiled for.
// registry.cc defines it for the GPU, and host_executor.cc for the host executor. REQUIRES: there
// is such an entry, and its `general` is true.
MatMulFunctions FunctionsOf(const char* name);

// Queues C = activation(C + bias) for each product of the batch (library/epilogue_pass.cu).
// REQUIRES: C is float, Bf16 or Fp16.
LaunchStatus MatMulEpiloguePass(const MatMulArgs& args);

// Runs the product by what has no epilogue, and the pass where the call has one.
template <typename Run>
LaunchStatus RunWithPass(Run run, MatMulArgs args) {
  const MatMulEpilogue epilogue = args.epilogue;
  args.epilogue = MatMulEpilogue();
  RETURN_IF_ERROR(run(args));
  if (epilogue == MatMulEpilogue()) return LaunchStatus();
  args.epilogue = epilogue;
  return MatMulEpiloguePass(args);
}

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_DEVICE_REGISTRY_ENTRY_H_
