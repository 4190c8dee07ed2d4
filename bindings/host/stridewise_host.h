// Stridewise's products, transposes and permutations in host memory, from C and every language that
// calls C: the arguments of stridewise.h, without a GPU, a context or a stream.
//
//   stridewise_matmul_args args = stridewise_matmul_defaults();
//   args.m = m; args.n = n; args.k = k;
//   args.a.data = a; args.b.data = b; args.c.data = c;
//   if (stridewise_host_matmul(&args) != STRIDEWISE_OK) {
//     fprintf(stderr, "%s\n", stridewise_host_message());
//   }
//
// Calls return when their work is done. They use OpenMP's threads: OMP_NUM_THREADS says how many,
// otherwise there is one for each processor that the program may run on. They may be made from any
// thread; each thread keeps the memory that it packed operands in, a few MB, for its next product.

#ifndef STRIDEWISE_HOST_H_
#define STRIDEWISE_HOST_H_

#include "stridewise.h"

#ifdef __cplusplus
extern "C" {
#endif

// A stridewise_type that only products in host memory take.
#define STRIDEWISE_FLOAT64 7

// Returns the message of the calling thread's last call that failed, "" if none did.
STRIDEWISE_API const char* stridewise_host_message(void);

// Computes the product. All three matrices have the same type, STRIDEWISE_FLOAT32 or
// STRIDEWISE_FLOAT64, or A and B are STRIDEWISE_BFLOAT16, and C is that or STRIDEWISE_FLOAT32; sums
// are then float, and a processor with AVX-512's VDPBF16PS takes subnormal numbers for 0.
// Precision, workspace and device are not looked at; there is no bias, no activation and no scale
// (STRIDEWISE_UNSUPPORTED). The order of a sum depends on the shape, the processor and the number
// of threads.
STRIDEWISE_API stridewise_status stridewise_host_matmul(const stridewise_matmul_args* args);

// Transposes. In place (in == out) matrices must be square and have the same ld and stride on both
// sides.
STRIDEWISE_API stridewise_status stridewise_host_transpose(const stridewise_transpose_args* args);

// Permutes the dimensions of a tensor.
STRIDEWISE_API stridewise_status stridewise_host_permute(const stridewise_permute_args* args);

#ifdef __cplusplus
}
#endif

#endif  // STRIDEWISE_HOST_H_
