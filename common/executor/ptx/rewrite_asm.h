// Makes calls of inline PTX in preprocessed source, so that a compiler for the CPU takes it.
//
//   asm volatile("add.u32 %0, %1, %2;" : "=r"(x) : "r"(a), "r"(b) : "memory");
//   ::SimtPtx("add.u32 %0, %1, %2;" , ::SimtOut(x) , ::SimtIn(a), ::SimtIn(b) );
//
// A statement with wgmma.mma_async becomes a call of SimtWgmma(), an empty one of SimtNoPtx().
// shim/simt_ptx.h has these functions. Lines stay where they are.

#ifndef STRIDEWISE_COMMON_EXECUTOR_PTX_REWRITE_ASM_H_
#define STRIDEWISE_COMMON_EXECUTOR_PTX_REWRITE_ASM_H_

#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace stridewise::executor {

struct RewriteAsmOptions {
  // The word that begins a statement; empty for asm, __asm and __asm__.
  std::string word;
  // Returns what is wrong with the text of a statement, or nothing.
  std::function<std::string(const std::string& ptx)> check;
};

// Returns the source with a call in place of each asm statement outside of system headers. An error
// names file and line of each statement that it cannot make a call of, a row for each.
absl::StatusOr<std::string> RewriteAsm(absl::string_view preprocessed,
                                       const RewriteAsmOptions& options = {});

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_PTX_REWRITE_ASM_H_
