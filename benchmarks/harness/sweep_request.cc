#include "benchmarks/harness/sweep_request.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/flags/flag.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "benchmarks/harness/limits.h"
#include "benchmarks/harness/listing.h"
#include "benchmarks/harness/plan.h"
#include "benchmarks/harness/plan_flags.h"
#include "common/base/refused_flags.h"
#include "common/base/status_macros.h"

ABSL_FLAG(std::string, preset, "",
          "What to measure, by name; --list shows the presets. Empty for the program's own.");
ABSL_FLAG(
    std::string, pair_with, "",
    "Sample this implementation in turn with each device row, instead of the preset's; --list "
    "shows what is allowed and which column the ratio goes to.");
ABSL_FLAG(std::string, count, "", "With --preset=random: the number of shapes (100), 1 to 100000.");
ABSL_FLAG(std::string, shape_family, "",
          "With --preset=random: what shapes are drawn from --seed. log_uniform: extents whose "
          "logarithm is uniform. batched: batches of smaller problems. model: those of common "
          "networks. all (what is usual): log_uniform as often as the other two together.");
ABSL_FLAG(std::string, least_flops, "",
          "With --preset=random: no shapes of fewer operations than this, such as 2e9.");
ABSL_FLAG(
    std::string, worst, "",
    "With --preset=random: the number of the slowest shapes (10) that are shown, and at which "
    "all kernels are measured that the call chooses among. 0 to 1000.");

namespace stridewise {
namespace {

// Returns the peer that --pair_with, the preset or the operation names; null for none.
absl::StatusOr<const Peer*> PeerFor(const Operation& operation, const Preset& preset) {
  const std::string flag = absl::GetFlag(FLAGS_pair_with);
  if (flag.empty()) {
    return operation.FindPeer(preset.pair_with.empty() ? operation.usual_peer() : preset.pair_with);
  }
  if (const Peer* peer = operation.FindPeer(flag)) return peer;
  return RefuseValue(
      "--pair_with", flag,
      absl::StrJoin(operation.peers(), ", ", [&](std::string* out, const Peer& peer) {
        out->append(peer.implementation);
        if (peer.otherwise == nullptr || flag != peer.otherwise) return;
        absl::StrAppend(out, " (with ", flag, " where that takes no such product)");
      }));
}

// Returns what the random shapes are judged by: the call that chooses a kernel or, where
// --implementations names a single other one, that.
RandomShapes Judged(const RandomShapes& random, const std::vector<Config>& plan) {
  RandomShapes judged = random;
  if (plan.empty()) return judged;
  const std::string& first = plan.front().implementation->name;
  const auto is_first = [&](const Config& config) { return config.implementation->name == first; };
  if (std::all_of(plan.begin(), plan.end(), is_first)) judged.chooser = first;
  return judged;
}

// Reads --worst.
absl::StatusOr<int> WorstFromFlags(bool is_random) {
  const std::string text = absl::GetFlag(FLAGS_worst);
  int worst = 10;
  if (text.empty()) return worst;
  if (!is_random) {
    return RefuseFlag("--worst", text, absl::StrCat("without --preset=", kRandomPreset));
  }
  if (absl::SimpleAtoi(text, &worst) && worst >= 0 && worst <= 1000) return worst;
  return RefuseValue("--worst", text, "0 to 1000");
}

// Returns what --gpus measures; null without the flag.
const GridRows* GridRowsAsked(const SweepProgram& program) {
  const bool asked =
      program.on_gpus != nullptr && !program.on_gpus->operation().axes().front().given().empty();
  return asked ? program.on_gpus : nullptr;
}

// Refuses the flags of axes that `other` has and `operation` has not.
absl::Status RefuseAxesOf(const Operation& other, const Operation& operation,
                          absl::string_view why) {
  const auto has = [&](const Axis& axis) {
    return std::any_of(operation.axes().begin(), operation.axes().end(),
                       [&](const Axis& own) { return absl::string_view(own.flag) == axis.flag; });
  };
  for (const Axis& axis : other.axes()) {
    if (has(axis) || axis.given().empty()) continue;
    return RefuseFlag(absl::StrCat("--", axis.flag), axis.given(), why);
  }
  return absl::OkStatus();
}

// Refuses flags that --gpus, or its absence, gives no meaning.
absl::Status RefuseForGpus(const Operation& on_one_gpu, const SweepProgram& program,
                           const SweepRequest& request) {
  if (request.grid_rows == nullptr) {
    if (program.on_gpus == nullptr) return absl::OkStatus();
    return RefuseAxesOf(program.on_gpus->operation(), on_one_gpu, "without --gpus");
  }
  RETURN_IF_ERROR(RefuseAxesOf(on_one_gpu, *request.operation, "with --gpus"));
  for (const auto* names : {&request.options.counters, &request.options.host_counters}) {
    if (names->empty()) continue;
    return RefuseFlag("--counters", absl::StrJoin(*names, ","), "with --gpus");
  }
  return absl::OkStatus();
}

// Plans what the flags and the preset name.
absl::StatusOr<std::vector<Config>> PlanAsked(const SweepProgram& program,
                                              const SweepRequest& request, PlanFlags flags) {
  flags.seed = request.options.seed;
  flags.count = absl::GetFlag(FLAGS_count);
  flags.shape_family = absl::GetFlag(FLAGS_shape_family);
  flags.least_flops = absl::GetFlag(FLAGS_least_flops);
  if (flags.implementations.empty()) flags.implementations = program.implementations;
  return MakePlan(*request.operation, request.preset, flags);
}

}  // namespace

bool SweepRequest::has_limits() const {
  return std::any_of(operation->limits().begin(), operation->limits().end(),
                     [&](const Limit& limit) { return preset.name == limit.preset; });
}

absl::StatusOr<SweepRequest> ReadSweepRequest(const Operation& on_one_gpu,
                                              const SweepProgram& program) {
  SweepRequest request;
  request.grid_rows = GridRowsAsked(program);
  request.operation = request.grid_rows == nullptr ? &on_one_gpu : &request.grid_rows->operation();
  const Operation& operation = *request.operation;
  ASSIGN_OR_RETURN(request.options, SweepOptionsFromFlags(absl::StrCat(program.name, ".csv")));
  RETURN_IF_ERROR(RefuseForGpus(on_one_gpu, program, request));

  const std::string preset = absl::GetFlag(FLAGS_preset);
  const std::string usual = request.grid_rows == nullptr ? program.preset : kGridPreset;
  ASSIGN_OR_RETURN(request.preset, FindPreset(operation, preset.empty() ? usual : preset));
  ASSIGN_OR_RETURN(const PlanFlags flags, PlanFlagsFor(operation));
  if (request.options.list && preset.empty() && !NameShapes(operation, flags)) {
    request.listing =
        ListText(operation, program.on_gpus == nullptr ? nullptr : &program.on_gpus->operation());
    return request;
  }
  request.options.shard = flags.shard;
  ASSIGN_OR_RETURN(request.plan, PlanAsked(program, request, flags));
  if (request.options.list) {
    request.listing = PlanText(request.plan);
    return request;
  }

  ASSIGN_OR_RETURN(request.peer, PeerFor(operation, request.preset));
  if (request.is_random()) request.judged = Judged(*request.preset.random, request.plan);
  ASSIGN_OR_RETURN(request.worst, WorstFromFlags(request.is_random()));
  return request;
}

}  // namespace stridewise
