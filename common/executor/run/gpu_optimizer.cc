#include "common/executor/run/gpu_optimizer.h"

#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "common/executor/run/aligned_pieces.h"
#include "common/executor/run/filled_gaps.h"
#include "common/executor/run/ir_text.h"
#include "common/executor/run/math_names.h"
#include "common/executor/run/odd_vectors.h"
#include "common/executor/run/overwritten_stores.h"
#include "common/executor/run/predicated_loads.h"
#include "common/executor/run/rewriter.h"
#include "common/executor/run/shared_runs.h"
#include "common/executor/run/unrolled_loops.h"
#include "common/executor/run/wide_shared_loads.h"

namespace stridewise::executor {
namespace {

// Elements that an `extern __shared__` array seems to have: more than any.
constexpr absl::string_view kUnknownExtent = "[0 x ";
constexpr absl::string_view kLargeExtent = "[1048576 x ";

constexpr absl::string_view kAttributes = "attributes #";

// That of shared variables in bytes.
constexpr int kAlignment = 16;

constexpr absl::string_view kTargetTriple = "target triple = ";
constexpr absl::string_view kDataLayout = "target datalayout = ";

// The ends of these names, and the numbers below which the results are, as NVVM has them. Blocks
// may have no threads here: with at least one, LLVM knows that i and i + blockDim.x differ, and
// NVVM, which does not use it, keeps stores that LLVM would drop.
struct Range {
  absl::string_view call;
  absl::string_view least, end;
};
constexpr Range kRanges[] = {
    {"@simt_thread_idx_x(", "0", "1024"},      {"@simt_thread_idx_y(", "0", "1024"},
    {"@simt_thread_idx_z(", "0", "64"},        {"@simt_block_dim_x(", "0", "1025"},
    {"@simt_block_dim_y(", "0", "1025"},       {"@simt_block_dim_z(", "0", "65"},
    {"@simt_block_idx_x(", "0", "2147483647"}, {"@simt_block_idx_y(", "0", "65535"},
    {"@simt_block_idx_z(", "0", "65535"},      {"@simt_grid_dim_x(", "1", "-2147483648"},
    {"@simt_grid_dim_y(", "1", "65536"},       {"@simt_grid_dim_z(", "1", "65536"}};

bool IsShared(absl::string_view line) {
  return absl::StartsWith(line, "@") && absl::StrContains(line, " thread_local ") &&
         absl::StrContains(line, " global ");
}

// Host code's own, of the standard library and of Abseil.
bool IsOfLibrary(absl::string_view line) {
  return absl::StartsWith(line, "@_ZS") || absl::StartsWith(line, "@_ZNS") ||
         absl::StartsWith(line, "@_ZN4absl");
}

absl::string_view NameOf(absl::string_view line) { return line.substr(0, line.find(' ')); }

// Sets "align N" of a variable to 16; for arrays of bytes or halves to their size: x86-64 aligns
// large arrays to 16 bytes, and a GPU's compiler, which does not, leaves such loads apart.
std::string Aligned(const std::string& line) {
  const size_t at = line.find(", align ");
  if (at == std::string::npos) return line;
  const size_t number = at + 8;
  size_t end = number;
  while (end < line.size() && line[end] >= '0' && line[end] <= '9') ++end;
  int bytes = 0;
  if (!absl::SimpleAtoi(line.substr(number, end - number), &bytes) || bytes > kAlignment) {
    return line;
  }
  const int wanted = absl::StrContains(line, " x i8]") ? 1
                     : absl::StrContains(line, " x i16]") || absl::StrContains(line, " x half]")
                         ? 2
                         : kAlignment;
  return absl::StrCat(line.substr(0, number), wanted, line.substr(end));
}

// Variables of device memory have sections of their own.
bool IsOfDevice(absl::string_view line) {
  return absl::StartsWith(line, "@") && absl::StrContains(line, ", section \".simt_");
}

// Tables of constants that kernels index: `static const int t[] = {...}` of a function, which nvcc
// has in global memory. What an automatic array is initialised from is private, and stays.
bool IsTable(absl::string_view line) {
  return (absl::StartsWith(line, "@_ZZ") || absl::StartsWith(line, "@_ZL")) &&
         (absl::StrContains(line, " constant [") || absl::StrContains(line, " constant <{")) &&
         !absl::StrContains(line, "*]") && !absl::StrContains(line, ", section ") &&
         !absl::StartsWith(line, "@_ZZNS");
}

// Bytes of the scalar at the end of the text before the first comma, such as "load i32" and
// "@y = global [2 x i32] zeroinitializer"; 0 of others.
int ScalarBytes(absl::string_view line) {
  const absl::string_view before = line.substr(0, line.find(','));
  constexpr std::pair<absl::string_view, int> kTypes[] = {
      {"i8", 1}, {"i16", 2}, {"half", 2}, {"i32", 4}, {"float", 4}, {"i64", 8}, {"double", 8}};
  for (const auto& type : kTypes) {
    for (const char* behind : {" ", "]"}) {
      if (absl::StrContains(before, absl::StrCat(" ", type.first, behind))) return type.second;
    }
    if (absl::EndsWith(before, absl::StrCat(" ", type.first))) return type.second;
  }
  return 0;
}

// Whether the line has one of the names.
bool HasName(const std::string& line, const std::set<std::string>& names) {
  for (size_t at = line.find_first_of("@%"); at != std::string::npos;
       at = line.find_first_of("@%", at + 1)) {
    if (names.count(std::string(NameAt(line, at))) > 0) return true;
  }
  return false;
}

// Adds the result of a line that computes an address from one of these.
void NoteAddress(const std::string& line, std::set<std::string>* addresses) {
  const bool is_address =
      absl::StrContains(line, " = getelementptr ") || absl::StrContains(line, " = bitcast ");
  const size_t result = line.find('%');
  if (is_address && HasName(line.substr(line.find(" = ")), *addresses)) {
    addresses->insert(std::string(NameAt(line, result)));
  }
}

// Variables of the device are 256 bytes apart on the host, but no more aligned than their type in
// nvcc's eyes: of `__device__ int y[2]` it loads both apart. Those of structures are left.
std::string WithAlignmentOfType(std::string line, const std::set<std::string>& addresses) {
  const bool named = IsOfDevice(line) || HasName(line, addresses);
  const size_t align = line.find(", align ");
  const int bytes = ScalarBytes(line);
  if (!named || align == std::string::npos || bytes == 0 || absl::StrContains(line, "%struct.")) {
    return line;
  }
  const size_t end = line.find_first_not_of("0123456789", align + 8);
  line.replace(align + 8, end == std::string::npos ? end : end - align - 8, absl::StrCat(bytes));
  return line;
}

// A variable of a template or of an inline function is one for all files; made one of this file,
// with its name, it is one that nothing else can point to.
std::string Internal(const std::string& line) {
  std::string result = absl::StrReplaceAll(
      line, {{" linkonce_odr thread_local ", " internal thread_local "},
             {" weak_odr thread_local ", " internal thread_local "},
             {" external thread_local global [", " internal thread_local global ["},
             {" comdat,", ""}});
  return absl::StrReplaceAll(result, {{", comdat", ""}});
}

// A table as a variable of the device, and of this file alone.
std::string InDeviceMemory(const std::string& line) {
  std::string result = absl::StrReplaceAll(
      line, {{" linkonce_odr ", " internal "}, {" weak_odr ", " internal "}, {", comdat", ""}});
  const size_t align = result.rfind(", align ");
  if (align == std::string::npos) return line;
  result.insert(align, absl::StrCat(", section \"", kDeviceSection, NameOf(line).substr(1), "\""));
  return result;
}

// The line of IR that begins so.
std::string LineOf(absl::string_view beginning, absl::string_view ir) {
  for (const absl::string_view line : absl::StrSplit(ir, '\n')) {
    if (absl::StartsWith(line, beginning)) return std::string(line);
  }
  return "";
}

// nvcc has the code of these in place of the call, with branches and loads (math_tables.h), and
// does all of it again for the same argument.
bool LoadsFromTable(absl::string_view line) {
  for (const char* name : {" @sin(", " @cos(", " @sinpi(", " @cospi("}) {
    if (absl::StrContains(line, name)) return true;
  }
  return false;
}

// Of the compiler's functions that return extern variables in shared memory what they return, as
// "_ZTW1a": "[0 x i32]* @a".
std::map<std::string, std::string> ReturnedVariables(const std::vector<std::string>& lines) {
  std::set<std::string> shared;
  std::map<std::string, std::string> result;
  std::string function;
  for (const std::string& line : lines) {
    if (IsShared(line)) shared.insert(std::string(NameOf(line)));
    const size_t name = line.find("@_ZTW");
    if (absl::StartsWith(line, "define ")) {
      function = name == std::string::npos ? "" : std::string(NameAt(line, name));
    }
    if (function.empty() || !absl::StartsWith(line, "  ret ")) continue;
    const size_t at = line.find('@');
    if (at == std::string::npos || shared.count(std::string(NameAt(line, at))) == 0) continue;
    result[function] = line.substr(6, line.find_first_of(", ", at) - 6);
  }
  return result;
}

// nvcc has the variables themselves, so that it sees that two addresses are of the same one before
// functions are inlined.
std::string WithVariables(const std::string& line,
                          const std::map<std::string, std::string>& returned) {
  const size_t call = line.find(" = call "), name = line.find("@_ZTW");
  if (call == std::string::npos || name == std::string::npos) return line;
  const auto found = returned.find(std::string(NameAt(line, name)));
  if (found == returned.end()) return line;
  const std::string& variable = found->second;
  return absl::StrCat(line.substr(0, call), " = bitcast ", variable, " to ",
                      variable.substr(0, variable.find(" @")), line.substr(line.find("()") + 2));
}

}  // namespace

std::string WithPromises(absl::string_view ir) {
  std::vector<std::string> lines = absl::StrSplit(ir, '\n');
  const std::map<std::string, std::string> returned = ReturnedVariables(lines);
  std::set<std::string> variables;
  for (std::string& line : lines) {
    if (IsTable(line)) line = InDeviceMemory(line);
    if (IsOfDevice(line)) variables.insert(std::string(NameOf(line)));
  }
  bool ranged = false;
  std::set<std::string> addresses;  // The variables, and what a function computes from them.
  for (std::string& line : lines) {
    line = WithVariables(line, returned);
    if (absl::StartsWith(line, "define ")) addresses = variables;
    NoteAddress(line, &addresses);
    if (IsShared(line) && !IsOfLibrary(line)) {
      const bool dynamic = absl::StrContains(line, " external thread_local global [0 x ");
      line = Aligned(Internal(line));
      // Only what has an initial value is defined.
      if (dynamic) line.insert(line.find(", align "), " undef");
    }
    if (absl::StrContains(line, "load ") || absl::StrContains(line, "store ") || IsOfDevice(line)) {
      line = WithAlignmentOfType(std::move(line), addresses);
    }
    // An extern thread_local variable may have an initialisation elsewhere; shared ones have none.
    const size_t initialised = line.find("br i1 icmp ne (");
    if (initialised != std::string::npos && absl::StrContains(line, " @_ZTH")) {
      const size_t label = line.find(", label", initialised);
      line.replace(initialised, label - initialised, "br i1 false");
    }
    // What the compiler puts around such a variable.
    if (absl::StartsWith(line, "define ") && absl::StrContains(line, " @_ZTW")) {
      line.insert(line.find("()") + 2, " alwaysinline");
    }
    // A loop with a barrier may be unrolled, and a sum in shared memory be kept in a register: what
    // the instrumentation must not see is of no interest here.
    if (absl::StartsWith(line, kAttributes)) {
      line = absl::StrReplaceAll(line, {{" noduplicate ", " "}, {" sanitize_thread ", " "}});
    }
    // Types of structures stay as they are.
    if (!absl::StartsWith(line, "%")) {
      line = absl::StrReplaceAll(line, {{kUnknownExtent, kLargeExtent}});
    }
    if (absl::StartsWith(line, "declare ") && NamesMath(line)) {
      line = absl::StrCat(line.substr(0, line.find(')') + 1),
                          LoadsFromTable(line) ? " inaccessiblememonly" : " readnone",
                          " nounwind willreturn");
    }
    if (!absl::StrContains(line, "call ") || !absl::StrContains(line, "@simt_")) continue;
    for (size_t i = 0; i < std::size(kRanges); ++i) {
      if (!absl::StrContains(line, kRanges[i].call)) continue;
      absl::StrAppend(&line, ", !range !", 900000000 + i);
      ranged = true;
    }
  }
  std::string result = absl::StrJoin(lines, "\n");
  for (size_t i = 0; ranged && i < std::size(kRanges); ++i) {
    absl::StrAppend(&result, "\n!", 900000000 + i, " = !{i32 ", kRanges[i].least, ", i32 ",
                    kRanges[i].end, "}");
  }
  return result + "\n";
}

std::string WithoutPromises(absl::string_view optimized, absl::string_view before) {
  std::set<std::string> dynamic;
  for (const absl::string_view line : absl::StrSplit(before, '\n')) {
    if (IsShared(line) && absl::StrContains(line, " external thread_local global [0 x ")) {
      dynamic.insert(std::string(NameOf(line)));
    }
  }
  std::vector<std::string> lines = absl::StrSplit(optimized, '\n');
  lines = WithoutUnusedFillers(WithoutMarksOfRuns(std::move(lines)));
  lines = WithPredicatedLoadsMerged(WithAlignedPieces(std::move(lines)));
  lines = WithOverwrittenStoresMerged(std::move(lines));
  lines = WithWideSharedLoads(WithUnrolledLoops(std::move(lines)));
  int vectors = 0;
  for (std::string& line : lines) {
    line = SplitOddVector(line, &vectors);
    if (absl::StartsWith(line, kTargetTriple)) line = LineOf(kTargetTriple, before);
    if (absl::StartsWith(line, kDataLayout)) line = LineOf(kDataLayout, before);
    if (IsOfDevice(line)) {
      line.replace(line.rfind(", align "), std::string::npos, ", align 256");
    }
    if (absl::StartsWith(line, kAttributes)) {
      line.insert(line.find('{') + 1, " sanitize_thread");  // Its pass makes calls of memcpy().
    }
    if (IsShared(line) && dynamic.count(std::string(NameOf(line))) > 0) {
      line =
          absl::StrReplaceAll(line, {{" internal ", " external "}, {" undef, align ", ", align "}});
    }
  }
  return absl::StrJoin(lines, "\n");
}

}  // namespace stridewise::executor
