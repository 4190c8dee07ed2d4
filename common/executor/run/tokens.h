// The tokens of preprocessed C++, as far as the rewriter distinguishes them.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_TOKENS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_TOKENS_H_

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace stridewise::executor {

enum class TokenKind { kWord, kLiteral, kPunctuation, kLaunchOpen, kLaunchClose };

struct Token {
  TokenKind kind;
  // Points into the text. A punctuator is one character, but for :: and ->, and <<< and >>>, which
  // are kLaunchOpen and kLaunchClose, also with blanks between: >>> may also close three template
  // argument lists.
  absl::string_view text;
  int line = 0;
  int file = 0;  // An index of TokenizedText::files.
};

struct TokenizedText {
  std::vector<Token> tokens;
  std::vector<std::string> files;
  std::set<int> of_the_system;  // Indices of files that the compiler calls headers of the system.

  // Returns whether a file is of the program's own: neither the system's nor the executor's.
  bool IsOwn(int file) const;
};

// Splits the output of `clang -E`. Line markers set file and line; other directives, comments and
// white space are in no token.
TokenizedText Tokenize(absl::string_view text);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_TOKENS_H_
