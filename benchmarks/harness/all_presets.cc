#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "benchmarks/harness/plan.h"
#include "benchmarks/harness/random_shapes.h"
#include "common/base/refused_flags.h"

namespace stridewise {
namespace {

// Returns what a preset of limits compares, in a line.
std::string LimitsDescription(const Operation& operation, absl::string_view preset) {
  std::vector<absl::string_view> cases, peers;
  const auto add = [](absl::string_view name, std::vector<absl::string_view>* names) {
    if (std::find(names->begin(), names->end(), name) == names->end()) names->push_back(name);
  };
  for (const Limit& limit : operation.limits()) {
    if (preset != limit.preset) continue;
    add(limit.name, &cases);
    for (const Floor& floor : limit.floors) add(floor.peer, &peers);
  }
  return absl::StrCat("limits that the fastest kernels keep beside ", absl::StrJoin(peers, ", "),
                      " (", absl::StrJoin(cases, "; "), "); ends with a table of pass and FAIL");
}

// Returns whether rows that ask for `pair` are paired with that implementation: its twin on one
// core, or the peer that stands in for it.
bool IsPairedToo(const Operation& operation, const Peer& pair, absl::string_view name) {
  if (pair.on_one_core != nullptr && name == pair.on_one_core) return true;
  return pair.otherwise != nullptr && name == pair.otherwise && operation.FindPeer(name) != nullptr;
}

// Measures both sides of each limit of that preset: the peer with which rows are paired is in the
// other rows.
Preset LimitsPreset(const Operation& operation, const char* name) {
  Preset preset;
  preset.name = name;
  preset.description = LimitsDescription(operation, name);
  for (const Limit& limit : operation.limits()) {
    if (name != absl::string_view(limit.preset)) continue;
    if (preset.pair_with.empty()) {
      const bool on_host = !operation.Find(limit.selection.implementations)->on_device();
      preset.pair_with =
          on_host ? limit.floors.front().peer : LimitsPeer(operation)->implementation;
    }
    preset.selections.push_back(limit.selection);
    const Peer* const pair = operation.FindPeer(preset.pair_with);
    for (const Floor& floor : limit.floors) {
      if (floor.peer == preset.pair_with || floor.peer == kPeakPeer) continue;
      if (pair != nullptr && IsPairedToo(operation, *pair, floor.peer)) continue;
      absl::StrAppend(&preset.selections.back().implementations, ",", floor.peer);
    }
  }
  return preset;
}

// Has all kernels that the chooser may take at each shape; the usual sweep measures the chooser and
// its rivals.
Preset RandomPreset(const char* name, const RandomShapes& random) {
  Preset preset;
  preset.name = name;
  preset.random = &random;
  preset.description = absl::StrCat("shapes that nobody chose, --count of them: ", random.chooser,
                                    " beside ", random.Peers(), "; ends with the distribution");
  preset.pair_with = random.peer;
  std::vector<std::string> names = random.rivals;
  names.insert(names.begin(), random.chooser);
  preset.usual_implementations = absl::StrJoin(names, ",");
  for (const std::vector<std::string>* more : {&random.kernels, &random.onlookers}) {
    names.insert(names.end(), more->begin(), more->end());
  }
  preset.selections.push_back(Selection(absl::StrJoin(names, ",")).DrawnFrom(random));
  return preset;
}

}  // namespace

const Peer* LimitsPeer(const Operation& operation) {
  if (operation.limits().empty()) return nullptr;
  const absl::string_view usual = operation.usual_peer();
  return operation.FindPeer(usual.empty() ? operation.limits().front().floors.front().peer : usual);
}

std::vector<Preset> AllPresets(const Operation& operation) {
  std::vector<Preset> presets(operation.presets().begin(), operation.presets().end());
  for (const Limit& limit : operation.limits()) {
    const auto has_name = [&](const Preset& preset) { return preset.name == limit.preset; };
    if (std::none_of(presets.begin(), presets.end(), has_name)) {
      presets.push_back(LimitsPreset(operation, limit.preset));
    }
  }
  const RandomShapes& random = operation.random_shapes();
  if (!random.families.empty()) presets.push_back(RandomPreset(kRandomPreset, random));
  const RandomShapes& on_host = operation.host_random_shapes();
  if (!on_host.families.empty()) presets.push_back(RandomPreset(kHostRandomPreset, on_host));
  return presets;
}

absl::StatusOr<Preset> FindPreset(const Operation& operation, absl::string_view name) {
  std::vector<std::string> names;
  for (Preset& preset : AllPresets(operation)) {
    if (preset.name == name) return std::move(preset);
    names.push_back(preset.name);
  }
  return RefuseValue("--preset", name, absl::StrJoin(names, ", "));
}

}  // namespace stridewise
