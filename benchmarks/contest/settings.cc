#include "benchmarks/contest/settings.h"

#include <algorithm>

#include "absl/flags/flag.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "benchmarks/harness/interrupt.h"
#include "benchmarks/operations.h"
#include "common/base/flag_parsing.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"
#include "common/base/sweep_args.h"

ABSL_FLAG(std::string, operation, "matmul", "matmul, transpose or permute");
ABSL_FLAG(std::string, implementations, "auto,cublas", "Comma list of entries that take turns.");
ABSL_FLAG(std::string, peer, "cublas", "The one of them that ratios compare with.");
ABSL_FLAG(std::string, shapes, "8192x8192x8192", "Comma list of extents, as in the sweeps.");
ABSL_FLAG(std::string, type, "bf16", "The element type, as in the sweeps.");
ABSL_FLAG(double, seconds, 10, "How long each of them runs for each shape. 0.1 to 3600.");
ABSL_FLAG(double, slice_seconds, 2,
          "How long a turn is; a GPU's energy counter moves every 20 to 100 ms. 0.1 to 3600.");
ABSL_FLAG(uint64_t, seed, 1, "Of the operands.");
ABSL_FLAG(std::string, csv, "",
          "Also write the table to this file, or to standard output for -. One that is there is "
          "kept as .bak.");

namespace stridewise {
namespace {

absl::StatusOr<double> ReadSeconds(absl::string_view flag, double value) {
  RETURN_IF_ERROR(CheckRange(flag, value, 0.1, 3600));
  return value;
}

}  // namespace

absl::StatusOr<SustainedSettings> ReadSustainedFlags() {
  SustainedSettings settings;
  ASSIGN_OR_RETURN(settings.operation, FindOperation(absl::GetFlag(FLAGS_operation)));
  const Operation& operation = *settings.operation;
  const std::string peer = absl::GetFlag(FLAGS_peer);
  const std::string names = absl::GetFlag(FLAGS_implementations);
  settings.peer = std::string::npos;
  for (const absl::string_view name : absl::StrSplit(names, ',')) {
    const Implementation* const found = operation.Find(name);
    if (found == nullptr || !found->operands_on_device()) {
      return RefuseValue("--implementations", name,
                         absl::StrCat("the device entries of ", operation.name(), "_sweep --list"));
    }
    if (name == peer) settings.peer = settings.implementations.size();
    settings.implementations.push_back(found);
  }
  if (settings.peer == std::string::npos)
    return RefuseValue("--peer", peer, "one of --implementations");
  ASSIGN_OR_RETURN(settings.shapes, ParseExtents("--shapes", absl::GetFlag(FLAGS_shapes),
                                                 operation.extent_columns().size()));
  settings.type = absl::GetFlag(FLAGS_type);
  if (std::count(operation.types().begin(), operation.types().end(), settings.type) == 0) {
    return RefuseValue("--type", settings.type, absl::StrJoin(operation.types(), ", "));
  }
  ASSIGN_OR_RETURN(settings.options.seconds,
                   ReadSeconds("--seconds", absl::GetFlag(FLAGS_seconds)));
  ASSIGN_OR_RETURN(settings.options.slice_seconds,
                   ReadSeconds("--slice_seconds", absl::GetFlag(FLAGS_slice_seconds)));
  settings.seed = absl::GetFlag(FLAGS_seed);
  settings.csv = ResolvePath(absl::GetFlag(FLAGS_csv));
  settings.options.interrupted = Interrupted;
  return settings;
}

}  // namespace stridewise
