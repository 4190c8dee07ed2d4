// Writes the blocks of a loop that ptxas has unrolled by 4, 2 and 1.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_LOOP_COPIES_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_LOOP_COPIES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "common/executor/run/counted_loop.h"

namespace stridewise::executor {

// Replaces the loop among the lines of a function, and returns the last line of what stands there
// now. New names begin with "%simt.loop<number>.". The loop stays as it is where something behind
// it uses a value whose type its line does not say, or more than one branch leads to it.
size_t UnrollByFour(const CountedLoop& loop, int number, std::vector<std::string>* lines);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_LOOP_COPIES_H_
