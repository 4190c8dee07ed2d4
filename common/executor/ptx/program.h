// The text of an inline PTX statement, `asm("text" : outputs : inputs)`, as the host executor runs
// it.

#ifndef STRIDEWISE_COMMON_EXECUTOR_PTX_PROGRAM_H_
#define STRIDEWISE_COMMON_EXECUTOR_PTX_PROGRAM_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "common/executor/ptx/opcode.h"

namespace stridewise::executor {

// Registers that the hardware sets.
enum class PtxSpecial : uint8_t {
  kLaneId,
  kClusterRank,  // %cluster_ctarank
  kClusterBlocks,
  kRankX,  // %cluster_ctaid
  kRankY,
  kRankZ,
  kBlocksX,  // %cluster_nctaid
  kBlocksY,
  kBlocksZ,
  kClusterX,  // %clusterid
  kClusterY,
  kClusterZ,
  kClustersX,  // %nclusterid
  kClustersY,
  kClustersZ,
};

// What an instruction reads or writes.
struct PtxValue {
  enum class Kind : uint8_t {
    kArgument,   // %0, %1, ...: an operand of the statement.
    kRegister,   // One that the text declares.
    kImmediate,  // A number.
    kSpecial,    // A PtxSpecial.
    kSink,       // _: what is written is dropped.
  };
  Kind kind = Kind::kImmediate;
  // The number of the argument or register, or the immediate itself.
  uint64_t bits = 0;
};

// One value; those of {a, b, c}; or an address, [a + offset].
struct PtxOperand {
  std::vector<PtxValue> values;
  bool is_address = false;
  int64_t offset = 0;
};

struct PtxInstruction {
  std::string name;
  PtxOpcode opcode = {};
  int guard = -1;              // The register of its predicate, @p; -1: none.
  bool guard_negated = false;  // @!p
  std::vector<PtxOperand> operands;
  int target = 0;  // Of a branch: an index of PtxProgram::instructions.
};

inline constexpr int kMaxPtxRegisters = 32;  // That a statement may declare.

struct PtxProgram {
  std::vector<PtxInstruction> instructions;
  int registers = 0;
  int arguments = 0;  // One more than the last argument that is used.
  // What the executor does not run, in words: an unknown instruction, or text that is none. Empty
  // where it runs everything.
  std::string unknown;
};

PtxProgram ParsePtx(absl::string_view text);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_PTX_PROGRAM_H_
