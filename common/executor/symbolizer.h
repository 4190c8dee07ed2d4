// Maps addresses in this program's machine code to lines of its source.
//
// Reads the debug information with addr2line of binutils, which is started once for all addresses
// of a call. simt_library compiles kernels with line tables in every build mode.

#ifndef STRIDEWISE_COMMON_EXECUTOR_SYMBOLIZER_H_
#define STRIDEWISE_COMMON_EXECUTOR_SYMBOLIZER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace stridewise::executor {

struct SourceLine {
  std::string function;   // Without namespaces, template and call arguments: "TileSquare".
  std::string full_name;  // With all of them.
  std::string file;       // Relative to the workspace: "transpose/ladder/11_tile_square.cu".
  int line = 0;           // 0 where it is unknown; `file` is then empty.

  // Returns "11_tile_square.cu:23", or "unknown line".
  std::string ToString() const;
};

// Returns the lines of the calls that return to these addresses, as instrumentation calls do. For
// inlined functions this is the innermost line outside of the executor's own headers, and
// `function` is the function into which they were inlined.
std::vector<SourceLine> SymbolizeCalls(absl::Span<const uintptr_t> return_addresses);

// Returns the lines at which the functions with these entry points start.
std::vector<SourceLine> SymbolizeFunctions(absl::Span<const uintptr_t> entries);

// Returns "NaiveRow" for "void stridewise::(anonymous namespace)::NaiveRow<A, B>(A, B)".
std::string ShortFunctionName(absl::string_view demangled);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_SYMBOLIZER_H_
