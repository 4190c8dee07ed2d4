// Expects random calls of cuBLAS's functions to be right, whoever computes them.

#ifndef STRIDEWISE_BINDINGS_CUBLAS_TEST_EXPECT_RANDOM_CALLS_H_
#define STRIDEWISE_BINDINGS_CUBLAS_TEST_EXPECT_RANDOM_CALLS_H_

#include <cstdint>

#include "bindings/cublas/test/random_calls.h"

namespace stridewise::drop_in {

// Makes calls on one stream, each captured into a graph if `captured`, and expects results within
// the bound of cuBLAS's. Returns how many of them the drop-in computes in the precision of the
// settings, which is not FP32, by its plan. Safe to call from any thread.
int ExpectRandomCallsAreRight(uint32_t seed, int calls, const CallKinds& kinds, bool captured);

}  // namespace stridewise::drop_in

#endif  // STRIDEWISE_BINDINGS_CUBLAS_TEST_EXPECT_RANDOM_CALLS_H_
