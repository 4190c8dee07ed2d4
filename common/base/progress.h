// Shows in one line on a terminal what runs now, how much is done and how much time is left:
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
  // Begins `total` items and the elapsed time. Prints nothing unless `enabled`, which says that
  // `out`, usually standard error, is a terminal. `out` and `clock` must outlive this object.
  Progress(int total, bool enabled, std::ostream* out, const Clock* clock);

  // Erases the line.
  ~Progress();

  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Adds items to those of the constructor.
  void Expect(int more) { total_ += more; }

  // Ends the previous item and begins the next. The time left is estimated as the average time of
  // the items done so far times the number of those left.
  void Start(absl::string_view what);

  // Counts an item that needs no work (its row is in the file already) as done, without counting it
  // in the average.
  void Skip();

  // Erases the line until the next Start().
  void Clear();

 private:
  int total_;
  bool enabled_;
  std::ostream* out_;
  const Clock* clock_;
  double start_;
  int begun_ = 0;
  int skipped_ = 0;
  size_t line_length_ = 0;  // Of the line that is on the terminal now.
};

}  // namespace stridewise

#endif  // STRIDEWISE_COMMON_BASE_PROGRESS_H_
