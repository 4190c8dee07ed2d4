#include "benchmarks/profile/kernel_counts.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "benchmarks/profile/ncu_metrics.h"
#include "common/executor/trace.h"

namespace stridewise {
namespace {

using executor::EventKind;
using executor::MemoryCounters;

struct CounterSource {
  absl::string_view name;
  const char* ncu;
  EventKind kind;
  uint64_t MemoryCounters::*predicted;
  bool judged;
};

// In the order of Counter.
constexpr CounterSource kSources[kNumCounters] = {
    {"global_load_requests", kNcuGlobalLoadRequests, EventKind::kGlobalLoad,
     &MemoryCounters::requests, true},
    {"global_store_requests", kNcuGlobalStoreRequests, EventKind::kGlobalStore,
     &MemoryCounters::requests, true},
    {"global_load_sectors", kNcuGlobalLoadSectors, EventKind::kGlobalLoad, &MemoryCounters::sectors,
     true},
    {"global_store_sectors", kNcuGlobalStoreSectors, EventKind::kGlobalStore,
     &MemoryCounters::sectors, true},
    {"shared_load_requests", kNcuSharedLoadRequests, EventKind::kSharedLoad,
     &MemoryCounters::requests, false},
    {"shared_store_requests", kNcuSharedStoreRequests, EventKind::kSharedStore,
     &MemoryCounters::requests, false},
    {"shared_load_wavefronts", kNcuSharedLoadWavefronts, EventKind::kSharedLoad,
     &MemoryCounters::wavefronts, true},
    {"shared_store_wavefronts", kNcuSharedStoreWavefronts, EventKind::kSharedStore,
     &MemoryCounters::wavefronts, true},
};

const CounterSource& SourceOf(Counter counter) { return kSources[static_cast<int>(counter)]; }

// Kernels of which the compiler's output is known not to be what the source says.
struct KnownDifference {
  absl::string_view implementation;
  Counter counter;
  absl::string_view reason;
};

constexpr absl::string_view kMergedLoads =
    "ptxas merges neighbouring loads of a_tile into one of 16 bytes";

constexpr KnownDifference kKnownDifferences[] = {
    {"tiled", Counter::kSharedLoadWavefronts, kMergedLoads},
    {"tiled_multiply_add", Counter::kSharedLoadWavefronts, kMergedLoads},
    {"tile_width_8", Counter::kSharedLoadWavefronts, kMergedLoads},
    {"tile_width_16", Counter::kSharedLoadWavefronts, kMergedLoads},
};

const KnownDifference* FindKnown(absl::string_view implementation) {
  const auto* found =
      std::find_if(std::begin(kKnownDifferences), std::end(kKnownDifferences),
                   [&](const auto& known) { return known.implementation == implementation; });
  return found == std::end(kKnownDifferences) ? nullptr : found;
}

}  // namespace

absl::string_view CounterName(Counter counter) { return SourceOf(counter).name; }

KernelCounts PredictedCounts(const executor::Profile& profile) {
  KernelCounts counts;
  for (int i = 0; i < kNumCounters; ++i) {
    counts[i] = profile.Total(kSources[i].kind).*kSources[i].predicted;
  }
  return counts;
}

KernelCounts MeasuredCounts(absl::Span<const NcuLaunch> launches) {
  KernelCounts counts;
  for (int i = 0; i < kNumCounters; ++i) {
    const std::optional<double> sum = NcuSum(launches, kSources[i].ncu);
    if (sum.has_value()) counts[i] = static_cast<uint64_t>(*sum);
  }
  return counts;
}

Agreement CountComparison::Of(Counter counter) const {
  const std::optional<uint64_t>& p = predicted[static_cast<int>(counter)];
  const std::optional<uint64_t>& m = measured[static_cast<int>(counter)];
  if (!p.has_value() || !m.has_value()) return Agreement::kUnknown;
  if (*p == *m) return Agreement::kSame;
  const KnownDifference* known = FindKnown(implementation);
  const bool may = !SourceOf(counter).judged || (known != nullptr && known->counter == counter);
  return may ? Agreement::kExplained : Agreement::kDifferent;
}

absl::string_view CountComparison::Explanation() const {
  const KnownDifference* known = FindKnown(implementation);
  return known == nullptr ? "" : known->reason;
}

absl::Status CountComparison::ToStatus() const {
  std::string text;
  for (int i = 0; i < kNumCounters; ++i) {
    if (Of(static_cast<Counter>(i)) != Agreement::kDifferent) continue;
    absl::StrAppend(&text, text.empty() ? "" : "; ", kSources[i].name, ": predicted ",
                    *predicted[i], ", measured ", *measured[i]);
  }
  return text.empty() ? absl::OkStatus() : absl::DataLossError(text);
}

}  // namespace stridewise
