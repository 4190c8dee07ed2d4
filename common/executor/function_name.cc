// ShortFunctionName(): parses demangled names.

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "common/executor/symbolizer.h"

namespace stridewise::executor {
namespace {

bool IsIdentifierChar(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '$'; }

// Returns the position after the bracket that closes the one at `begin`, or the text's end.
size_t SkipBrackets(absl::string_view text, size_t begin) {
  std::string expected;
  for (size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(') expected += ')';
    if (c == '[') expected += ']';
    if (c == '{') expected += '}';
    if (c == '<') expected += '>';
    // A '>' may also be a comparison in a template argument.
    if (!expected.empty() && c == expected.back()) expected.pop_back();
    if (expected.empty()) return i + 1;
  }
  return text.size();
}

// Returns the position after the operator's name that begins at `begin`, or `begin` where none
// does: "operator<<", "operator()", "operator new[]", "operator unsigned long".
size_t SkipOperatorName(absl::string_view text, size_t begin) {
  static constexpr absl::string_view kOperator = "operator";
  if (!absl::StartsWith(text.substr(begin), kOperator)) return begin;
  size_t i = begin + kOperator.size();
  if (i < text.size() && IsIdentifierChar(text[i])) return begin;
  if (absl::StartsWith(text.substr(i), "()")) return i + 2;
  if (i < text.size() && text[i] != ' ') {
    const size_t first = i;
    for (; i < text.size() && !IsIdentifierChar(text[i]) && text[i] != '(' && text[i] != ' '; ++i) {
      // Template arguments, unless it is operator< or operator<<.
      if (text[i] == '<' && i > first && text[i - 1] != '<') break;
    }
    if (i < text.size() && text[i] == ' ') ++i;
    return i;
  }
  while (i < text.size() && text[i] != '(') i = text[i] == '<' ? SkipBrackets(text, i) : i + 1;
  return i;
}

}  // namespace

std::string ShortFunctionName(absl::string_view demangled) {
  // The parts between "::" of the name, without the brackets after them. A part that turns out to
  // be a return type is dropped at the space after it.
  std::vector<absl::string_view> parts;
  size_t begin = 0;              // Where the current part begins.
  size_t end = 0;                // Where its name ends; 0 until then.
  bool after_arguments = false;  // The text up to the next "::" is "const" or "[clone .cold]".
  const auto finish_part = [&](size_t here) {
    parts.push_back(demangled.substr(begin, (end > 0 ? end : here) - begin));
    end = 0;
    after_arguments = false;
  };

  size_t i = 0;
  while (i < demangled.size()) {
    const char c = demangled[i];
    const bool at_start = i == begin;
    if (at_start && SkipOperatorName(demangled, i) > i) {
      i = SkipOperatorName(demangled, i);
      end = i;
      if (demangled[i - 1] == ' ') --end;  // Of "operator< <int>".
    } else if (absl::StartsWith(demangled.substr(i), "::")) {
      finish_part(i);
      i += 2;
      begin = i;
    } else if (c == ' ' && !after_arguments) {
      parts.clear();
      begin = ++i;
      end = 0;
    } else if (c == '(' || c == '<' || c == '[' || c == '{') {
      if (!at_start && end == 0) end = i;
      if (!at_start && c == '(') after_arguments = true;
      i = SkipBrackets(demangled, i);
    } else {
      ++i;
    }
  }
  finish_part(i);

  // A lambda is named after the function that it is written in.
  const auto is_lambda = [](absl::string_view part) { return absl::StartsWith(part, "{lambda"); };
  bool lambda = false;
  while (is_lambda(parts.back()) ||
         (parts.size() > 1 && parts.back() == "operator()" && is_lambda(parts[parts.size() - 2]))) {
    if (parts.size() == 1) return "lambda";
    lambda = lambda || is_lambda(parts.back());
    parts.pop_back();
  }
  // GCC marks its copies of C functions: "main.cold".
  const absl::string_view name = parts.back().substr(0, parts.back().find('.'));
  if (name.empty()) return std::string(demangled);
  return absl::StrCat(lambda ? "lambda in " : "", name);
}

}  // namespace stridewise::executor
