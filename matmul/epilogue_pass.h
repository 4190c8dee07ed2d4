// The epilogue of a product as a pass of its own, for kernels that have none.

#ifndef STRIDEWISE_MATMUL_EPILOGUE_PASS_H_
#define STRIDEWISE_MATMUL_EPILOGUE_PASS_H_

#include "absl/status/status.h"
#include "matmul/args.h"

namespace stridewise {

// Queues C = activation(C + bias) on args.stream, for each product of the batch: 2 m n elements are
// moved, and C is rounded to its type a second time. Unavailable where the program was built
// without device code. REQUIRES: C is float, Bf16 or Fp16.
absl::Status ApplyEpilogue(const MatMulArgs& args);

}  // namespace stridewise

#endif  // STRIDEWISE_MATMUL_EPILOGUE_PASS_H_
