#include "common/gpu/kernel_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace stridewise {
namespace {

bool IsNameCharacter(char c) {
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '_';
}

// The name with its template arguments, of "void name<arguments>(parameters)".
absl::string_view WithoutSignature(absl::string_view text) {
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '<') ++depth;
    if (text[i] == '>') --depth;
    if (depth > 0) continue;
    if (text[i] == ' ') begin = i + 1;
    if (text[i] == '(') return text.substr(begin, i - begin);
  }
  return text.substr(begin);
}

// Takes the qualifier that `text` ends with, "outer" or "outer<arguments>", off it.
void DropQualifier(std::string* text) {
  if (absl::EndsWith(*text, ">")) {
    int depth = 0;
    do {
      if (text->back() == '>') ++depth;
      if (text->back() == '<') --depth;
      text->pop_back();
    } while (depth > 0 && !text->empty());
  }
  while (!text->empty() && IsNameCharacter(text->back())) text->pop_back();
}

std::string WithoutQualifiers(absl::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (absl::StartsWith(text.substr(i), "::")) {
      DropQualifier(&result);
      ++i;
    } else {
      result += text[i];
    }
  }
  return result;
}

// "(int)32" becomes "32".
std::string WithoutCasts(absl::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t end = text[i] == '(' ? text.find(')', i) : absl::string_view::npos;
    const bool is_cast = end != absl::string_view::npos && end + 1 < text.size() &&
                         (IsNameCharacter(text[end + 1]) || text[end + 1] == '-');
    if (is_cast) {
      i = end;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string Cut(std::string name) {
  constexpr absl::string_view kEllipsis = "...";
  if (name.size() <= kMaxKernelNameLength) return name;
  name.resize(kMaxKernelNameLength - kEllipsis.size());
  return absl::StrCat(name, kEllipsis);
}

}  // namespace

std::string ShortKernelName(const std::string& mangled) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status), &std::free);
  if (demangled == nullptr) return Cut(mangled);
  const std::string text = absl::StrReplaceAll(demangled.get(), {{"(anonymous namespace)::", ""}});
  return Cut(WithoutCasts(WithoutQualifiers(WithoutSignature(text))));
}

}  // namespace stridewise
