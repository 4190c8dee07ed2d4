// Which operands each PTX instruction needs.

#ifndef STRIDEWISE_COMMON_EXECUTOR_PTX_OPERAND_RULES_H_
#define STRIDEWISE_COMMON_EXECUTOR_PTX_OPERAND_RULES_H_

#include "common/executor/ptx/program.h"

namespace stridewise::executor {

// Returns whether the instruction has the operands that its opcode needs, without a cache policy.
bool HasItsOperands(const PtxInstruction& instruction);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_PTX_OPERAND_RULES_H_
