#include "common/executor/run/odd_vectors.h"

#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace stridewise::executor {
namespace {

int BytesOf(absl::string_view element) {
  if (element == "i8") return 1;
  if (element == "i16" || element == "half" || element == "bfloat") return 2;
  if (element == "i32" || element == "float") return 4;
  return element == "i64" || element == "double" ? 8 : 0;
}

// A load or a store of a vector: "%7 = load <3 x float>, <3 x float>* %5, align 16, !dbg !9".
struct VectorAccess {
  bool load = false;
  absl::string_view result;  // Of a load: %7.
  absl::string_view value;   // That is stored.
  absl::string_view element, pointer, behind;
  int count = 0;
  int alignment = 0;
};

// Returns whether the line is such an access, of a number of elements that is no power of two.
bool ParseOddVector(absl::string_view line, VectorAccess* access) {
  access->load = absl::StrContains(line, " = load <");
  if (!access->load && !absl::StrContains(line, "  store <")) return false;
  const size_t open = line.find('<');
  const size_t close = line.find('>', open);
  const size_t times = line.find(" x ", open);
  if (close == absl::string_view::npos || times > close) return false;
  if (!absl::SimpleAtoi(line.substr(open + 1, times - open - 1), &access->count)) return false;
  access->element = line.substr(times + 3, close - times - 3);
  if ((access->count & (access->count - 1)) == 0 || BytesOf(access->element) == 0) return false;
  const size_t star = line.find("* ", close);
  const size_t align = line.find(", align ", close);
  if (star == absl::string_view::npos || align == absl::string_view::npos) return false;
  access->pointer = line.substr(star + 2, align - star - 2);
  size_t end = align + 8;
  while (end < line.size() && line[end] >= '0' && line[end] <= '9') ++end;
  if (!absl::SimpleAtoi(line.substr(align + 8, end - align - 8), &access->alignment)) return false;
  access->behind = line.substr(end);
  if (access->load) {
    access->result = absl::StripAsciiWhitespace(line.substr(0, line.find(" = ")));
  } else {
    access->value = line.substr(close + 2, line.find(", <", close) - close - 2);
  }
  return true;
}

// Names follow from `number`.
std::string SplitVector(const VectorAccess& a, int number) {
  const std::string whole = absl::StrCat("<", a.count, " x ", a.element, ">");
  const std::string n = absl::StrCat("%simt", number, ".");
  std::string text;
  std::string last = "undef";
  for (int at = 0; at < a.count;) {
    const int bytes = BytesOf(a.element);
    int piece = 4;
    // Every piece is aligned to its size.
    while (at + piece > a.count || (at * bytes) % (piece * bytes) != 0 ||
           a.alignment < piece * bytes) {
      if (piece == 1) break;
      piece /= 2;
    }
    const std::string type =
        piece == 1 ? std::string(a.element) : absl::StrCat("<", piece, " x ", a.element, ">");
    const std::string p = absl::StrCat(n, "p", at), q = absl::StrCat(n, "q", at),
                      v = absl::StrCat(n, "v", at);
    absl::StrAppend(&text, "  ", p, " = getelementptr ", whole, ", ", whole, "* ", a.pointer,
                    ", i64 0, i64 ", at, "\n  ", q, " = bitcast ", a.element, "* ", p, " to ", type,
                    "*\n");
    const std::string rest = absl::StrCat(type, "* ", q, ", align ", piece * bytes, a.behind, "\n");
    if (a.load) absl::StrAppend(&text, "  ", v, " = load ", type, ", ", rest);
    std::string stored = piece == 1 ? v : "undef";
    for (int i = 0; i < piece; ++i) {
      const std::string e = absl::StrCat(n, "e", at + i), w = absl::StrCat(n, "w", at + i);
      if (a.load) {
        const bool is_last = at + i + 1 == a.count;
        const std::string from = piece == 1 ? v : e;
        if (piece > 1) {
          absl::StrAppend(&text, "  ", e, " = extractelement ", type, " ", v, ", i32 ", i, "\n");
        }
        const std::string to = is_last ? std::string(a.result) : w;
        absl::StrAppend(&text, "  ", to, " = insertelement ", whole, " ", last, ", ", a.element,
                        " ", from, ", i32 ", at + i, "\n");
        last = to;
      } else {
        const std::string to = piece == 1 ? v : e;
        absl::StrAppend(&text, "  ", to, " = extractelement ", whole, " ", a.value, ", i32 ",
                        at + i, "\n");
        if (piece == 1) continue;
        absl::StrAppend(&text, "  ", w, " = insertelement ", type, " ", stored, ", ", a.element,
                        " ", e, ", i32 ", i, "\n");
        stored = w;
      }
    }
    if (!a.load) absl::StrAppend(&text, "  store ", type, " ", stored, ", ", rest);
    at += piece;
  }
  text.pop_back();
  return text;
}

}  // namespace

std::string SplitOddVector(absl::string_view line, int* number) {
  VectorAccess access;
  if (!ParseOddVector(line, &access)) return std::string(line);
  return SplitVector(access, (*number)++);
}

}  // namespace stridewise::executor
