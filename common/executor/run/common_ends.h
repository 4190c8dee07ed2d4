// Moves what several branches end with behind them, as nvcc does.
//
// Where all blocks before another one go on there without a condition, and end with the same
// operations, nvcc does these once, in that block: `if (p) b[i] = 2 * a[i]; else b[i] = 3 * a[j];`
// has one load and one store, of an index and a factor that phis choose. So a warp whose lanes part
// loads and stores once, where it would do so twice. nvcc 13.0's PTX of some 1500 kernels of a few
// lines shows when:
// - no phi may choose a pointer: the branches load and store at other elements of the same array;
// - an operation needs one phi at most, but for one that chooses between constants;
// - one operation alone moves only where it needs no phi, or is a store and all else of its blocks
//   could be done for the other ones, too: `if (p) b[i] = a[i]; else b[i] = c[i];` stays two
//   stores. Addresses, and the phis of their indices, do not count. It also moves where both sides
//   begin with the same load, which is then done before the branch: `if (p) b[i] = a[i] + c[j];
//   else b[i] = a[i];` is one store; and where an address before the branch has the same index:
//   `if (d[i] < 0) b[i] = a[i]; else b[i] = c[i];`;
// - of three and more blocks, as of `if (p) b[i] = x; else if (q) b[i] = y; else b[i] = z;`, none
//   moves where y and z are known before the branch and differ, or where y is zero and z is not;
// - a store of zero in the else of two blocks stays, with what is before it: `if (p) s[i] = a[i];
// else
//   s[i] = 0;`, but for one that chooses between what was known before the branch;
// - nothing moves where the else has loops or branches of its own. Those of the other side do not
//   matter. All that is so before loops are unrolled, so that a loop of known length is one, too.
// LLVM's simplifycfg<sink-common-insts> and mldst-motion move such stores, and choose between
// pointers.

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
