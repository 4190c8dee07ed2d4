// Measures what this machine's memory can do: device-to-device copies, the bound of every
// transpose, and a check of the harness on any new machine.
//
//   bazel run //benchmarks:ceilings
//
// copy_vector copies with 16-byte accesses, memcpy is the driver's own. pct_of_copy is paired: the
// row's copy and a copy_vector of the same bytes are sampled in turn.

#include "benchmarks/harness/sweep_main.h"
#include "benchmarks/transpose/operation.h"

int main(int argc, char** argv) {
  return stridewise::SweepMain(argc, argv, stridewise::TransposeOperations(),
                               {/*name=*/"ceilings", /*preset=*/"bounds", "memcpy,copy_vector"});
}
