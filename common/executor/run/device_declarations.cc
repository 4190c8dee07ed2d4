#include "common/executor/run/device_declarations.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "common/executor/run/rewriter.h"

namespace stridewise::executor {
namespace {

class Finder {
 public:
  Finder(const TokenView& tokens, absl::string_view section_prefix)
      : t_(tokens), section_prefix_(section_prefix) {}

  DeviceDeclarations Run() {
    FindDeclarations();
    FindClusterDimensions();
    return std::move(found_);
  }

 private:
  void FindDeclarations() {
    for (int i = 0; i < t_.size(); ++i) {
      if (t_.Is(i, "thread_local") && t_.Is(i + 1, "alignas") && t_.Is(i + 2, "("))
        MoveAlignment(i);
      if (!t_.IsWord(i) || !IsDeviceMarker(t_[i].text)) continue;
      found_.replacement[i] = "";
      if (t_.Is(i, "__host__")) continue;
      FindDeclaration(i);
    }
  }

  // extern __shared__ alignas(16) float a[]: C++ wants the alignment before the storage class.
  void MoveAlignment(int i) {
    const int end = t_.Behind(i + 2);
    int start = i;
    while (t_.Is(start - 1, "extern") || t_.Is(start - 1, "static")) --start;
    found_.replacement[start] = absl::StrCat(t_.OneLine({i + 1, end}), " ", t_[start].text);
    for (int j = i + 1; j < end; ++j) found_.replacement[j] = "";
  }

  void FindDeclaration(int marker) {
    const int start = t_.DeclarationStart(marker);
    bool constant = false;
    bool is_extern = t_.Is(start - 1, ">");  // A template: each instance is a variable.
    bool shared = false;
    for (int i = start; i < t_.size(); ++i) {
      if (t_.Is(i, "__constant__")) constant = true;
      if (t_.Is(i, "extern")) is_extern = true;
      if (t_.Is(i, "thread_local")) shared = true;  // What __shared__ is.
      if ((t_.Is(i, "__attribute__") || t_.Is(i, "alignas") || t_.Is(i, "decltype") ||
           t_.Is(i, "__declspec") || t_.Is(i, "__cluster_dims__")) &&
          t_.Is(i + 1, "(")) {
        i = t_.Behind(i + 1) - 1;
      } else if (t_.Is(i, "[") && t_.Is(i + 1, "[")) {
        i = t_.Behind(i) - 1;
      } else if (t_.Is(i, "operator")) {
        int parameters = i + 1;
        if (t_.Is(parameters, "(")) parameters += 2;
        while (parameters < t_.size() && !t_.Is(parameters, "(")) ++parameters;
        return FindBody(parameters);
      } else if (t_.Is(i, "<") && i > start && t_.IsWord(i - 1)) {
        i = t_.BehindAngles(i) - 1;
      } else if (t_.Is(i, "(") && !t_.Is(i + 1, "*") && !t_.Is(i + 1, "&")) {
        return FindBody(i);
      } else if (t_.Is(i, ";") || t_.Is(i, "=") || t_.Is(i, "[") || t_.Is(i, "{") ||
                 t_.Is(i, ",") || t_.Is(i, "(")) {
        if (is_extern || shared || i == marker + 1) return;
        if (!named_.insert(start).second) return;
        found_.replacement[marker] =
            absl::StrCat("__attribute__((section(\"", constant ? kConstantSection : kDeviceSection,
                         section_prefix_, ".", named_.size(), "\"), aligned(256)))");
        return;
      } else if (t_.Is(i, ")") || t_.Is(i, "}")) {
        return;
      }
    }
  }

  // Notes the body of a function of the device whose parameters are in the parentheses at i.
  void FindBody(int i) {
    if (i >= t_.size()) return;
    bool initialisers = false;
    for (i = t_.Behind(i); i < t_.size(); ++i) {
      if (t_.Is(i, ":")) initialisers = true;
      if (t_.Is(i, "(") || (initialisers && t_.Is(i, "{") && t_.IsWord(i - 1))) {
        i = t_.Behind(i) - 1;
      } else if (t_.Is(i, "{")) {
        found_.bodies.emplace_back(i, t_.Behind(i));
        return;
      } else if (t_.Is(i, ";") || t_.Is(i, "=") || t_.Is(i, "}") || t_.Is(i, ")") ||
                 t_.Is(i, ",")) {
        return;
      }
    }
  }

  // A thread of a launch without that cluster returns; the runtime then launches with it. That way
  // the attribute may use template parameters, and launches by pointer know it, too.
  void FindClusterDimensions() {
    for (int i = 0; i < t_.size(); ++i) {
      if (!t_.Is(i, "__cluster_dims__") || !t_.Is(i + 1, "(")) continue;
      const int end = t_.Behind(i + 1);
      const auto body = std::find_if(found_.bodies.begin(), found_.bodies.end(),
                                     [end](const auto& b) { return b.first >= end; });
      if (body == found_.bodies.end() || HasSemicolon(end, body->first)) {
        found_.unsupported.emplace_back(i,
                                        "__cluster_dims__ on a declaration that is no definition");
        continue;
      }
      found_.replacement[body->first] = absl::StrCat("{ if (::simt_cuda::OtherCluster(",
                                                     t_.OneLine({i + 2, end - 1}), ")) return;");
      for (int j = i; j < end; ++j) found_.replacement[j] = "";
    }
  }
  bool HasSemicolon(int begin, int end) const {
    for (int i = begin; i < end; ++i) {
      if (t_.Is(i, ";")) return true;
    }
    return false;
  }

  const TokenView& t_;
  absl::string_view section_prefix_;
  DeviceDeclarations found_;
  std::set<int> named_;  // Declarations whose variables have a section.
};

}  // namespace

DeviceDeclarations FindDeviceDeclarations(const TokenView& tokens,
                                          absl::string_view section_prefix) {
  return Finder(tokens, section_prefix).Run();
}

bool IsDeviceMarker(absl::string_view word) {
  return word == "__global__" || word == "__device__" || word == "__host__" ||
         word == "__constant__" || word == "__managed__";
}

}  // namespace stridewise::executor
