// What the blocks before one have in common at their ends, and moving it.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_COMMON_ROWS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_COMMON_ROWS_H_

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "common/executor/run/ir_blocks.h"
#include "common/executor/run/ir_operation.h"
#include "common/executor/run/ir_text.h"

namespace stridewise::executor {

// A row for each operation that moves, from the last one on, with one of each block.
class CommonRows {
 public:
  // The function and its blocks must outlive this.
  CommonRows(const std::vector<std::string>& function, const std::map<std::string, IrBlock>& blocks,
             const std::string& join);

  // Returns the function with the rows at the beginning of the block `join`. New names have numbers
  // from `*number` on.
  std::vector<std::string> Moved(int* number) const;

 protected:
  bool IsPhi(size_t line) const { return absl::StartsWith(Operation(function_[line]), "phi "); }

  // Whether operand `j` of a row needs no phi: the same everywhere, or what moves, too.
  bool NeedsNone(const std::vector<IrOperation>& row, size_t j) const;

  // The phis that the rows need: the type, and the value of each block.
  std::set<std::vector<std::string>> Phis(bool of_addresses) const;

  const std::vector<std::string>& function_;
  const IrBlock& join_;
  const std::vector<std::string>& before_;
  std::vector<size_t> ends_, firsts_;  // Of the blocks before.
  std::vector<std::vector<IrOperation>> rows_;
  std::vector<std::vector<size_t>> lines_;  // Of these.

 private:
  std::vector<std::string> Assembled(std::vector<std::string> moved, size_t phi_count,
                                     const std::map<std::string, std::string>& names) const;
};

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_COMMON_ROWS_H_
