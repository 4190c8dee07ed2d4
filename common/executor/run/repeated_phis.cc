#include "common/executor/run/repeated_phis.h"

#include <cstddef>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/executor/run/ir_operation.h"
#include "common/executor/run/ir_text.h"

namespace stridewise::executor {
namespace {

using Lines = std::vector<std::string>;
using Definitions = std::map<std::string, const std::string*>;

// A name that GVN gives.
constexpr absl::string_view kOfGvn = ".pre-phi";

bool IsPhi(absl::string_view line) { return absl::StartsWith(Operation(line), "phi "); }

// What all values of the phi are, without a result, or "".
std::string Repeated(absl::string_view phi, const Definitions& definitions) {
  std::string all;
  for (size_t at = phi.find("[ "); at != absl::string_view::npos; at = phi.find("[ ", at + 1)) {
    const auto found = definitions.find(std::string(NameAt(phi, at + 2)));
    if (found == definitions.end()) return "";
    const IrOperation operation = OperationOf(*found->second);
    if (!operation.IsPure()) return "";
    const std::string key = KeyOf(operation);
    if (!all.empty() && key != all) return "";
    all = key;
  }
  return all;
}

Lines Changed(Lines function) {
  Definitions definitions;
  for (const std::string& line : function) {
    const std::string name = Defined(line);
    if (!name.empty()) definitions[name] = &line;
  }
  Lines result, behind;  // What is to stand behind the phis of a block.
  for (const std::string& line : function) {
    if (IsPhi(line) && absl::StrContains(Defined(line), kOfGvn)) {
      const std::string operation = Repeated(line, definitions);
      if (!operation.empty()) {
        behind.push_back(absl::StrCat("  ", Defined(line), " = ", Operation(operation)));
        continue;
      }
    }
    if (!IsPhi(line)) {
      for (std::string& late : behind) result.push_back(std::move(late));
      behind.clear();
    }
    result.push_back(line);
  }
  return result;
}

}  // namespace

Lines WithoutRepeatedPhis(Lines lines) { return WithDeviceFunctions(std::move(lines), Changed); }

}  // namespace stridewise::executor
