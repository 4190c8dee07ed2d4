#include "common/executor/run/tokens.h"

#include <algorithm>
#include <cctype>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/strip.h"

namespace stridewise::executor {
namespace {

bool IsWordStart(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || (c & 0x80) != 0;
}
bool IsWordPart(char c) { return IsWordStart(c) || std::isdigit(static_cast<unsigned char>(c)); }

class Tokenizer {
 public:
  explicit Tokenizer(absl::string_view text) : text_(text) { result_.files.emplace_back(); }

  TokenizedText Run() {
    bool line_start = true;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\n') {
        ++line_;
        ++at_;
        line_start = true;
      } else if (std::isspace(static_cast<unsigned char>(c))) {
        ++at_;
      } else if (c == '#' && line_start) {
        Directive();
      } else if (absl::StartsWith(text_.substr(at_), "//")) {
        SkipTo(text_.find('\n', at_));
      } else if (absl::StartsWith(text_.substr(at_), "/*")) {
        const size_t end = text_.find("*/", at_ + 2);
        SkipTo(end == absl::string_view::npos ? end : end + 2);
      } else {
        line_start = false;
        Next();
      }
    }
    return std::move(result_);
  }

 private:
  void SkipTo(size_t end) {
    end = std::min(end, text_.size());
    line_ += static_cast<int>(std::count(text_.begin() + at_, text_.begin() + end, '\n'));
    at_ = end;
  }

  // `# 12 "file.cu" 1 3` says where the next line is from.
  void Directive() {
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    absl::string_view rest =
        absl::StripLeadingAsciiWhitespace(text_.substr(at_ + 1, end - at_ - 1));
    const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    int line = 0;
    if (digits > 0 && absl::SimpleAtoi(rest.substr(0, digits), &line)) {
      const size_t open = rest.find('"');
      const size_t close = rest.rfind('"');
      if (open != absl::string_view::npos && close > open) {
        const absl::string_view file = rest.substr(open + 1, close - open - 1);
        const auto found = std::find(result_.files.begin(), result_.files.end(), file);
        file_ = static_cast<int>(found - result_.files.begin());
        if (found == result_.files.end()) result_.files.emplace_back(file);
        if (absl::StrContains(rest.substr(close), " 3")) result_.of_the_system.insert(file_);
      }
      line_ = line - 1;  // The newline behind the marker counts.
    }
    at_ = end;
  }

  void Push(TokenKind kind, size_t length) {
    result_.tokens.push_back({kind, text_.substr(at_, length), line_, file_});
    SkipTo(at_ + length);
  }

  void Next() {
    const absl::string_view rest = text_.substr(at_);
    if (IsWordStart(rest[0])) {
      size_t length = 1;
      while (length < rest.size() && IsWordPart(rest[length])) ++length;
      if (length < rest.size() && (rest[length] == '"' || rest[length] == '\'') && length <= 3) {
        const absl::string_view prefix = rest.substr(0, length);
        if (rest[length] == '"' && prefix.back() == 'R') {
          return Push(TokenKind::kLiteral, RawLength(rest, length));
        }
        if (prefix == "L" || prefix == "u" || prefix == "U" || prefix == "u8") {
          return Push(TokenKind::kLiteral, QuotedLength(rest, length));
        }
      }
      Push(TokenKind::kWord, length);
    } else if (std::isdigit(static_cast<unsigned char>(rest[0])) ||
               (rest[0] == '.' && rest.size() > 1 &&
                std::isdigit(static_cast<unsigned char>(rest[1])))) {
      Push(TokenKind::kLiteral, NumberLength(rest));
    } else if (rest[0] == '"' || rest[0] == '\'') {
      Push(TokenKind::kLiteral, QuotedLength(rest, 0));
    } else if (const size_t open = AnglesLength(rest, '<');
               open == 3 || (open > 3 && !Operator())) {
      Push(TokenKind::kLaunchOpen, open);
      in_launch_ = true;
    } else if (const size_t close = AnglesLength(rest, '>');
               close == 3 || (close > 3 && in_launch_)) {
      Push(TokenKind::kLaunchClose, close);
      in_launch_ = false;
    } else {
      const bool two = absl::StartsWith(rest, "::") || absl::StartsWith(rest, "->");
      Push(TokenKind::kPunctuation, two ? 2 : 1);
    }
  }

  // Returns the length of three angle brackets with or without blanks between them, which nvcc
  // takes for a launch as well (`f << <1, 2 >> > ()`), or 0. Between ordinary tokens they mean
  // something else only behind `operator`, and where template argument lists end.
  static size_t AnglesLength(absl::string_view rest, char angle) {
    size_t i = 0;
    for (int found = 0; found < 3; ++found, ++i) {
      while (found > 0 && i < rest.size() && rest[i] == ' ') ++i;
      if (i == rest.size() || rest[i] != angle) return 0;
    }
    return i;
  }

  bool Operator() const {
    return !result_.tokens.empty() && result_.tokens.back().text == "operator";
  }

  static size_t NumberLength(absl::string_view rest) {
    size_t i = 1;
    for (; i < rest.size(); ++i) {
      const char c = rest[i];
      const char last = absl::ascii_tolower(rest[i - 1]);
      if ((c == '+' || c == '-') && (last == 'e' || last == 'p') && rest[0] != '0') continue;
      if ((c == '+' || c == '-') && rest[0] == '0') {
        const bool hex = rest.size() > 1 && absl::ascii_tolower(rest[1]) == 'x';
        if (last == 'p' || (last == 'e' && !hex)) continue;
      }
      if (c == '\'' && i + 1 < rest.size() && IsWordPart(rest[i + 1])) continue;
      if (c != '.' && !IsWordPart(c)) break;
    }
    return i;
  }

  static size_t QuotedLength(absl::string_view rest, size_t open) {
    size_t i = open + 1;
    while (i < rest.size() && rest[i] != rest[open]) i += rest[i] == '\\' ? 2 : 1;
    return std::min(i + 1, rest.size());
  }

  static size_t RawLength(absl::string_view rest, size_t quote) {
    const size_t open = rest.find('(', quote);
    if (open == absl::string_view::npos) return rest.size();
    const std::string close = ")" + std::string(rest.substr(quote + 1, open - quote - 1)) + "\"";
    const size_t end = rest.find(close, open);
    return end == absl::string_view::npos ? rest.size() : end + close.size();
  }

  absl::string_view text_;
  size_t at_ = 0;
  int line_ = 1;
  int file_ = 0;
  bool in_launch_ = false;  // A launch was opened and not closed yet.
  TokenizedText result_;
};

}  // namespace

bool TokenizedText::IsOwn(int file) const {
  return of_the_system.count(file) == 0 &&
         !absl::StrContains(files[file], "/common/executor/run/include") &&
         !absl::StrContains(files[file], "/common/executor/shim/");
}

TokenizedText Tokenize(absl::string_view text) { return Tokenizer(text).Run(); }

}  // namespace stridewise::executor
