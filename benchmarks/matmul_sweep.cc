// Measures matrix multiplication over sizes, shapes and forms, into a CSV.
//
//   bazel run //benchmarks:matmul_sweep
//   bazel run //benchmarks:matmul_sweep -- --preset=cublas_vs_eigen --csv=study.csv
//   bazel run //benchmarks:matmul_sweep -- --sizes=1:5001:10 --implementations='eigen*,cublas'
//   bazel run //benchmarks:matmul_sweep -- --sizes=4096 --layouts=nn,tn --pair_with=cublas
//   bazel run //benchmarks:matmul_sweep -- --gpus=2x2 --sizes=32768,65536
//   --precision=fp32,fp32_split bazel run //benchmarks:matmul_sweep -- --preset=limits
//   --limits_csv=limits.csv

#include "benchmarks/distributed/grid_devices.h"
#include "benchmarks/distributed/grid_sweeps.h"
#include "benchmarks/harness/sweep_main.h"
#include "benchmarks/matmul/axes.h"
#include "benchmarks/matmul/operation.h"

int main(int argc, char** argv) {
  const stridewise::GridSweep on_gpus(stridewise::GridSweep::Of::kProducts,
                                      stridewise::GpusOfThisMachine(),
                                      &stridewise::MatMulAxes()[stridewise::kPrecisionAxis]);
  stridewise::SweepProgram program;
  program.on_gpus = &on_gpus;
  return stridewise::SweepMain(argc, argv, stridewise::MatMulOperation(), program);
}
