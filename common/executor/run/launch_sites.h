// Where a program launches kernels: kernel<T><<<grid, block>>>(a, b).

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_LAUNCH_SITES_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_LAUNCH_SITES_H_

#include <vector>

#include "common/executor/run/token_view.h"

namespace stridewise::executor {

// Indices of tokens.
struct LaunchSite {
  int callee;         // The first token of `kernel`.
  int open, close;    // <<< and >>>.
  int arguments_end;  // Behind the closing parenthesis.
};

// Returns the launches in the order of the text. One that has no arguments is left out: the
// compiler says what is wrong with it.
std::vector<LaunchSite> FindLaunchSites(const TokenView& tokens);

// Returns the casts to void* of kernels that cudaLaunchKernel() and its like are given.
std::vector<TokenRange> FindCastsOfKernels(const TokenView& tokens);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_LAUNCH_SITES_H_
