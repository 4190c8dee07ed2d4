// One configuration under NVIDIA's profiler ncu: the half that calls ncu, and the half that ncu
// calls.
//
// The program runs ncu on itself with --run_once. Under ncu it loads all that the configuration
// needs and then has the profiler watch a single run, so that no kernel of the harness is counted;
// whatever that run launches (cuBLAS may launch several kernels) belongs to the configuration.

#ifndef STRIDEWISE_BENCHMARKS_PROFILE_NCU_RUN_H_
#define STRIDEWISE_BENCHMARKS_PROFILE_NCU_RUN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "benchmarks/harness/operation.h"
#include "benchmarks/harness/sweep_flags.h"
#include "benchmarks/profile/ncu_output.h"

namespace stridewise {

// The path of ncu: `named`, the value of --ncu, or where that is empty the first on the PATH, or
// else NVIDIA's usual place. InvalidArgument, naming where it looked, if there is none.
absl::StatusOr<std::string> FindNcu(absl::string_view named);

// Runs ncu on this program and returns the launches of one run of the configuration on random
// data; with a cold L2 ncu empties the caches before. Clocks are left alone. Takes a second or
// more. What ncu does not know of `metrics` on this GPU is removed from them and not measured.
// Errors are those of the configuration under ncu and those of ParseNcuOutput().
absl::StatusOr<std::vector<NcuLaunch>> RunNcu(const std::string& ncu, const Config& config,
                                              const SweepOptions& options,
                                              std::vector<std::string>* metrics);

// What the program does with --run_once: its exit code. REQUIRES: the problem is not empty.
int RunOnceUnderNcu(const Config& config, const SweepOptions& options);

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_PROFILE_NCU_RUN_H_
