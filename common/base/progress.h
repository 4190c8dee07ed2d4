// One line on a terminal that says what runs now, how far the work is and how long it may still
// take:
//
//   [12/80] tiled 1024x1024x1024 | 35 s, about 3 min 20 s left
//
// It is rewritten in place; call Clear() before any other output to the same terminal.

#ifndef STRIDEWISE_COMMON_BASE_PROGRESS_H_
#define STRIDEWISE_COMMON_BASE_PROGRESS_H_

#include <cstddef>
#include <ostream>

#include "absl/strings/string_view.h"
#include "common/base/clock.h"

namespace stridewise {

class Progress {
 public:
  // For `total` items. `enabled`: whether `out`, usually standard error, is a terminal; otherwise
  // nothing is ever printed. `out` and `clock` must outlive this object. The elapsed time begins
  // now.
  Progress(int total, bool enabled, std::ostream* out, const Clock* clock);

  // Takes the line away.
  ~Progress();

  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // The next item begins, and the one before it is done. The time left is the average of the items
  // done so far times those that are not done.
  void Start(absl::string_view what);

  // An item needs no work (its row is in the file already). It counts in n of N and not in the
  // average.
  void Skip();

  // Takes the line away; the next Start() brings it back.
  void Clear();

 private:
  int total_;
  bool enabled_;
  std::ostream* out_;
  const Clock* clock_;
  double start_;
  int begun_ = 0;
  int skipped_ = 0;
  size_t line_length_ = 0;  // On the terminal now.
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_PROGRESS_H_
