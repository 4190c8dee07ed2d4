#include "common/executor/run/token_view.h"

#include <set>

#include "absl/strings/str_cat.h"

namespace stridewise::executor {
namespace {

bool IsKeywordBeforeExpression(absl::string_view word) {
  static const auto* const kWords = new std::set<absl::string_view>{
      "return", "else", "do", "case", "goto", "and", "or", "not", "co_return", "throw", "in"};
  return kWords->count(word) > 0;
}

}  // namespace

TokenView::TokenView(absl::string_view text) : text_(text), source_(Tokenize(text)) {
  MatchBrackets();
}

void TokenView::MatchBrackets() {
  match_.assign(source_.tokens.size(), kNone);
  std::vector<int> open;
  for (int i = 0; i < size(); ++i) {
    if ((*this)[i].kind != TokenKind::kPunctuation) continue;
    const char c = (*this)[i].text[0];
    if (c == '(' || c == '[' || c == '{') open.push_back(i);
    if ((c == ')' || c == ']' || c == '}') && !open.empty()) {
      match_[i] = open.back();
      match_[open.back()] = i;
      open.pop_back();
    }
  }
}

bool TokenView::EndsName(int i) const {
  return Closes(i) > 0 || (IsWord(i) && !IsKeywordBeforeExpression((*this)[i].text));
}

int TokenView::Closes(int i) const {
  if (i < 0 || i >= size()) return 0;
  if ((*this)[i].kind == TokenKind::kLaunchClose) return 3;
  return Is(i, ">") ? 1 : 0;
}

int TokenView::BehindAngles(int i) const {
  int depth = 0;
  for (int j = i; j < size(); ++j) {
    if (Is(j, "(") || Is(j, "[") || Is(j, "{")) {
      j = Behind(j) - 1;
      continue;
    }
    if (Is(j, ";")) break;
    depth += Is(j, "<") ? 1 : 0;
    depth -= Closes(j);
    if (depth <= 0) return j + 1;
  }
  return i + 1;
}

int TokenView::DeclarationStart(int i) const {
  int j = i;
  while (j > 0 && !Is(j - 1, ";") && !Is(j - 1, "{") && !Is(j - 1, "}") && !Is(j - 1, ")") &&
         !Is(j - 1, ":") && !Is(j - 1, ">") && !Is(j - 1, "]") && !Is(j - 1, ",") &&
         !Is(j - 1, "(")) {
    --j;
  }
  return j;
}

absl::string_view TokenView::Gap(int i, bool one_line) const {
  const absl::string_view gap = text_.substr(End(i - 1), Begin(i) - End(i - 1));
  return one_line && !gap.empty() ? " " : gap;
}

std::string TokenView::OneLine(TokenRange range) const {
  std::string text;
  for (int i = range.first; i < range.second; ++i) {
    if (i > range.first) absl::StrAppend(&text, Gap(i, /*one_line=*/true));
    absl::StrAppend(&text, (*this)[i].text);
  }
  return text;
}

}  // namespace stridewise::executor
