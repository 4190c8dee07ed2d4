// The counts that the GPU's counters and the host executor both have of a kernel, and how they
// compare: what the executor predicts, the GPU must have done.

#ifndef STRIDEWISE_BENCHMARKS_PROFILE_KERNEL_COUNTS_H_
#define STRIDEWISE_BENCHMARKS_PROFILE_KERNEL_COUNTS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "benchmarks/profile/ncu_output.h"
#include "common/executor/profile.h"

namespace stridewise {

enum class Counter {
  kGlobalLoadRequests,
  kGlobalStoreRequests,
  kGlobalLoadSectors,
  kGlobalStoreSectors,
  kSharedLoadRequests,
  kSharedStoreRequests,
  kSharedLoadWavefronts,
  kSharedStoreWavefronts,
};
inline constexpr int kNumCounters = 8;

absl::string_view CounterName(Counter counter);  // "global_load_requests" and so on.

// One value a counter; nothing where it is not known.
using KernelCounts = std::array<std::optional<uint64_t>, kNumCounters>;

KernelCounts PredictedCounts(const executor::Profile& profile);
KernelCounts MeasuredCounts(absl::Span<const NcuLaunch> launches);

enum class Agreement {
  kUnknown,    // One of the two is missing.
  kSame,       // Equal.
  kExplained,  // They differ and may.
  kDifferent,  // They differ and must not.
};

// A configuration's two sets of counts.
struct CountComparison {
  std::string implementation;
  KernelCounts predicted;
  KernelCounts measured;

  // Shared requests may differ for any kernel: the GPU also counts instructions whose lanes are all
  // off, and its compiler merges neighbouring loads into wider ones.
  Agreement Of(Counter counter) const;

  // Why counts of this kernel may differ; empty where they may not.
  absl::string_view Explanation() const;

  // DataLoss, with the counters and their values, if any is kDifferent.
  absl::Status ToStatus() const;
};

}  // namespace stridewise

#endif  // STRIDEWISE_BENCHMARKS_PROFILE_KERNEL_COUNTS_H_
