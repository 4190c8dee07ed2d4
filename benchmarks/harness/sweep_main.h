// The main() of a sweep: measures an operation's configurations into a CSV.
//
//   int main(int argc, char** argv) {
//     return stridewise::SweepMain(argc, argv, stridewise::MatMulOperation());
//   }

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_SWEEP_MAIN_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_SWEEP_MAIN_H_

#include "benchmarks/harness/operation.h"
#include "benchmarks/harness/sweep_request.h"

namespace stridewise {

// Parses the flags, plans, measures and concludes. Returns the exit code.
int SweepMain(int argc, char** argv, const Operation& operation, const SweepProgram& program = {});

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_SWEEP_MAIN_H_
