// The blocks of a function in LLVM's text form, and names for what has numbers.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_IR_BLOCKS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_IR_BLOCKS_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace stridewise::executor {

// Returns the lines of a function with names in place of numbers, %v7 for %7, and a label before
// its first block. Numbered values are numbered in their order, so that none of them may move.
std::vector<std::string> WithNames(std::vector<std::string> function);

struct IrBlock {
  size_t first = 0, last = 0;       // Its lines between the label and the branch, and the branch.
  std::vector<std::string> before;  // The blocks that go on here,
  bool always = true;               // all of them without a condition.
};

// Returns the blocks by their labels, of a function all of whose blocks have one.
std::map<std::string, IrBlock> BlocksOf(const std::vector<std::string>& function);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_IR_BLOCKS_H_
