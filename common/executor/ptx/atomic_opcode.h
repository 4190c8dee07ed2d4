// The names of PTX's atomic operations: atom and red.

#ifndef STRIDEWISE_COMMON_EXECUTOR_PTX_ATOMIC_OPCODE_H_
#define STRIDEWISE_COMMON_EXECUTOR_PTX_ATOMIC_OPCODE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/executor/ptx/opcode.h"

namespace stridewise::executor {

// Takes the parts of a name, without those that are hints. Returns nothing for what is no atomic
// operation, or a form of one that the executor does not run: those that order other accesses
// (.acquire and its kin), vectors, and pairs of 16-bit numbers.
std::optional<PtxOpcode> FindAtomicOpcode(const std::vector<absl::string_view>& names);

// Returns what the operation leaves of `old` in memory. `swap` is what cas stores where the two
// others are equal.
uint64_t AtomicResult(const PtxOpcode& opcode, uint64_t old, uint64_t value, uint64_t swap);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_PTX_ATOMIC_OPCODE_H_
