// Measures transposes and copies over shapes, thread blocks and types, into a CSV.
//
//   bazel run //benchmarks:transpose_sweep
//   bazel run //benchmarks:transpose_sweep -- --preset=thin_blocks --csv=thin_blocks.csv
//   bazel run //benchmarks:transpose_sweep -- --shapes=3x4194304 --types=u8,float4
//   bazel run //benchmarks:transpose_sweep -- --shapes=64x64 --batch=4096
//   bazel run //benchmarks:transpose_sweep -- --gpus=2x2 --sizes=32768
//   bazel run //benchmarks:transpose_sweep -- --preset=limits --limits_csv=limits.csv

#include "benchmarks/distributed/grid_devices.h"
#include "benchmarks/distributed/grid_sweeps.h"
#include "benchmarks/harness/sweep_main.h"
#include "benchmarks/transpose/operation.h"

int main(int argc, char** argv) {
  const stridewise::GridSweep on_gpus(stridewise::GridSweep::Of::kTransposes,
                                      stridewise::GpusOfThisMachine());
  stridewise::SweepProgram program;
  program.on_gpus = &on_gpus;
  return stridewise::SweepMain(argc, argv, stridewise::TransposeOperations(), program);
}
