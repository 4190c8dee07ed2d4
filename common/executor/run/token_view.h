// The tokens of a file as the rewriter looks at them: which bracket closes which, where a
// declaration begins, and what stands between tokens.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_TOKEN_VIEW_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_TOKEN_VIEW_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/executor/run/tokens.h"

namespace stridewise::executor {

// The tokens from one index up to, but without, another.
using TokenRange = std::pair<int, int>;

// Functions take indices of tokens; there may be none at an index.
class TokenView {
 public:
  explicit TokenView(absl::string_view text);

  int size() const { return static_cast<int>(source_.tokens.size()); }
  const Token& operator[](int i) const { return source_.tokens[i]; }
  const std::string& FileOf(int i) const { return source_.files[(*this)[i].file]; }
  // Returns whether the token is of a file of the program's own.
  bool IsOwn(int i) const { return source_.IsOwn((*this)[i].file); }

  // Return whether the token is this word or punctuator, and whether it is a word.
  bool Is(int i, absl::string_view text) const {
    return i >= 0 && i < size() && (*this)[i].text == text &&
           (*this)[i].kind != TokenKind::kLiteral;
  }
  bool IsWord(int i) const { return i >= 0 && i < size() && (*this)[i].kind == TokenKind::kWord; }

  // Returns whether the token may be the end of a name, and not a word as `return` is.
  bool EndsName(int i) const;
  // Returns how many template argument lists the token closes: 1 for >, 3 for >>>.
  int Closes(int i) const;

  // Returns the bracket of (), [] or {} that belongs to the one at i; kNone where there is none.
  static constexpr int kNone = -1;
  int Match(int i) const { return match_[i]; }
  // Returns the index behind the bracket that closes the one at i; where there is none, the end.
  int Behind(int i) const { return match_[i] == kNone ? size() : match_[i] + 1; }
  // Returns the index behind the template argument list that opens at i.
  int BehindAngles(int i) const;

  // Returns the first token of the declaration that the token at i is in.
  int DeclarationStart(int i) const;

  // Where the token begins and ends in the text.
  size_t Begin(int i) const { return (*this)[i].text.data() - text_.data(); }
  size_t End(int i) const { return Begin(i) + (*this)[i].text.size(); }
  // Returns what stands before the token, behind the one before it; as a blank, if there is
  // anything, where `one_line`.
  absl::string_view Gap(int i, bool one_line) const;
  // Returns the tokens as they are, on one line.
  std::string OneLine(TokenRange range) const;

 private:
  void MatchBrackets();

  absl::string_view text_;
  TokenizedText source_;
  std::vector<int> match_;
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_TOKEN_VIEW_H_
