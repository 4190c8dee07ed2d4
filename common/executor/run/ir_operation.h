// One instruction of LLVM's text form, taken apart into what it does and what it does it with.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_IR_OPERATION_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_IR_OPERATION_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace stridewise::executor {

struct IrOperand {
  std::string type, value;
  bool must_agree = false;  // Instructions with other values here do not do the same.
};

struct IrOperation {
  std::string result;              // The name that it defines, or "".
  std::vector<std::string> texts;  // Around the operands: one more than these.
  std::vector<IrOperand> operands;
  std::string metadata;  // ", !dbg !7", or "".

  bool known() const { return !texts.empty(); }
  bool IsAddress() const { return known() && texts[0].compare(0, 14, "getelementptr ") == 0; }
  bool IsLoad() const {  // And not volatile.
    return known() && texts[0].compare(0, 5, "load ") == 0 &&
           texts[0].compare(0, 14, "load volatile ") != 0;
  }
  bool IsStore() const { return known() && texts[0].compare(0, 6, "store ") == 0; }
  bool IsOfFloats() const { return known() && texts[0][0] == 'f'; }
  bool IsIndex() const;  // Of 64 bits, of one of 32.
  // Neither accesses memory nor can fail.
  bool IsPure() const;
};

// Returns the instruction of a line; not known() is what may not move or what is not taken apart,
// such as calls with side effects but for atomic operations, and constant expressions.
IrOperation OperationOf(absl::string_view line);

// Returns whether two do the same with operands of the same types. Promises such as nsw, which
// differ, are no difference.
bool DoTheSame(const IrOperation& a, const IrOperation& b);

// Returns the line of the operation `like`, with this result and these values, without promises.
std::string LineOf(const IrOperation& like, absl::string_view result,
                   const std::vector<std::string>& values);

// Returns what an operation does and with what, without its result.
std::string KeyOf(IrOperation operation);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_IR_OPERATION_H_
