#include "common/executor/ptx/rewrite_asm.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace stridewise::executor {
namespace {

bool IsNameStart(char c) { return absl::ascii_isalpha(c) || c == '_' || c == '$'; }
bool IsNameCharacter(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '$'; }

class Rewriter {
 public:
  Rewriter(absl::string_view source, const RewriteAsmOptions& options)
      : source_(source), options_(options) {}

  absl::StatusOr<std::string> Rewrite() {
    while (at_ < source_.size()) {
      const size_t begin = at_;
      const absl::string_view token = Next();
      if (!in_system_header_ && IsAsm(token)) {
        const absl::Status status = Statement(begin);
        if (!status.ok()) errors_.emplace_back(status.message());
      } else {
        out_.append(token.data(), token.size());
      }
    }
    if (!errors_.empty()) return absl::InvalidArgumentError(absl::StrJoin(errors_, "\n"));
    return std::move(out_);
  }

 private:
  bool IsAsm(absl::string_view token) const {
    if (!options_.word.empty()) return token == options_.word;
    return token == "asm" || token == "__asm__" || token == "__asm";
  }
  static bool IsString(absl::string_view token) {
    return !token.empty() && (token[0] == '"' || absl::StartsWith(token, "R\""));
  }
  static bool IsSpace(absl::string_view token) {
    return token.empty() || absl::ascii_isspace(token[0]) || (token[0] == '#' && token.size() > 1);
  }

  // Returns the next token: a name, a number, a literal, white space, a whole line that begins with
  // '#', '::', or one character.
  absl::string_view Next() {
    const size_t begin = at_;
    const char c = source_[at_];
    if (c == '#' && (begin == 0 || source_[begin - 1] == '\n')) {
      at_ = std::min(source_.find('\n', at_), source_.size());
      LineMarker(source_.substr(begin, at_ - begin));
    } else if (absl::ascii_isspace(c)) {
      if (c == '\n') ++line_;
      ++at_;
    } else if (absl::StartsWith(source_.substr(at_), "R\"")) {
      const size_t open = source_.find('(', at_);
      const std::string close = absl::StrCat(")", source_.substr(at_ + 2, open - at_ - 2), "\"");
      at_ = std::min(source_.find(close, open), source_.size() - close.size()) + close.size();
      line_ += std::count(source_.begin() + begin, source_.begin() + at_, '\n');
    } else if (IsNameStart(c)) {
      while (at_ < source_.size() && IsNameCharacter(source_[at_])) ++at_;
    } else if (absl::ascii_isdigit(c)) {
      // With the apostrophes between digits.
      while (at_ < source_.size() &&
             (IsNameCharacter(source_[at_]) || source_[at_] == '.' || source_[at_] == '\'')) {
        ++at_;
      }
    } else if (c == '"' || c == '\'') {
      ++at_;
      while (at_ < source_.size() && source_[at_] != c) at_ += source_[at_] == '\\' ? 2 : 1;
      at_ = std::min(at_ + 1, source_.size());
    } else {
      at_ += absl::StartsWith(source_.substr(at_), "::") ? 2 : 1;
    }
    return source_.substr(begin, at_ - begin);
  }

  // # line "file" flags, of which 3 says that it is a header of the system.
  void LineMarker(absl::string_view text) {
    const size_t open = text.find('"');
    const size_t close = text.rfind('"');
    int line = 0;
    if (open == absl::string_view::npos || close <= open ||
        !absl::SimpleAtoi(text.substr(1, open - 1), &line)) {
      return;
    }
    file_ = std::string(text.substr(open + 1, close - open - 1));
    line_ = line - 1;  // The end of this line counts.
    in_system_header_ = absl::StrContains(text.substr(close), " 3");
  }

  absl::Status Error(absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(file_, ":", line_, ": ", what));
  }

  // Rewrites from the word asm, at `begin`, to the closing parenthesis. What is no statement, such
  // as the name of a function in assembler, is copied.
  absl::Status Statement(size_t begin) {
    const size_t after_word = at_;
    const int line = line_;
    // The tokens of the statement, white space among them.
    std::vector<absl::string_view> tokens;
    int depth = 0;
    bool has_strings_only = true;
    while (at_ < source_.size()) {
      const absl::string_view token = Next();
      tokens.push_back(token);
      if (depth == 0 && token != "(" && !IsSpace(token)) {
        if (token == "volatile" || token == "__volatile__" || token == "__volatile") {
          has_strings_only = false;
          continue;
        }
        break;  // No statement, or `asm goto`.
      }
      if (token == "(") ++depth;
      if (token == ")" && --depth == 0) break;
      // A function's name in assembler, `int f() asm("name")`, has neither.
      if (depth == 1 && (token == ":" || token == "::")) has_strings_only = false;
      if (IsString(token) && absl::StrContains(token, ';')) has_strings_only = false;
    }
    if (depth != 0 || tokens.empty() || tokens.back() != ")") {
      return Error("this form of asm is not supported on the host executor");
    }
    if (has_strings_only) {
      absl::StrAppend(&out_, source_.substr(begin, after_word - begin));
      at_ = after_word;
      line_ = line;
      return absl::OkStatus();
    }
    return Call(tokens, line);
  }

  // The parts of a statement, between colons.
  enum Part { kText, kOutputs, kInputs, kClobbers };

  absl::Status Call(const std::vector<absl::string_view>& tokens, int first_line) {
    std::vector<std::string> names;  // Of operands, [name]; empty where there is none.
    std::string text, operands;
    int part = kText;
    int depth = 0;
    std::string constraint;
    bool after_name = false;
    for (size_t i = 0; i < tokens.size(); ++i) {
      const absl::string_view token = tokens[i];
      std::string* const to = part == kText ? &text : &operands;
      if (token == "volatile" || token == "__volatile__" || token == "__volatile") {
        if (depth == 0) continue;
      }
      if (depth == 1 && (token == ":" || token == "::")) {
        part += static_cast<int>(token.size());
        continue;
      }
      if (token == "(" || token == "[" || token == "{") {
        ++depth;
        if (depth == 1) continue;  // That of asm.
        if (depth == 2 && token == "[" && part != kText) {
          // [name] before a constraint.
          size_t j = i + 1;
          while (IsSpace(tokens[j])) ++j;
          if (constraint.empty() && !after_name) {
            names.emplace_back(tokens[j]);
            after_name = true;
            while (tokens[i] != "]") ++i;
            --depth;
            continue;
          }
        }
        if (depth == 2 && token == "(" && (part == kOutputs || part == kInputs)) {
          if (!after_name) names.emplace_back();
          if (constraint.empty()) return Error("an operand of asm without a constraint");
          if (absl::ascii_isdigit(constraint[0])) {
            return Error("asm operands that are tied by number are not supported");
          }
          absl::StrAppend(to, ", ::",
                          part == kInputs        ? "SimtIn"
                          : constraint[0] == '+' ? "SimtInOut"
                                                 : "SimtOut");
        }
      }
      if (token == ")" || token == "]" || token == "}") {
        --depth;
        if (depth == 0) break;
        if (depth == 1) {
          to->append(token.data(), token.size());
          constraint.clear();
          after_name = false;
          continue;
        }
      }
      if (part == kClobbers) {
        if (IsSpace(token)) to->append(token.data(), token.size());
        continue;
      }
      if (part != kText && depth == 1) {
        if (IsString(token)) {
          constraint = std::string(token.substr(1, token.size() - 2));
        } else if (IsSpace(token)) {
          to->append(token.data(), token.size());
        }
        continue;  // Commas are written with the operands.
      }
      to->append(token.data(), token.size());
    }
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i].empty()) continue;
      text = absl::StrReplaceAll(text, {{absl::StrCat("%[", names[i], "]"), absl::StrCat("%", i)}});
    }
    const std::string ptx = TextOf(text);
    if (options_.check != nullptr) {
      const std::string wrong = options_.check(ptx);
      if (!wrong.empty()) errors_.push_back(absl::StrCat(file_, ":", first_line, ": ", wrong));
    }
    absl::StrAppend(&out_,
                    absl::StrContains(ptx, "wgmma.mma_async") ? "::SimtWgmma("
                    : absl::StripAsciiWhitespace(ptx).empty() ? "::SimtNoPtx("
                                                              : "::SimtPtx(",
                    text, operands, ")");
    return absl::OkStatus();
  }

  // Returns what string literals that follow each other stand for.
  static std::string TextOf(absl::string_view literals) {
    std::string text;
    Rewriter tokens(literals, {});
    while (tokens.at_ < literals.size()) {
      absl::string_view token = tokens.Next();
      if (!IsString(token)) continue;
      std::string part;
      if (token[0] == 'R') {
        token = token.substr(token.find('(') + 1);
        part = std::string(token.substr(0, token.rfind(')')));
      } else if (!absl::CUnescape(token.substr(1, token.size() - 2), &part)) {
        part = std::string(token);
      }
      text += part;
    }
    return text;
  }

  absl::string_view source_;
  RewriteAsmOptions options_;
  std::vector<std::string> errors_;
  size_t at_ = 0;
  std::string out_;
  std::string file_;
  int line_ = 1;
  bool in_system_header_ = false;
};

}  // namespace

absl::StatusOr<std::string> RewriteAsm(absl::string_view preprocessed,
                                       const RewriteAsmOptions& options) {
  return Rewriter(preprocessed, options).Rewrite();
}

}  // namespace stridewise::executor
