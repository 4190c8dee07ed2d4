// Measures permutations of dimensions beside a copy of the same bytes, into a CSV.
//
//   bazel run //benchmarks:permute_sweep
//   bazel run //benchmarks:permute_sweep -- --preset=random --seed=7 --csv=random.csv
//   bazel run //benchmarks:permute_sweep -- --shapes=98304x64 --permutations=48x2048x64:102

#include "benchmarks/harness/sweep_main.h"
#include "benchmarks/permute/operation.h"

int main(int argc, char** argv) {
  return stridewise::SweepMain(argc, argv, stridewise::PermuteOperation());
}
