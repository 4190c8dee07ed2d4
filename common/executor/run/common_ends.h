// Moves what several branches end with behind them, as nvcc does.
//
// Where all blocks before another one go on there without a condition, and end with the same
// operations, nvcc does these once, in that block: `if (p) b[i] = 2 * a[i]; else b[i] = 3 * a[j];`
// has one load and one store, of an index and a factor that phis choose. So a warp whose lanes part
// loads and stores once, where it would do so twice. nvcc 13.0's PTX of some eighty kernels of a
// few lines shows when:
// - no phi may choose a pointer: the branches load and store at other elements of the same array;
// - one operation alone moves only where it needs no phi: `if (p) b[i] = a[i]; else b[i] = 0;`
// stays
//   two stores. Addresses, and the phis of their indices, do not count.
// LLVM's simplifycfg<sink-common-insts> moves that store too, and chooses between pointers.

#ifndef STRIDEWISE_COMMON_EXECUTOR_RUN_COMMON_ENDS_H_
#define STRIDEWISE_COMMON_EXECUTOR_RUN_COMMON_ENDS_H_

#include <string>
#include <vector>

namespace stridewise::executor {

// Takes and returns the lines of LLVM's text form of a module. Changed are the functions of device
// code, whose numbered values get names where something moves.
std::vector<std::string> WithCommonEndsMoved(std::vector<std::string> lines);

}  // namespace stridewise::executor

#endif  // STRIDEWISE_COMMON_EXECUTOR_RUN_COMMON_ENDS_H_
