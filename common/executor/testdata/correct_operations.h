// What the lists of correct kernels have in common. Included by .cu files of this folder only.

#ifndef STRIDEWISE_COMMON_EXECUTOR_TESTDATA_CORRECT_OPERATIONS_H_
#define STRIDEWISE_COMMON_EXECUTOR_TESTDATA_CORRECT_OPERATIONS_H_

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "common/executor/testdata/correct_kernels.h"
#include "common/gpu/launch.h"

namespace stridewise::executor {

inline constexpr int kThreads = 256;

__device__ inline unsigned SharedAddressOf(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

template <typename... Params>
absl::Status RunCorrect(void (*kernel)(Params...), const CorrectArgs& args, int64_t blocks = 1,
                        int64_t threads = kThreads, size_t shared = 0) {
  return Launch(kernel, Grid{blocks}, Block{threads}, shared, args.stream, args.out, args.in);
}

// The i-th element of the input.
inline int In(int i) { return 3 * i; }

#define CORRECT(Kernel, initialised, want, ...)                                                     \
  {                                                                                                 \
#Kernel, initialised,                                                                           \
        [](const CorrectArgs&                                                                       \
               args) { return RunCorrect(Kernel, args, ##__VA_ARGS__); },                           \
                                                                       [](int i)                    \
                                                                            -> int { return want; } \
  }

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_TESTDATA_CORRECT_OPERATIONS_H_
