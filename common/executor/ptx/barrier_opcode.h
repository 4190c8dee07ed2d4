// The names of PTX's barriers: bar, barrier.cluster, mbarrier, and elect.

#ifndef STRIDEWISE_COMMON_EXECUTOR_PTX_BARRIER_OPCODE_H_
#define STRIDEWISE_COMMON_EXECUTOR_PTX_BARRIER_OPCODE_H_

#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/executor/ptx/opcode.h"

namespace stridewise::executor {

// Takes the parts of a name, without those that are hints. Returns nothing for what is no barrier,
// or a form of one that the executor does not run.
std::optional<PtxOpcode> FindBarrierOpcode(const std::vector<absl::string_view>& names);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_PTX_BARRIER_OPCODE_H_
