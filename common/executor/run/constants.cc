#include "common/executor/run/constants.h"

#include <algorithm>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "common/executor/run/tokens.h"

namespace stridewise::executor {
namespace {

bool IsName(absl::string_view text) {
  return !text.empty() && !absl::ascii_isdigit(text[0]) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isalnum(c) || c == '_'; });
}

bool Opens(const Token& t) {
  return t.kind == TokenKind::kPunctuation && (t.text == "(" || t.text == "[" || t.text == "{");
}
bool Closes(const Token& t) {
  return t.kind == TokenKind::kPunctuation && (t.text == ")" || t.text == "]" || t.text == "}");
}
bool Is(const Token& t, absl::string_view text) {
  return t.kind == TokenKind::kPunctuation && t.text == text;
}

// Returns the first token at or behind `i` that is not in brackets and is one of these, or closes
// the brackets that all of it is in.
size_t SkipTo(const std::vector<Token>& t, size_t i, const std::set<absl::string_view>& any_of) {
  int depth = 0;
  for (; i < t.size(); ++i) {
    if (depth == 0 &&
        (Closes(t[i]) || (t[i].kind == TokenKind::kPunctuation && any_of.count(t[i].text) > 0))) {
      break;
    }
    depth += Opens(t[i]) ? 1 : 0;
    depth -= Closes(t[i]) ? 1 : 0;
  }
  return i;
}

// Returns whether a name behind this token is that of a variable: it is a word, or the end of
// template arguments. Without a type there is an assignment.
bool EndsType(const Token& token) {
  if (Is(token, ">")) return true;
  return token.kind == TokenKind::kWord && token.text != "using" && token.text != "class" &&
         token.text != "typename" && token.text != "namespace" && token.text != "return";
}

}  // namespace

absl::StatusOr<std::vector<Constant>> ParseConstants(absl::string_view text) {
  std::vector<Constant> constants;
  for (const absl::string_view part : absl::StrSplit(text, ';', absl::SkipWhitespace())) {
    const size_t equals = part.find('=');
    Constant constant;
    constant.name = std::string(absl::StripAsciiWhitespace(part.substr(0, equals)));
    if (equals != absl::string_view::npos) {
      constant.value = std::string(absl::StripAsciiWhitespace(part.substr(equals + 1)));
    }
    if (!IsName(constant.name) || constant.value.empty() ||
        constant.value.find('\n') != std::string::npos) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--constants: '", part, "' is not allowed; allowed is NAME=VALUE;NAME=VALUE"));
    }
    for (const Constant& other : constants) {
      if (other.name != constant.name) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("--constants: '", constant.name, "' occurs twice"));
    }
    constants.push_back(std::move(constant));
  }
  return constants;
}

WithConstantsResult WithConstants(absl::string_view preprocessed,
                                  const std::vector<Constant>& constants) {
  WithConstantsResult result;
  const TokenizedText source = Tokenize(preprocessed);
  const std::vector<Token>& t = source.tokens;
  size_t copied = 0;
  int parentheses = 0;
  for (size_t i = 0; i < t.size(); ++i) {
    parentheses += Is(t[i], "(") ? 1 : 0;
    parentheses -= Is(t[i], ")") ? 1 : 0;
    if (t[i].kind != TokenKind::kWord || parentheses > 0 || i == 0) continue;
    const auto constant = std::find_if(constants.begin(), constants.end(),
                                       [&](const Constant& c) { return c.name == t[i].text; });
    if (constant == constants.end() || !EndsType(t[i - 1]) || !source.IsOwn(t[i].file)) continue;
    size_t equals = i + 1;
    while (equals < t.size() && Is(t[equals], "[")) equals = SkipTo(t, equals + 1, {}) + 1;
    if (equals + 1 >= t.size() || !Is(t[equals], "=") || Is(t[equals + 1], "=")) continue;
    const size_t end = SkipTo(t, equals + 1, {";", ","});
    if (end == equals + 1 || end >= t.size()) continue;

    const auto offset = [&](size_t token) {
      return static_cast<size_t>(t[token].text.data() - preprocessed.data());
    };
    const size_t begin = offset(equals + 1);
    const size_t stop = offset(end - 1) + t[end - 1].text.size();
    const absl::string_view before = preprocessed.substr(begin, stop - begin);
    absl::StrAppend(&result.text, preprocessed.substr(copied, begin - copied), constant->value,
                    std::string(std::count(before.begin(), before.end(), '\n'), '\n'));
    copied = stop;
    result.replaced.push_back(
        {source.files[t[i].file], t[i].line, constant->name, std::string(before), constant->value});
    i = end;
  }
  absl::StrAppend(&result.text, preprocessed.substr(copied));
  return result;
}

}  // namespace stridewise::executor
