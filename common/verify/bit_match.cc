#include "common/verify/bit_match.h"

#include <cstring>
#include <iterator>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace stridewise {
namespace {

// CUDA's hosts are little-endian: the last byte is the most significant one.
std::string Hex(const unsigned char* element, int64_t bytes) {
  const std::string big_endian(std::reverse_iterator(element + bytes),
                               std::reverse_iterator(element));
  return absl::StrCat("0x", absl::BytesToHexString(big_endian));
}

}  // namespace

BitMatch MatchBytes(ConstMatrix<unsigned char> got, ConstMatrix<unsigned char> want,
                    int64_t element_bytes, int64_t max_listed) {
  BitMatch match;
  if (got.cols == 0) return match;  // An empty row may be a null pointer, which memcmp forbids.
  for (int64_t row = 0; row < got.rows; ++row) {
    const unsigned char* got_row = got.data + row * got.ld;
    const unsigned char* want_row = want.data + row * want.ld;
    if (std::memcmp(got_row, want_row, got.cols) == 0) continue;
    for (int64_t byte = 0; byte < got.cols; byte += element_bytes) {
      if (std::memcmp(got_row + byte, want_row + byte, element_bytes) == 0) continue;
      ++match.mismatches;
      if (static_cast<int64_t>(match.first.size()) < max_listed) {
        match.first.push_back({row, byte / element_bytes, Hex(got_row + byte, element_bytes),
                               Hex(want_row + byte, element_bytes)});
      }
    }
  }
  return match;
}

std::string BitMatch::Describe() const {
  if (ok()) return "all bits match";
  std::string text = absl::StrCat(mismatches, mismatches == 1 ? " mismatch" : " mismatches");
  absl::string_view separator = ": ";
  for (const BitMismatch& m : first) {
    absl::StrAppend(&text, separator, "(", m.row, ", ", m.col, ") is ", m.got, ", not ", m.want);
    separator = "; ";
  }
  if (mismatches > static_cast<int64_t>(first.size()) && !first.empty()) {
    absl::StrAppend(&text, "; ...");
  }
  return text;
}

}  // namespace stridewise
