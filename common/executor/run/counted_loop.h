// Loops of one block whose iterations can be counted before they run, in LLVM's text form.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_COUNTED_LOOP_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_COUNTED_LOOP_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace stridewise::executor {

// A value that an iteration takes over from the one before.
struct Phi {
  std::string name, type;
  std::string first, next;  // From before the loop, and from its last iteration.
};

// for (counter = first; ...; counter += step), where the counter's next value is compared with a
// bound that stays.
struct CountedLoop {
  size_t begin = 0, end = 0;  // The lines behind the label, up to the branch.
  std::string label, exit;
  std::string before;  // The block that the loop is entered from.
  std::vector<Phi> phis;
  std::string counter, next, bound, type;
  std::string predicate;  // Of `next` and `bound`, where the loop goes on.
  int64_t step = 0;
};

// Fills in a loop of which `begin`, `end` and `label` are known. Returns whether the lines are such
// a loop: it needs one block before it, one behind it, and a step that is a constant and fits the
// comparison.
bool ParseCountedLoop(const std::vector<std::string>& lines, CountedLoop* loop);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_COUNTED_LOOP_H_
