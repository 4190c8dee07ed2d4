// Measures matrix multiplication over sizes, shapes and forms, into a CSV.
//
//   bazel run //benchmarks:matmul_sweep
//   bazel run //benchmarks:matmul_sweep -- --preset=cublas_vs_eigen --csv=study.csv
//   bazel run //benchmarks:matmul_sweep -- --sizes=1:5001:10 --implementations='eigen*,cublas'
//   bazel run //benchmarks:matmul_sweep -- --sizes=4096 --layouts=nn,tn --beta=0.5
//   --pair_with=cublas bazel run //benchmarks:matmul_sweep -- --preset=limits
//   --limits_csv=limits.csv

#include "benchmarks/harness/sweep_main.h"
#include "benchmarks/matmul/operation.h"

int main(int argc, char** argv) {
  return stridewise::SweepMain(argc, argv, stridewise::MatMulOperation());
}
