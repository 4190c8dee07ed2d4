#include "benchmarks/harness/sweep_flags.h"

#include "absl/flags/flag.h"
#include "common/base/flag_parsing.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"
#include "common/gpu/counters.h"
#include "common/measure/host_counters.h"

ABSL_FLAG(
    std::string, csv, "",
    "File for the results, or - for standard output. A relative path starts where the program "
    "is called. Default: the program's name with .csv. A file that is there is kept as .bak.");
ABSL_FLAG(bool, resume, false,
          "Keep the rows that the file already has and measure only what is missing.");
ABSL_FLAG(
    bool, list, false,
    "List what can be measured, and stop. Of the sweeps with --preset, --sizes or --shapes: list "
    "the configurations that they select, as flags.");
ABSL_FLAG(int, device, 0, "Number of the GPU to use.");
ABSL_FLAG(std::string, l2, "cold",
          "cold: each sample finds an L2 cache full of other data. hot: it finds what the sample "
          "before it left.");
ABSL_FLAG(std::string, host_memory, "pageable",
          "pageable or pinned: where copies to and from the device start and end.");
ABSL_FLAG(double, max_noise, 0.01,
          "Sample until the 95 % confidence interval of the median is within this fraction of it "
          "on either side. 0 to 1.");
ABSL_FLAG(double, max_seconds, 0.5, "The most seconds of samples for a row.");
ABSL_FLAG(double, max_row_seconds, 300,
          "Give a host row up (status timeout) when the one before it says that a single run would "
          "take longer.");
ABSL_FLAG(uint64_t, seed, 1, "Seed of the inputs and of random shapes.");
ABSL_FLAG(std::string, verify, "full",
          "full: every element; a product's against an FP64 reference, where that is affordable, "
          "else as fast. fast: sampled elements, and random projections or a sum. off: nothing.");
ABSL_FLAG(std::string, memory_behaviour, "auto",
          "Run kernels on the host executor too, which counts "
          "what they do to memory. auto: where that takes about a second at most (2^25 accesses). "
          "always: whatever it takes. never: leave those columns empty.");

ABSL_FLAG(
    std::string, counters, "",
    "Hardware counters for the column `counters`, a list "
    "of Nsight Compute's names such as dram__bytes_read.sum for kernels, and of cpu.cycles, "
    "cpu.llc_misses, cpu.page_faults and others for the host. What is counted is run once more for "
    "each pass that they need, outside of all timing.");
ABSL_FLAG(
    int, threads, 0,
    "Threads of host implementations that use all cores. Default: OMP_NUM_THREADS or, without "
    "it, the processors that the program may run on.");

namespace stridewise {
namespace {

absl::StatusOr<HostMemory> ParseHostMemory(absl::string_view flag, absl::string_view text) {
  if (text == "pageable") return HostMemory::kPageable;
  if (text == "pinned") return HostMemory::kPinned;
  return RefuseValue(flag, text, "pageable or pinned");
}

absl::StatusOr<MemoryBehaviour> ParseMemoryBehaviour(absl::string_view flag,
                                                     absl::string_view text) {
  if (text == "auto") return MemoryBehaviour::kAuto;
  if (text == "always") return MemoryBehaviour::kAlways;
  if (text == "never") return MemoryBehaviour::kNever;
  return RefuseValue(flag, text, "auto, always or never");
}

}  // namespace

absl::StatusOr<SweepOptions> SweepOptionsFromFlags(absl::string_view default_csv) {
  SweepOptions options;
  const std::string csv = absl::GetFlag(FLAGS_csv);
  options.csv = ResolvePath(csv.empty() ? default_csv : absl::string_view(csv));
  options.resume = absl::GetFlag(FLAGS_resume);
  options.list = absl::GetFlag(FLAGS_list);
  options.device = absl::GetFlag(FLAGS_device);
  options.seed = absl::GetFlag(FLAGS_seed);
  options.max_row_seconds = absl::GetFlag(FLAGS_max_row_seconds);
  options.sampling.max_noise = absl::GetFlag(FLAGS_max_noise);
  options.sampling.max_seconds = absl::GetFlag(FLAGS_max_seconds);
  RETURN_IF_ERROR(CheckRange("--device", options.device, 0, 1023));
  RETURN_IF_ERROR(CheckRange("--max_noise", options.sampling.max_noise, 0, 1));
  RETURN_IF_ERROR(CheckRange("--max_seconds", options.sampling.max_seconds, 0.001, 3600));
  RETURN_IF_ERROR(CheckRange("--max_row_seconds", options.max_row_seconds, 0.001, 1e6));
  ASSIGN_OR_RETURN(options.l2, ParseL2Mode("--l2", absl::GetFlag(FLAGS_l2)));
  ASSIGN_OR_RETURN(options.verify, ParseVerifyMode("--verify", absl::GetFlag(FLAGS_verify)));
  ASSIGN_OR_RETURN(options.host_memory,
                   ParseHostMemory("--host_memory", absl::GetFlag(FLAGS_host_memory)));
  ASSIGN_OR_RETURN(
      options.memory_behaviour,
      ParseMemoryBehaviour("--memory_behaviour", absl::GetFlag(FLAGS_memory_behaviour)));
  ASSIGN_OR_RETURN(const std::vector<std::string> counters,
                   ParseCounterNames("--counters", absl::GetFlag(FLAGS_counters)));
  for (const std::string& name : counters) {
    (IsHostCounter(name) ? options.host_counters : options.counters).push_back(name);
  }
  options.threads = absl::GetFlag(FLAGS_threads);
  RETURN_IF_ERROR(CheckRange("--threads", options.threads, 0, 4096));
  return options;
}

}  // namespace stridewise
