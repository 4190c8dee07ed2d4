// The main() of a sweep: measures an operation's configurations into a CSV.
//
//   int main(int argc, char** argv) {
//     return stridewise::SweepMain(argc, argv, stridewise::MatMulOperation());
//   }

#ifndef STRIDEWISE_BENCHMARKS_HARNESS_SWEEP_MAIN_H_
#define STRIDEWISE_BENCHMARKS_HARNESS_SWEEP_MAIN_H_

#include <string>

#include "benchmarks/harness/grid_rows.h"
#include "benchmarks/harness/operation.h"

namespace stridewise {

struct SweepProgram {
  std::string name;                   // Empty for the operation's name and "_sweep".
  std::string preset = "default";     // What is measured when --preset is not given.
  std::string implementations;        // Which, when --implementations is not given; empty for all.
  const GridRows* on_gpus = nullptr;  // What --gpus measures; null where there is no such flag.
};

// Parses the flags, plans, measures and concludes. Returns the exit code.
int SweepMain(int argc, char** argv, const Operation& operation, const SweepProgram& program = {});

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_HARNESS_SWEEP_MAIN_H_
