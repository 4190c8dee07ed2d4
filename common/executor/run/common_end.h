// What the blocks before one end with in common, and moving it there.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_COMMON_END_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_COMMON_END_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/executor/run/ir_blocks.h"

namespace stridewise::executor {

// Moves what all blocks before the block `join` end with to its beginning, if that is to move
// (common_ends.h says when). `blocks` are those of the function, `alike` those of which a load was
// hoisted that another one had as well. Returns whether it moved; new names have numbers from
// `*number` on.
bool MoveCommonEnd(const std::map<std::string, IrBlock>& blocks, const std::string& join,
                   const std::set<std::string>& alike, std::vector<std::string>* function,
                   int* number);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_COMMON_END_H_
