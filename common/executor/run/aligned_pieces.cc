#include "common/executor/run/aligned_pieces.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "common/executor/run/ir_operation.h"
#include "common/executor/run/ir_text.h"

namespace stridewise::executor {
namespace {

using Lines = std::vector<std::string>;

constexpr int kWidest = 16;
constexpr int kLargestCopy = 256;  // Larger ones are loops on a GPU.

// Of types whose values are loaded and stored; 0 of others.
int BytesOf(absl::string_view type) {
  if (absl::EndsWith(type, "*") || type == "i64" || type == "double") return 8;
  if (type == "i32" || type == "float") return 4;
  if (type == "i16" || type == "half" || type == "bfloat") return 2;
  if (type == "i8") return 1;
  int count = 0;
  const std::vector<std::string> parts = absl::StrSplit(type, " x ");
  if (parts.size() != 2 || !absl::StartsWith(type, "<") ||
      !absl::SimpleAtoi(parts[0].substr(1), &count)) {
    return 0;
  }
  return count * BytesOf(absl::string_view(parts[1]).substr(0, parts[1].size() - 1));
}

int NumberBehind(absl::string_view text, absl::string_view word) {
  const size_t at = text.find(word);
  int number = 0;
  if (at == absl::string_view::npos) return 0;
  absl::string_view digits = text.substr(at + word.size());
  digits = digits.substr(0, digits.find_first_not_of("0123456789"));
  return absl::SimpleAtoi(digits, &number) ? number : 0;
}

// The lines that take one access apart.
class Pieces {
 public:
  Pieces(const IrOperation& operation, const std::string& name)
      : operation_(operation), name_(name) {
    const IrOperand& pointer = operation.operands.back();
    type_ = pointer.type.substr(0, pointer.type.size() - 1);
    bytes_ = BytesOf(type_);
    align_ = NumberBehind(operation.texts.back(), ", align ");
    count_ = align_ > 0 ? bytes_ / align_ : 0;
    piece_ = absl::StrCat("i", 8 * align_);
    whole_ = absl::StrCat("i", 8 * bytes_);
  }

  bool Needed() const { return count_ > 1 && bytes_ <= kWidest; }

  Lines Load() {
    Begin();
    std::string sum;
    for (int i = 0; i < count_; ++i) {
      const std::string part = Address(i);
      Add(part, ".v = load ", piece_, ", ", piece_, "* ", part, ", align ", align_,
          operation_.metadata);
      Add(part, ".w = zext ", piece_, " ", part, ".v to ", whole_);
      Add(part, ".s = shl ", whole_, " ", part, ".w, ", 8 * align_ * i);
      if (i > 0) Add(part, ".o = or ", whole_, " ", sum, ", ", part, ".s");
      sum = absl::StrCat(part, i > 0 ? ".o" : ".s");
    }
    const bool is_pointer = absl::EndsWith(type_, "*");
    Add(operation_.result,
        type_ == whole_ ? " = add "
        : is_pointer    ? " = inttoptr "
                        : " = bitcast ",
        whole_, " ", sum, type_ == whole_ ? ", 0" : absl::StrCat(" to ", type_));
    return std::move(lines_);
  }

  Lines Store() {
    Begin();
    const std::string& value = operation_.operands[0].value;
    const bool is_pointer = absl::EndsWith(type_, "*");
    Add(name_, ".b = ",
        type_ == whole_ ? "add "
        : is_pointer    ? "ptrtoint "
                        : "bitcast ",
        type_, " ", value, type_ == whole_ ? ", 0" : absl::StrCat(" to ", whole_));
    for (int i = 0; i < count_; ++i) {
      const std::string part = Address(i);
      Add(part, ".s = lshr ", whole_, " ", name_, ".b, ", 8 * align_ * i);
      Add(part, ".v = trunc ", whole_, " ", part, ".s to ", piece_);
      Add("store ", piece_, " ", part, ".v, ", piece_, "* ", part, ", align ", align_,
          operation_.metadata);
    }
    return std::move(lines_);
  }

 private:
  template <class... Parts>
  void Add(const Parts&... parts) {
    lines_.push_back(absl::StrCat("  ", parts...));
  }

  void Begin() {
    const IrOperand& pointer = operation_.operands.back();
    Add(name_, ".p = bitcast ", pointer.type, " ", pointer.value, " to ", piece_, "*");
  }

  std::string Address(int i) {
    const std::string part = absl::StrCat(name_, ".", i);
    Add(part, " = getelementptr ", piece_, ", ", piece_, "* ", name_, ".p, i64 ", i);
    return part;
  }

  const IrOperation& operation_;
  std::string name_, type_, piece_, whole_;
  int bytes_ = 0, align_ = 0, count_ = 0;
  Lines lines_;
};

// Of a call of memcpy; empty where it is to stay.
Lines CopyOf(absl::string_view line, const std::string& name) {
  const size_t open = line.find('(');
  const std::vector<std::string> arguments =
      absl::StrSplit(line.substr(open + 1, line.rfind(", i1 false)") - open - 1), ", ");
  int bytes = 0;
  if (!absl::StrContains(line, ", i1 false)") || arguments.size() != 3 ||
      !absl::StartsWith(arguments[2], "i64 ") ||
      !absl::SimpleAtoi(absl::string_view(arguments[2]).substr(4), &bytes) ||
      bytes > kLargestCopy) {
    return {};
  }
  std::string pointers[2];
  int align = kWidest;
  for (int i = 0; i < 2; ++i) {
    const size_t percent = arguments[i].rfind(" %");
    if (percent == std::string::npos) return {};
    pointers[i] = arguments[i].substr(percent + 1);
    align = std::min(align, std::max(1, NumberBehind(arguments[i], " align ")));
  }
  const size_t metadata = line.find(", !");
  const absl::string_view place = metadata == absl::string_view::npos ? "" : line.substr(metadata);
  Lines lines;
  for (int at = 0; at < bytes;) {
    int width = align;
    while (width > bytes - at) width /= 2;
    const std::string type = absl::StrCat("i", 8 * width), part = absl::StrCat(name, ".", at);
    for (int i = 0; i < 2; ++i) {
      const std::string address = absl::StrCat(part, i == 0 ? ".to" : ".from");
      lines.push_back(
          absl::StrCat("  ", address, ".b = getelementptr i8, i8* ", pointers[i], ", i64 ", at));
      lines.push_back(absl::StrCat("  ", address, " = bitcast i8* ", address, ".b to ", type, "*"));
    }
    lines.push_back(absl::StrCat("  ", part, " = load ", type, ", ", type, "* ", part,
                                 ".from, align ", width, place));
    lines.push_back(absl::StrCat("  store ", type, " ", part, ", ", type, "* ", part, ".to, align ",
                                 width, place));
    at += width;
  }
  return lines;
}

Lines Changed(const Lines& function, int* number) {
  Lines result;
  for (const std::string& line : function) {
    const absl::string_view operation = Operation(line);
    const std::string name = absl::StrCat("%simt.piece", *number);
    Lines pieces;
    if (absl::StartsWith(operation, "load ") || absl::StartsWith(operation, "store ")) {
      const IrOperation access = OperationOf(line);
      const bool is_load = access.operands.size() == 1;
      if (!access.operands.empty() && absl::EndsWith(access.operands.back().type, "*") &&
          access.operands.size() == (operation[0] == 'l' ? 1 : 2)) {
        Pieces apart(access, name);
        if (apart.Needed()) pieces = is_load ? apart.Load() : apart.Store();
      }
    } else if (absl::StrContains(line, "@llvm.memcpy.p0i8.p0i8.i64(")) {
      pieces = CopyOf(line, name);
    }
    if (pieces.empty())
      pieces = {line};
    else
      ++*number;
    result.insert(result.end(), pieces.begin(), pieces.end());
  }
  return result;
}

}  // namespace

std::vector<std::string> WithAlignedPieces(std::vector<std::string> lines) {
  int number = 0;
  return WithDeviceFunctions(std::move(lines), [&](std::vector<std::string> function) {
    return Changed(function, &number);
  });
}

}  // namespace stridewise::executor
