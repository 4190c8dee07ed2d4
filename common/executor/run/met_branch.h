// The branch whose two sides meet at a block, as far as nvcc looks at it before it moves what they
// end with.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_MET_BRANCH_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_MET_BRANCH_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/executor/run/ir_blocks.h"
#include "common/executor/run/ir_operation.h"

namespace stridewise::executor {

struct MetBranch {
  // Where the condition is false there is one block, without loops and branches of its own. Where
  // it asks for equality, it does not matter on which side: nvcc asks whether numbers differ.
  bool else_is_one_block = false;
  bool asks_for_equality = false;
};

// Returns the branch of which the two blocks `before` are the ends.
MetBranch BranchBefore(const std::vector<std::string>& function,
                       const std::map<std::string, IrBlock>& blocks,
                       const std::vector<std::string>& before);

bool IsZero(absl::string_view value);

// Whether operand `j` is zero in the last of the blocks, which begin at these lines: in the
// source's else.
bool ElseIsZero(const std::vector<IrOperation>& row, size_t j, const std::vector<size_t>& firsts);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_MET_BRANCH_H_
