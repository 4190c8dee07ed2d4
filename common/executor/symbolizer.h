// From an address in this program's machine code to the line of source that it was made from.
//
// Reads the debug information through addr2line of binutils, one process for all addresses of a
// call. simt_library compiles kernels with line tables in every build mode.

#ifndef STRIDEWISE_COMMON_EXECUTOR_SYMBOLIZER_H_
#define STRIDEWISE_COMMON_EXECUTOR_SYMBOLIZER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace stridewise::executor {

struct SourceLine {
  std::string function;  // Without namespaces, template and call arguments: "TileSquare".
  std::string file;      // Relative to the workspace: "transpose/ladder/11_tile_square.cu".
  int line = 0;          // 0 where it is not known; `file` is then empty.

  // "tile_square.cu:23", or "unknown line" where it is not known.
  std::string ToString() const;
};

// Of return addresses, such as instrumentation calls leave: the line of the call. Where a function
// was inlined the innermost line counts that is not in the executor's own headers; `function` is
// the one that it was inlined into.
std::vector<SourceLine> SymbolizeCalls(absl::Span<const uintptr_t> return_addresses);

// Of functions' entry points; `line` is where the function starts.
std::vector<SourceLine> SymbolizeFunctions(absl::Span<const uintptr_t> entries);

// "void stridewise::(anonymous namespace)::NaiveRow<A, B>(A, B)" becomes "NaiveRow".
std::string ShortFunctionName(absl::string_view demangled);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_SYMBOLIZER_H_
