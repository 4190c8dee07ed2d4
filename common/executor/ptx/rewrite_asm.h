// Makes calls of inline PTX in preprocessed source, so that a compiler for the CPU takes it.
//
//   asm volatile("add.u32 %0, %1, %2;" : "=r"(x) : "r"(a), "r"(b) : "memory");
//   ::SimtPtx("add.u32 %0, %1, %2;" , ::SimtOut(x) , ::SimtIn(a), ::SimtIn(b) );
//
// shim/simt_ptx.h has these functions. Lines stay where they are.

#ifndef STRIDEWISE_COMMON_EXECUTOR_PTX_REWRITE_ASM_H_
#define STRIDEWISE_COMMON_EXECUTOR_PTX_REWRITE_ASM_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace stridewise::executor {

// Returns the source with a call in place of each asm statement outside of system headers. An error
// names the file and line of a statement that it cannot make a call of.
absl::StatusOr<std::string> RewriteAsm(absl::string_view preprocessed);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_PTX_REWRITE_ASM_H_
