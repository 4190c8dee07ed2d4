#include "common/base/progress.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace stridewise {
namespace {

// A line that reaches a terminal's last column would wrap, and could not be rewritten.
constexpr size_t kMaxLine = 79;

std::string Duration(double seconds) {
  const int64_t s = std::llround(seconds);
  if (s < 60) return absl::StrCat(s, " s");
  if (s < 3600) return absl::StrFormat("%d min %02d s", s / 60, s % 60);
  return absl::StrFormat("%d h %02d min", s / 3600, s / 60 % 60);
}

}  // namespace

Progress::Progress(int total, bool enabled, std::ostream* out, const Clock* clock)
    : total_(total), enabled_(enabled), out_(out), clock_(clock), start_(clock->Now()) {}

Progress::~Progress() { Clear(); }

void Progress::Start(absl::string_view what) {
  const double elapsed = clock_->Now() - start_;
  const int done = begun_++;
  if (!enabled_) return;

  const std::string head = absl::StrCat("[", begun_ + skipped_, "/", total_, "] ");
  std::string tail = absl::StrCat(" | ", Duration(elapsed));
  if (done > 0) {
    const int left = std::max(total_ - skipped_ - done, 0);
    absl::StrAppend(&tail, ", about ", Duration(elapsed / done * left), " left");
  }
  const size_t room = kMaxLine - std::min(kMaxLine, head.size() + tail.size());
  const std::string line = absl::StrCat(head, what.substr(0, room), tail);

  // Blanks over what a longer line before it has left.
  *out_ << "\r" << line;
  if (line.size() < line_length_) {
    *out_ << std::string(line_length_ - line.size(), ' ') << "\r" << line;
  }
  out_->flush();
  line_length_ = line.size();
}

void Progress::Skip() { ++skipped_; }

void Progress::Clear() {
  if (line_length_ == 0) return;
  *out_ << "\r" << std::string(line_length_, ' ') << "\r" << std::flush;
  line_length_ = 0;
}

}  // namespace stridewise
